"""Logs in any encoding."""

import pytest

from fitdoctor.failure.raw_text import clean_text, read_text_any, without_prefix

LOG = (
    'Traceback (most recent call last):\n  File "train.py", line 1, in <module>\nValueError: naïve – größe\n'
)


@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "cp1252"]
)
def test_any_encoding_is_read(encoding):
    assert "größe" in read_text_any(LOG.encode(encoding))


def test_a_file_is_read_by_its_path(tmp_path):
    path = tmp_path / "log.txt"
    path.write_bytes(LOG.encode())
    assert read_text_any(path) == LOG
    assert read_text_any(str(path)) == LOG


def test_a_log_cut_in_the_middle_of_a_character_is_read():
    cut = ("ü" * 50).encode()[:-1]
    assert read_text_any(cut).startswith("ü" * 49)


@pytest.mark.parametrize(
    "raw", [bytes(range(256)) * 20, b"\x89PNG\r\n\x1a\n" + b"\0\x01\x02" * 50, b"\x1f\x8b\x08" + bytes(200)]
)
def test_binary_is_refused_clearly(raw):
    with pytest.raises(ValueError, match="not text"):
        read_text_any(raw)


def test_nothing_is_text_too():
    assert read_text_any(b"") == ""


def test_progress_bars_become_lines():
    text = "1/3 [>..]\r2/3 [=>.]\r\nnext\x08\x08\x08done\x1b[1mbold\x1b[0m"
    assert clean_text(text) == "1/3 [>..]\n2/3 [=>.]\nnext\ndonebold"


def test_a_repeated_prefix_is_cut_and_a_single_one_is_not_looked_for():
    stamped = ["10:00:01.5 | Traceback", "10:00:02.75 |   File", "10:00:02.9 |", "other"]
    assert without_prefix(stamped, "10:00:01.5 | ") == ["Traceback", "  File", "", "other"]
    glued = ["3/3 ━━ 0s/stepTraceback", "  File"]
    assert without_prefix(glued, "3/3 ━━ 0s/step") == ["Traceback", "  File"]

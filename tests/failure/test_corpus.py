"""Every recorded failure of the corpus: type, message and the user's last line are read from its text."""

import json
from pathlib import Path

import pytest

from fitdoctor.failure.messages import read_message
from fitdoctor.failure.text import failures_in, read_text_any

CORPUS = Path(__file__).parent.parent / "corpus"
TRACEBACKS = sorted((CORPUS / "tracebacks").glob("*.txt"))
PREFIXES = ("2024-05-01T12:00:00.1234567Z ", "trainer_1  | ", "\x1b[36m(pid=77)\x1b[0m ")


def failure_in(text):
    failures = [failure for failure in failures_in(text) if not failure.type.endswith("Warning")]
    assert len(failures) == 1, [failure.type for failure in failures]
    return failures[0]


def manifest_of(path):
    manifest = CORPUS / "manifest" / f"{path.stem}.json"
    return json.loads(manifest.read_text(encoding="utf-8")) if manifest.is_file() else {}


FAMILIES = sorted({path.stem[:4] for path in TRACEBACKS})


@pytest.mark.parametrize("family", FAMILIES)
def test_type_message_and_last_line(family):
    wrong = {}
    for path in TRACEBACKS:
        if path.stem.startswith(family):
            try:
                is_read_whole(path)
            except AssertionError as error:
                wrong[path.stem] = str(error)
    assert not wrong


def is_read_whole(path):
    failure = failure_in(read_text_any(path))
    manifest = manifest_of(path)
    raised = manifest.get("raises")
    if raised:
        assert failure.type in ([raised] if isinstance(raised, str) else raised)
    if manifest.get("message"):
        # The manifest keeps the start of the raw message, of another run: numbers and addresses differ.
        said = read_message(manifest["message"], here=False)
        assert said.text[:20] in failure.raw_message or said.text[:20] in failure.message
    last = failure.last_user_frame
    assert last is not None
    assert last.path.endswith(f"{path.stem}.py")
    source = (CORPUS / "failing" / f"{path.stem}.py").read_text(encoding="utf-8").split("\n")
    assert source[last.line - 1].strip() == last.text, (
        "was the program edited after its failure was recorded?"
    )
    assert "\x1b" not in failure.message
    assert "Exception encountered when calling" not in failure.message
    assert "in user code:" not in failure.message


@pytest.mark.parametrize("prefix", PREFIXES)
def test_a_prefix_before_each_line_changes_nothing(prefix):
    for path in TRACEBACKS[::7]:
        lines = read_text_any(path).rstrip("\n").split("\n")
        plain = failure_in("\n".join(lines))
        prefixed = failure_in("\n".join(prefix + line for line in lines))
        assert (prefixed.type, prefixed.message, prefixed.frames) == (
            plain.type,
            plain.message,
            plain.frames,
        ), path.stem

"""What people see at a terminal: how much `lint` prints, where formats go, when there is colour and a progress bar."""

from __future__ import annotations

import io
import json
import os
import pty
import re
import subprocess
import sys
import threading
import time

import pytest

from fitdoctor.cli import COMMANDS
from fitdoctor.cli.lint_progress import progress
from fitdoctor.report.paint import cells, plain, remark, table, terminal_width, wants_color

CODES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b\][^\x1b]*\x1b\\")


class Terminal(io.StringIO):
    def isatty(self):
        return True


def write(path, text):
    path.write_text(text, "utf-8")
    return path


# --- lint ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("count", "full"), [(1, 1), (2, 2), (10, 10), (11, 0), (40, 0)])
def test_up_to_ten_findings_are_shown_in_full_and_more_take_a_line_each(run, project, count, full):
    write(project / "a.py", "x = BAD\n" * count)
    shown = run("lint", "a.py").out
    assert shown.count(" --> a.py:") == full
    assert shown.count("error[FIT501] a.py:") == count - full
    assert ("use `--verbose` to see each in full" in " ".join(shown.split())) is (full < count)
    assert run("lint", "-v", "a.py").out.count("--> a.py:") == count


def test_lint_says_how_many_findings_it_can_fix(run, project):
    write(project / "a.py", "x = BAD\ny = BAD\n")
    assert run("lint", "a.py").out.endswith("\n\n2 errors; 2 of 2 can be fixed with `--fix`\n")
    write(project / "a.py", "x = BAD\n")
    assert run("lint", "a.py").out.endswith("\n\n1 error; it can be fixed with `--fix`\n")
    assert run("lint", "--diff", "a.py").err == "1 of 1 finding can be fixed with `--fix`\n"


def test_clean_files_get_one_line_with_their_number(run, project):
    for name in ("a.py", "b.py"):
        write(project / name, "x = 1\n")
    assert run("lint").out == run("lint").out == "no problems found (2 files)\n"
    assert run("lint", "a.py", "-v").out == "no problems found (1 file)\n"
    assert run("lint", "--statistics").out == "no problems found (2 files)\n"
    assert run("lint", "--output-format", "concise").out == ""


def test_known_findings_are_not_called_no_problems(run, project):
    write(project / "a.py", "x = BAD\n")
    saved = run("lint", "--baseline", "known.json", "--write-baseline")
    assert saved.err == "saved 1 finding to known.json\n"
    assert run("lint", "--baseline", "known.json").out == "no new problems found (1 file)\n"


def test_statistics_are_json_when_that_is_asked_for(run, project):
    write(project / "a.py", "x = BAD\ny = BAD\n")
    found = run("lint", "--statistics", "--output-format", "json")
    assert found.json == [{"id": "FIT501", "slug": "variable-made-in-function", "count": 2}]
    assert run("lint", "--statistics", "--output-format", "sarif").status == 2


@pytest.mark.parametrize("width", [60, 80, 120, 200])
def test_every_line_of_lint_fits_the_terminal(run, project, monkeypatch, width):
    monkeypatch.setenv("COLUMNS", str(width))
    code = f"values = [{', '.join(f'name_{number}' for number in range(60))}, BAD]\n"
    for count in (3, 12):
        write(project / "a.py", code * count)
        shown = run("lint", "a.py").out
        assert max(map(cells, shown.split("\n"))) <= width


# --- where it goes -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("fmt", ["json", "sarif", "github", "concise"])
def test_machine_formats_of_lint_and_explain_are_all_there_is_on_standard_output(run, project, fmt):
    write(project / "a.py", "x = BAD\n")
    write(project / "train.log", "Traceback (most recent call last):\nKeyError: 'accuracy'\n")
    for words in (("lint", "a.py"), ("explain", "train.log")):
        done = run(*words, "--output-format", fmt)
        assert done.err == ""
        assert "can be fixed" not in done.out
        if fmt in ("json", "sarif"):
            assert isinstance(done.json, dict)


def test_a_report_can_go_to_standard_output_or_a_descriptor_by_name(run, project):
    write(project / "a.py", "x = BAD\n")
    assert json.loads(run("lint", "a.py", "--output-format", "json", "--output-file", "-").out)["findings"]
    reader, writer = os.pipe()
    done = run("lint", "a.py", "--output-format", "json", "--output-file", f"/dev/fd/{writer}")
    os.close(writer)
    with open(reader) as pipe:
        assert json.loads(pipe.read())["findings"] and not done.out


# --- colour and width ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "terminal", "expected"),
    [
        ({}, True, True),
        ({}, False, False),
        ({"NO_COLOR": "1"}, True, False),
        ({"NO_COLOR": ""}, True, True),
        ({"FORCE_COLOR": "1"}, False, True),
        ({"FORCE_COLOR": "0"}, False, False),
        ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, True, False),
        ({"TERM": "dumb"}, True, False),
        ({"TERM": "dumb", "FORCE_COLOR": "1"}, True, True),
    ],
)
def test_colour_is_for_terminals_that_were_not_told_otherwise(monkeypatch, settings, terminal, expected):
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    for name, value in {"TERM": "xterm", **settings}.items():
        monkeypatch.setenv(name, value)
    assert wants_color("auto", Terminal() if terminal else io.StringIO()) is expected
    assert wants_color("auto", None) is False
    assert wants_color("always", None) and not wants_color("never", Terminal())


def test_a_stream_that_is_none_of_python_s_is_not_asked_for_its_width(monkeypatch):
    monkeypatch.delenv("COLUMNS", raising=False)
    assert terminal_width(object()) == terminal_width(io.StringIO()) == terminal_width(Terminal()) == 100


@pytest.mark.parametrize("width", [30, 60, 80, 120])
def test_a_table_wraps_between_words_or_gives_up(width):
    rows = [
        [[("name", "")], [("what it is", "")]],
        [[("`validation_data[0]`", "name")], [("a rather long sentence about the data", "")]],
    ]
    lines = table(rows, width)
    assert lines is not None and max(cells(plain(line)) for line in lines) <= width
    assert " ".join(" ".join(map(plain, lines)).split()).count("sentence") == 1
    assert table(rows, 20) is None


# --- progress ------------------------------------------------------------------------------------------------------


def test_a_bar_appears_after_a_second_and_leaves_nothing(monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    monkeypatch.setattr("fitdoctor.cli.lint_progress._PATIENCE", 0.05)
    monkeypatch.setenv("TERM", "xterm-256color")
    with progress("checking 3 files", 3, lambda: 1):
        for _ in range(100):
            if "33%" in terminal.getvalue():
                break
            time.sleep(0.05)
    assert "checking 3 files" in terminal.getvalue()
    assert terminal.getvalue().endswith("\x1b[2K")  # the line is cleared
    assert not any(thread.name.endswith("(_draw)") for thread in threading.enumerate())


@pytest.mark.parametrize("stream", [Terminal(), io.StringIO()])
def test_no_bar_for_quick_work_or_without_a_terminal(monkeypatch, stream):
    monkeypatch.setattr("sys.stderr", stream)
    monkeypatch.setattr("fitdoctor.cli.lint_progress._PATIENCE", 1.0 if stream.isatty() else 0.0)
    with progress("checking", 3, lambda: 1):
        time.sleep(0.02)
    assert stream.getvalue() == ""


def test_at_a_real_terminal_the_text_is_the_same_with_colours_and_links(tmp_path):
    write(tmp_path / "a.py", "import keras\nmodel = keras.Sequential()\nmodel.fit(1, 2)\n")
    command = [sys.executable, "-m", "fitdoctor", "lint", "a.py"]
    settings = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "FORCE_COLOR")}
    settings |= {"COLUMNS": "80", "TERM": "xterm-256color", "XDG_CACHE_HOME": str(tmp_path / "cache")}
    piped = subprocess.run(command, cwd=tmp_path, env=settings, capture_output=True, text=True, check=False)
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        command, cwd=tmp_path, env=settings, stdout=theirs, stderr=subprocess.DEVNULL
    ) as process:
        os.close(theirs)
        shown = b""
        while True:
            try:
                read = os.read(ours, 65536)
            except OSError:
                break
            if not read:
                break
            shown += read
        process.wait(timeout=60)
    os.close(ours)
    text = shown.decode().replace("\r\n", "\n")
    assert "error[FIT" in piped.stdout and "\x1b" not in piped.stdout
    assert f"file://{tmp_path}/a.py#" in text
    assert CODES.sub("", text) == piped.stdout


def test_lines_of_our_own_are_wrapped_at_a_terminal_and_steer_none(monkeypatch):
    text = "checked 2 fits against 126 causes, no problems found (0.3 s)"
    assert remark(text, io.StringIO()) == f"fitdoctor: {text}\n"
    monkeypatch.setenv("COLUMNS", "40")
    lines = remark(text, Terminal()).splitlines()
    assert max(map(len, lines)) <= 40 and " ".join(" ".join(lines).split()) == f"fitdoctor: {text}"
    assert "\x1b" not in remark("cannot read `\x1b[2J`", Terminal())


def test_a_hostile_file_name_does_not_reach_the_terminal(run, project):
    write(project / "a\x1b[2J.py", "x = (\n")
    done = run("lint")
    assert done.status == 2 and "a\\x1b[2J.py:" in done.err and "\x1b" not in done.err
    assert "\x1b" not in run("lint", "no\x1b[2J.py").err


@pytest.mark.parametrize("width", [60, 80, 120])
@pytest.mark.parametrize("command", sorted(set(COMMANDS) - {"completion"}))
def test_every_help_text_fits_the_terminal(run, monkeypatch, command, width):
    monkeypatch.setenv("COLUMNS", str(width))
    assert max(map(len, run(command, "--help").out.splitlines())) <= width

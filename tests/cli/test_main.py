"""The command line as a whole: dispatch, complaints, our own crashes."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from fitdoctor import __version__
from fitdoctor.cli import COMMANDS, options
from fitdoctor.cli.options import WRITING


def test_help_lists_the_commands(run):
    done = run("--help")
    assert done.status == 0
    assert all(command in done.out for command in COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_its_help(run, command):
    done = run(command, "--help")
    assert done.status == 0
    assert f"fitdoctor {command}" in done.out


def test_without_a_command_it_shows_the_help(run):
    assert run().status == 2


def test_the_version(run):
    assert run("--version").out == f"fitdoctor {__version__}\n"


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["explian"], "unknown command `explian`: did you mean `explain`?"),
        (["src"], "`src` is a folder: did you mean `fitdoctor lint src`?"),
        (["help", "lnit"], "did you mean `lint`?"),
        (["--smok"], "unknown option `--smok`"),
        (["--verison"], "unknown option `--verison`: did you mean `--version`?"),
        (["xyz"], "choose one of run, lint"),
        (["lint", "--selct", "FIT2"], "did you mean `--select`?"),
        (["lint", "--output-format", "yaml"], "invalid choice: 'yaml'"),
        (["report"], "required: FILE"),
    ],
)
def test_a_wrong_word_is_one_line_and_status_2(run, tmp_path, monkeypatch, words, complaint):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "src").mkdir()
    done = run(*words)
    assert done.status == 2
    assert complaint in done.err
    assert done.err.count("\n") == 1 and "Traceback" not in done.err


@pytest.mark.parametrize(
    "words",
    [["train.py"], ["train.py", "--epochs", "3"], ["--smoke", "train.py"], ["-m", "train"], ["trainer"]],
)
def test_a_program_without_a_command_is_run(run, monkeypatch, tmp_path, words):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "trainer").write_text("print(1)\n", "utf-8")
    seen = []
    monkeypatch.setattr("fitdoctor.cli.run.main", lambda argv: seen.append(argv) or 0)
    assert run(*words).status == 0
    assert seen == [words]


def test_help_for_a_command_is_its_help(run):
    assert run("help", "lint").out == run("lint", "--help").out


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_knows_commands_and_options(run, shell):
    done = run("completion", shell)
    assert done.status == 0
    for word in ("explain", "show-settings", "smoke", "unsafe"):
        assert word in done.out


def test_completion_answers_in_a_real_bash(run, tmp_path):
    script = tmp_path / "complete"
    script.write_text(run("completion", "bash").out, "utf-8")
    asked = (
        f"source {script}; COMP_WORDS=(fitdoctor lint --show-); COMP_CWORD=2; "
        "$(complete -p fitdoctor | sed 's/.*-F \\([^ ]*\\).*/\\1/') fitdoctor; echo ${COMPREPLY[*]}"
    )
    done = subprocess.run(["bash", "-c", asked], capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["--show-settings", "--show-files"]


@pytest.mark.parametrize(
    "command", ["lint", "fix", "run", "memory", "scan", "env", "explain", "report", "demo"]
)
@pytest.mark.parametrize(
    "word", ["--conifg", "--fi", "--fixx", "--wirte", "--writ", "--write-basline", "--sav"]
)
def test_no_suggestion_writes_files_and_no_beginning_of_an_option_counts(
    run, command, word, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    done = run(command, word, "train.py")
    assert done.status == 2
    suggested = re.search("did you mean `(.*)`", done.err)
    assert suggested is None or suggested[1] not in WRITING


def test_options_that_write_are_known_as_such():
    for command in ("lint", "fix", "run", "memory", "scan", "report"):
        text = (Path(options.__file__).parent / f"{command}.py").read_text("utf-8")
        for name, about in re.findall(
            r'"(--[a-z-]+)"[^()]*?"?help"?[=:] *\(?\s*"((?:write|save|keep) [^"]*)"', text
        ):
            assert name in WRITING, f"{command} {name}: {about}"


def test_our_own_crash_is_a_short_message_with_versions_and_a_log(run, monkeypatch, tmp_path):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)

    def broken(argv):
        raise KeyError("secret of ours")

    monkeypatch.setattr("fitdoctor.cli.report.main", broken)
    done = run("report", "x")
    assert done.status == 2
    assert "Traceback" not in done.err
    assert f"fitdoctor {__version__}" in done.err and "Python 3" in done.err
    log = Path(re.search(r"log: (\S+)", done.err).group(1))
    assert log.parent == tmp_path
    assert "Traceback" in log.read_text("utf-8") and "secret of ours" in log.read_text("utf-8")


def test_a_log_that_cannot_be_written_is_no_second_crash(run, monkeypatch, tmp_path):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "gone"))
    monkeypatch.setattr("fitdoctor.cli.report.main", lambda argv: 1 // 0)
    done = run("report", "x")
    assert done.status == 2 and "the log could not be written" in done.err


def test_an_interrupt_is_no_crash(run, monkeypatch):
    def interrupted(argv):
        raise KeyboardInterrupt

    monkeypatch.setattr("fitdoctor.cli.report.main", interrupted)
    assert run("report", "x").status == 130


def test_a_reader_that_goes_away_is_no_crash():
    command = f"{sys.executable} -m fitdoctor explain --list | head -1"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
    assert done.stderr == ""


def test_a_terminal_without_the_characters_still_gets_the_report(tmp_path):
    script = tmp_path / "größe.py"
    script.write_text("x = (\n", "utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "fitdoctor", "lint", script.name],
        capture_output=True,
        check=False,
        cwd=tmp_path,
        env={"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"},
    )
    assert done.returncode == 2 and b"\\xf6" in done.stderr and b"Traceback" not in done.stderr

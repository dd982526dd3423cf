"""The parent of `run` outlives the program, passes signals on, and says what it saw."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from fitdoctor.diagnose import examine_failure
from fitdoctor.facts import FailureFacts
from fitdoctor.runner import death
from fitdoctor.runner.joining import JOINING
from fitdoctor.runner.session import NOW
from fitdoctor.runner.supervise import _passing_signals_to, interpreter_options
from tests.runner.programs import doctored, environment

WAITS = """
import signal, sys, time
count = 0
try:
    print("ready", flush=True)
    time.sleep(30)
except KeyboardInterrupt:
    print("interrupted", flush=True)
    try:
        time.sleep(0.5)
    except KeyboardInterrupt:
        print("interrupted twice", flush=True)
    sys.exit(3)
"""


def started(folder: Path, script: str, **options: object) -> subprocess.Popen[str]:
    (folder / "program.py").write_text(script)
    return subprocess.Popen(
        [sys.executable, "-m", "fitdoctor", "run", "program.py"],
        cwd=folder,
        text=True,
        env=environment(folder),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        **options,  # type: ignore[call-overload]
    )


def test_an_interrupt_that_only_the_parent_gets_reaches_the_program_once(tmp_path: Path) -> None:
    process = started(tmp_path, WAITS, start_new_session=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=30)
    assert output == "interrupted\n"
    assert process.returncode == 3
    assert "Traceback" not in errors


def test_ctrl_c_in_a_terminal_reaches_the_program_once(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(WAITS)
    child, terminal = pty.fork()
    if child == 0:
        os.chdir(tmp_path)
        words = [sys.executable, "-m", "fitdoctor", "run", "program.py"]
        os.execve(sys.executable, words, environment(tmp_path))
    seen = _read_until(terminal, b"ready")
    os.write(terminal, b"\x03")
    seen += _read_until(terminal, b"\n" * 99)
    _, status = os.waitpid(child, 0)
    assert b"interrupted" in seen
    assert b"interrupted twice" not in seen
    assert os.waitstatus_to_exitcode(status) == 3


def _read_until(terminal: int, word: bytes) -> bytes:
    seen = b""
    while word not in seen:
        try:
            piece = os.read(terminal, 4096)
        except OSError:
            break
        if not piece:
            break
        seen += piece
    return seen


def test_the_program_sees_the_terminal(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(
        "import sys\nprint([s.isatty() for s in (sys.stdin, sys.stdout, sys.stderr)])\n"
    )
    child, terminal = pty.fork()
    if child == 0:
        os.chdir(tmp_path)
        words = [sys.executable, "-m", "fitdoctor", "run", "program.py"]
        os.execve(sys.executable, words, environment(tmp_path))
    assert b"[True, True, True]" in _read_until(terminal, b"\n" * 99)
    os.waitpid(child, 0)


def test_a_polite_end_is_passed_on(tmp_path: Path) -> None:
    process = started(tmp_path, WAITS)
    assert process.stdout is not None
    process.stdout.readline()
    process.terminate()
    _, errors = process.communicate(timeout=30)
    assert process.returncode == 128 + signal.SIGTERM
    assert errors == ""


@pytest.mark.skipif(sys.platform != "linux", reason="needs PR_SET_PDEATHSIG")
def test_the_program_ends_with_a_parent_that_is_killed(tmp_path: Path) -> None:
    process = started(tmp_path, "import os, time\nprint(os.getpid(), flush=True)\ntime.sleep(60)\n")
    assert process.stdout is not None
    pid = int(process.stdout.readline())
    process.kill()
    process.communicate()
    for _ in range(100):
        if not Path(f"/proc/{pid}").exists() or "Z" in Path(f"/proc/{pid}/stat").read_text().split()[2]:
            return
        time.sleep(0.05)
    pytest.fail("the program is still running")


def test_a_killed_program_is_reported_with_what_is_known(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text("import os, signal\nos.kill(os.getpid(), signal.SIGKILL)\n")
    ended = doctored(tmp_path, "--save", "run.json", "program.py")
    assert ended.returncode == 128 + signal.SIGKILL
    assert "SIGKILL" in ended.stderr
    assert "memory" in ended.stderr
    assert '"signal": "SIGKILL"' in (tmp_path / "run.json").read_text()


def test_a_crash_in_native_code_is_placed_on_the_users_line(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(
        "import ctypes\n\ndef broken():\n    ctypes.string_at(0)\n\nbroken()\n"
    )
    ended = doctored(tmp_path, "program.py")
    assert ended.returncode == 128 + signal.SIGSEGV
    assert "SIGSEGV" in ended.stderr
    assert "program.py:4" in ended.stderr


def test_a_failure_that_no_cause_explains_is_told_as_such(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text("table = {}\nprint(table['missing'])\n")
    ended = doctored(tmp_path, "program.py")
    assert ended.returncode == 1
    assert ended.stderr.startswith("Traceback (most recent call last):")
    assert "unexplained: KeyError" in ended.stderr
    assert "program.py:2" in ended.stderr
    assert ended.stderr.endswith("fitdoctor: 1 unexplained error (program.py)\n")


def test_a_program_without_fit_gets_one_line_and_none_with_quiet(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text("print('fine')\n")
    ended = doctored(tmp_path, "program.py")
    line = "fitdoctor: no `fit` was called; no problems found in the source\n"
    assert (ended.stdout, ended.stderr, ended.returncode) == ("fine\n", line, 0)
    assert doctored(tmp_path, "-q", "program.py").stderr == ""


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "name a script to run"),
        (["missing.py"], "there is no file `missing.py`"),
        (["folder"], "`folder` is a folder"),
        (["binary.py"], "binary data"),
        (["unfinished.py"], "unfinished.py:2: not valid Python"),
        (["returns.py"], "returns.py:1: not valid Python"),
        (["notes.ipynb"], "notes.ipynb: not a notebook"),
        (["-m", "no_such_module"], "there is no module `no_such_module`"),
        (["-m", "folder.inner"], "there is no module `folder.inner`"),
        (["--smok", "missing.py"], "did you mean `--smoke`"),
        (["--ignore", "FIT999", "fine.py"], "unknown cause `FIT999`"),
        (["--output-file", "nowhere/report.txt", "fine.py"], "nowhere` does not exist"),
        (["--save", "folder", "fine.py"], "it is a folder"),
    ],
)
def test_what_cannot_start_gets_one_clear_line(words: list[str], message: str, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "fine.py").write_text("print('ran')\n")
    (tmp_path / "binary.py").write_bytes(b"\x7fELF\x00\x01")
    (tmp_path / "unfinished.py").write_text("x = 1\ny = (\n")
    (tmp_path / "returns.py").write_text("return 1\n")
    (tmp_path / "notes.ipynb").write_text("{}")
    ended = doctored(tmp_path, *words)
    assert ended.returncode == 2
    assert message in ended.stderr
    assert ended.stderr.count("\n") == 1
    assert ended.stdout == ""


def test_a_missing_tensorflow_is_told_before_the_program_starts(tmp_path: Path) -> None:
    from fitdoctor.runner.preflight import CannotStart, check_script

    (tmp_path / "program.py").write_text("print('started')\nimport tensorflow as tf\n")
    (tmp_path / "careful.py").write_text("try:\n    import tensorflow\nexcept ImportError:\n    pass\n")
    path = sys.path[:]
    sys.path[:] = [str(tmp_path)]
    try:
        with pytest.raises(CannotStart, match=r"program.py:2: `tensorflow` is not installed"):
            check_script(str(tmp_path / "program.py"))
        check_script(str(tmp_path / "careful.py"))
    finally:
        sys.path[:] = path


def test_other_formats_go_to_stderr_or_to_the_file(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text("print('out')\nraise OSError('gone')\n")
    ended = doctored(tmp_path, "--output-format", "concise", "program.py")
    assert "program.py:2: unexplained OSError gone" in ended.stderr
    ended = doctored(tmp_path, "--output-format", "json", "--output-file", "found.json", "program.py")
    assert ended.stdout == "out\n"
    assert ended.stderr.endswith("fitdoctor: 1 unexplained error (program.py)\n")
    assert "unexplained: OSError" not in ended.stderr
    assert '"exit_code": 1' in (tmp_path / "found.json").read_text()


def test_the_options_of_the_interpreter_are_told_from_ours() -> None:
    assert interpreter_options(["python", "-m", "fitdoctor", "run"]) == []
    assert interpreter_options(["python", "-X", "dev", "-O", "-m", "fitdoctor"]) == ["-X", "dev", "-O"]
    assert interpreter_options(["python", "/usr/bin/fitdoctor", "run", "-O"]) == []


def test_a_worker_that_waits_for_others_ends_when_it_is_told_to(tmp_path: Path) -> None:
    """TensorFlow holds it then, so that no signal but SIGKILL reaches it."""
    (tmp_path / NOW).write_text(json.dumps({"method": JOINING, "since": time.time()}))
    deaf = "import signal, time; signal.signal(15, signal.SIG_IGN); print(flush=True); time.sleep(30)"
    child: list[subprocess.Popen[bytes]] = []
    with _passing_signals_to(child, tmp_path) as killed_for:
        child.append(subprocess.Popen([sys.executable, "-c", deaf], stdout=subprocess.PIPE))
        assert child[0].stdout is not None and child[0].stdout.readline()
        os.kill(os.getpid(), signal.SIGTERM)
        assert child[0].wait(timeout=10) == -signal.SIGKILL
    child[0].stdout.close()
    assert killed_for == [signal.SIGTERM]


@pytest.mark.parametrize(("peak", "blamed"), [(1, False), (15, True)])
def test_a_kill_is_blamed_on_memory_only_if_the_program_held_much_of_it(
    monkeypatch: pytest.MonkeyPatch, peak: int, blamed: bool
) -> None:
    monkeypatch.setattr(death, "_peak_memory", lambda: peak * 2**30)
    monkeypatch.setattr(death, "_of_all", lambda: " of 16.0 GiB on this machine")
    monkeypatch.setattr(death, "_memory_kills", lambda: 0)
    message = death.Watch()._message("SIGKILL", {})
    found = examine_failure(FailureFacts("SIGKILL", message)).findings
    assert ("FIT806" in [finding.id for finding in found]) is blamed, message

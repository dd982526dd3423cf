"""A process that has imported TensorFlow and forks for every program: half a second a program instead of five.

TensorFlow starts its threads with the first operation, so a process that has only imported it may fork.
"""

from __future__ import annotations

import importlib
import json
import os
import signal
import subprocess
import sys
import time
import traceback
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
BOOTSTRAP = ROOT / "src/fitdoctor/runner/bootstrap.py"


@dataclass(frozen=True)
class Ended:
    """How a forked program ended."""

    status: int | None
    """The exit status; None when it was ended for time."""
    signal: int | None
    seconds: float
    stdout: str
    stderr: str
    exception: tuple[str, str] | None = None
    """Type and message of what escaped, in mode `plain`."""


class ForkServer:
    """The client's side: start it once, run many programs."""

    def __init__(self, environment: dict[str, str] | None = None) -> None:
        self._environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", **(environment or {})}
        self._environment["PYTHONPATH"] = str(ROOT / "src")
        self._process: subprocess.Popen[str] | None = None

    def run(self, script: Path, folder: Path, *, mode: str, cwd: Path, timeout: float = 60.0) -> Ended:
        """Run a program.

        Args:
            script: the program; with mode `run`, whose options already lie in `folder`, the bootstrap starts it.
            folder: an empty folder for what it writes.
            mode: `plain` or `run`.
            cwd: the working directory.
            timeout: seconds after which it is ended.
        """
        request = {
            "script": str(script),
            "folder": str(folder),
            "mode": mode,
            "cwd": str(cwd),
            "timeout": timeout,
        }
        process = self._started()
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write(json.dumps(request) + "\n")
        process.stdin.flush()
        answer = json.loads(process.stdout.readline())
        exception = folder / "exception.json"
        return Ended(
            status=answer["status"],
            signal=answer["signal"],
            seconds=answer["seconds"],
            stdout=(folder / "stdout.txt").read_text(errors="replace"),
            stderr=(folder / "stderr.txt").read_text(errors="replace"),
            exception=tuple(json.loads(exception.read_text())) if exception.exists() else None,
        )

    def _started(self) -> subprocess.Popen[str]:
        if self._process is None or self._process.poll() is not None:
            self._process = subprocess.Popen(
                [sys.executable, str(Path(__file__))],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
                env=self._environment,
            )
        return self._process

    def close(self) -> None:
        """End the server."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()  # waits, and closes the pipes


def serve() -> None:
    """The server's side: a request a line on stdin, an answer a line on stdout."""
    import keras  # noqa: F401 - imported so that the forked programs need not
    import numpy  # noqa: F401
    import pandas  # noqa: F401
    import sklearn.model_selection
    import sklearn.preprocessing  # noqa: F401
    import tensorflow as tf

    tf.keras.layers  # noqa: B018 - resolves the lazy module
    tf.data.Dataset  # noqa: B018
    _load_fitdoctor()
    for line in sys.stdin:
        request = json.loads(line)
        started = time.monotonic()
        child = os.fork()
        if child == 0:
            _child(request)
        status, killed = _wait(child, request["timeout"])
        answer = {
            "status": os.waitstatus_to_exitcode(status) if not killed and os.WIFEXITED(status) else None,
            "signal": os.WTERMSIG(status) if not killed and os.WIFSIGNALED(status) else None,
            "seconds": time.monotonic() - started,
        }
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


def _load_fitdoctor() -> None:
    """What every watched program would load of ours."""
    import fitdoctor
    from fitdoctor.catalogue import catalogue

    catalogue()
    for part in ("collect", "failure", "runner", "source"):
        for path in sorted((Path(fitdoctor.__file__).parent / part).glob("[!_]*.py")):
            if path.stem != "bootstrap":
                importlib.import_module(f"fitdoctor.{part}.{path.stem}")


def _wait(child: int, timeout: float) -> tuple[int, bool]:
    deadline = time.monotonic() + timeout
    while True:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return status, False
        if time.monotonic() > deadline:
            os.killpg(child, signal.SIGKILL)
            _done, status = os.waitpid(child, 0)
            return status, True
        time.sleep(0.01)


def _child(request: dict[str, Any]) -> None:
    status = 1
    try:
        os.setsid()
        folder = Path(request["folder"])
        os.chdir(request["cwd"])
        _redirect(0, os.devnull, os.O_RDONLY)
        _redirect(1, str(folder / "stdout.txt"), os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        _redirect(2, str(folder / "stderr.txt"), os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        sys.stdin = open(0, closefd=False)
        sys.stdout = open(1, "w", closefd=False)
        sys.stderr = open(2, "w", closefd=False)
        status = _execute(request)
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def _redirect(descriptor: int, path: str, flags: int) -> None:
    opened = os.open(path, flags, 0o644)
    os.dup2(opened, descriptor)
    os.close(opened)


def _execute(request: dict[str, Any]) -> int:
    program = str(BOOTSTRAP) if request["mode"] == "run" else request["script"]
    sys.argv = [program, request["folder"]] if request["mode"] == "run" else [program]
    sys.path[0] = str(Path(program).parent)
    source = Path(program).read_bytes()
    main = type(sys)("__main__")
    main.__dict__.update(__file__=program, __builtins__=__builtins__)
    sys.modules["__main__"] = main
    try:
        exec(compile(source, program, "exec"), main.__dict__)
    except SystemExit as ending:
        return ending.code if isinstance(ending.code, int) else (0 if ending.code is None else 1)
    except BaseException as error:
        error.__traceback__ = error.__traceback__.tb_next if error.__traceback__ else None
        traceback.print_exception(error)
        if request["mode"] == "plain":
            seen = [type(error).__name__, str(error)]
            Path(request["folder"], "exception.json").write_text(json.dumps(seen))
        return 1
    return 0


if __name__ == "__main__":
    serve()

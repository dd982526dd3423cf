"""A process that has imported TensorFlow and forks for every program: half a second a program instead of five.

TensorFlow starts its threads with the first operation, so a process that has only imported it may fork.

As a file: `fork_server.py serve SOCKET` is that process, where SOCKET is the descriptor that it listens on, and
`fork_server.py command ADDRESS WORD…` is the command `fitdoctor WORD…`, whose programs are forked from it.
"""

from __future__ import annotations

import contextlib
import fcntl
import importlib
import json
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import traceback
import types
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
        self._folder = tempfile.mkdtemp(prefix="fitdoctor-test-")
        self._address = os.path.join(self._folder, "socket")
        self._listening = socket.socket(socket.AF_UNIX)
        self._listening.bind(self._address)
        self._listening.listen()

    def command(
        self,
        folder: Path,
        *words: str,
        environment: dict[str, str] | None = None,
        stdin: str = "",
        timeout: float = 180.0,
    ) -> subprocess.CompletedProcess[str]:
        """`fitdoctor WORDS…` as a process in a folder; the program that it starts is forked, and so is its second run.

        The traceback of a forked program has a frame of this file: tests of these start Python.
        """
        self._started()
        return subprocess.run(
            [sys.executable, str(Path(__file__)), "command", self._address, *words],
            cwd=folder,
            input=stdin,
            capture_output=True,
            text=True,
            timeout=timeout,
            env=environment or self._environment,
            check=False,
        )

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
                [sys.executable, str(Path(__file__)), "serve", str(self._listening.fileno())],
                pass_fds=(self._listening.fileno(),),
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
        self._listening.close()
        shutil.rmtree(self._folder, ignore_errors=True)


def serve(listening: socket.socket) -> list[str]:
    """The server's side: a request a line on stdin, an answer a line on stdout; commands come to the socket.

    Returns:
        Only in the process of a command's program: the words of its command line.
    """
    import keras  # noqa: F401 - imported so that the forked programs need not
    import numpy  # noqa: F401
    import pandas  # noqa: F401
    import sklearn.model_selection
    import sklearn.preprocessing  # noqa: F401
    import tensorflow as tf

    tf.keras.layers  # noqa: B018 - resolves the lazy module
    tf.data.Dataset  # noqa: B018
    _load_fitdoctor()
    while True:
        ready, _, _ = select.select([sys.stdin, listening], [], [])
        if listening in ready:
            program = _forked_for(listening)
            if program is not None:
                return program
            continue
        line = sys.stdin.readline()  # one is written, then its answer is waited for
        if not line:
            sys.exit()
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


# --- programs of commands -----------------------------------------------------------------------------------------


class Forked:
    """What fitdoctor uses of `subprocess.Popen`, for a program that the server forks."""

    def __init__(
        self,
        command: list[str],
        *,
        pass_fds: tuple[int, ...] = (),
        stdin: int | None = None,
        stdout: int | None = None,
        stderr: int | None = None,
        env: dict[str, str] | None = None,
        cwd: str | None = None,
        start_new_session: bool = False,
    ) -> None:
        given, ours = [], []
        for number, each in enumerate((stdin, stdout, stderr)):
            if each == subprocess.PIPE:
                ends = os.pipe()
                given.append(ends[number != 0])
                ours.append(ends[number == 0])
            else:
                given.append(os.open(os.devnull, os.O_RDWR) if each == subprocess.DEVNULL else os.dup(number))
                ours.append(None)
        request = {
            "command": command[1:],
            "cwd": cwd or os.getcwd(),
            "environment": dict(os.environ if env is None else env),
            "descriptors": [0, 1, 2, *pass_fds],
        }
        self._connection = socket.socket(socket.AF_UNIX)
        self._connection.connect(os.environ["FORK_SERVER"])
        socket.send_fds(self._connection, [b"."], [*given, *pass_fds])
        self._connection.sendall(json.dumps(request).encode() + b"\n")
        for descriptor in given:
            os.close(descriptor)
        self.stdin = None if ours[0] is None else open(ours[0], "wb")
        self.stdout = None if ours[1] is None else open(ours[1], "rb")
        self._answers = self._connection.makefile("r")
        self.pid = int(self._answers.readline())
        self.returncode: int | None = None

    def wait(self, timeout: float | None = None) -> int:
        if self.returncode is None:
            if not select.select([self._connection], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired("the forked program", timeout or 0.0)
            self.returncode = int(self._answers.readline())
        return self.returncode

    def poll(self) -> int | None:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.wait(0)
        return self.returncode

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


FORKING: Any = types.SimpleNamespace(**{**vars(subprocess), "Popen": Forked})
"""`subprocess` for the modules of fitdoctor that start training programs."""


def _forked_for(listening: socket.socket) -> list[str] | None:
    """Fork a process that waits for the program, and from it the program, the only one that gets its words back."""
    connection, _ = listening.accept()
    with contextlib.suppress(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)
    if os.fork():
        connection.close()
        return None
    _, received, _, _ = socket.recv_fds(connection, 1, 16)
    request = json.loads(connection.makefile("r").readline())
    program = os.fork()
    if program == 0:
        listening.close()
        connection.close()
        _become(request, received)
        command: list[str] = request["command"]
        return command
    for descriptor in received:
        os.close(descriptor)
    connection.sendall(b"%d\n" % program)
    while True:
        done, status = os.waitpid(program, os.WNOHANG)
        if done:
            with contextlib.suppress(OSError):  # nobody may wait for it any more
                connection.sendall(b"%d\n" % os.waitstatus_to_exitcode(status))
            os._exit(0)
        if select.select([connection], [], [], 0.01)[0]:
            os.kill(program, signal.SIGKILL)  # its command has ended


def _become(request: dict[str, Any], received: list[int]) -> None:
    """Take over the environment of a command: folder, variables, descriptors; and this parent for its own."""
    os.setsid()
    os.chdir(request["cwd"])
    copies = [fcntl.fcntl(descriptor, fcntl.F_DUPFD, 100) for descriptor in received]
    for descriptor, number in zip(copies, request["descriptors"], strict=True):
        os.dup2(descriptor, number)
    for descriptor in {*copies, *received} - set(request["descriptors"]):
        os.close(descriptor)
    sys.stdin = open(0, closefd=False)
    sys.stdout = open(1, "w", closefd=False)
    sys.stderr = open(2, "w", closefd=False)
    os.environ.clear()
    os.environ.update(request["environment"])
    # Python reads this variable when it starts.
    sys.dont_write_bytecode = bool(os.environ.get("PYTHONDONTWRITEBYTECODE"))
    options = Path(request["command"][-1], "options.json")
    if options.exists():
        options.write_text(json.dumps({**json.loads(options.read_text()), "parent": os.getppid()}))


if __name__ == "__main__":
    if sys.argv[1] == "command":
        os.environ["FORK_SERVER"] = sys.argv[2]
        sys.argv[:] = ["fitdoctor", *sys.argv[3:]]
        del sys.path[0]
        from fitdoctor.cli import main
        from fitdoctor.repair import warm_start
        from fitdoctor.runner import supervise

        supervise.subprocess = warm_start.subprocess = FORKING
        sys.exit(main())
    sys.argv = serve(socket.socket(fileno=int(sys.argv[2])))
    sys.modules["fitdoctor.runner.second_run"].subprocess = FORKING
    sys.path[0] = str(Path(sys.argv[0]).parent)
    _main = types.ModuleType("__main__")
    _main.__dict__.update(__file__=sys.argv[0], __builtins__=__builtins__)
    # `multiprocessing` has kept the server's: it would be taken for a file of the program.
    sys.modules["__main__"] = sys.modules["__mp_main__"] = _main
    try:
        exec(compile(Path(sys.argv[0]).read_bytes(), sys.argv[0], "exec"), _main.__dict__)
    except BaseException as _error:
        _error.__traceback__ = _error.__traceback__.tb_next if _error.__traceback__ else None
        raise

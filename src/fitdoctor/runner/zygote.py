"""A process that has imported TensorFlow, and run nothing of it, forks for every run of the program.

Run as a file, never imported. TensorFlow starts its threads with the first operation: until then a process may fork.
A request is a line of JSON on standard input. The answer is the child's process id, then its return code and whether
the time limit ended it; or `{}` if the program must start in a fresh interpreter.
"""

import json
import os
import select
import signal
import sys
import time

_PAUSE = 0.02


def _serve() -> str:
    """Answer requests until standard input ends; return only in a forked child, with the folder of its run."""
    import keras  # noqa: F401 - imported so that the programs need not
    import tensorflow as tf

    tf.keras.layers  # noqa: B018 - resolves a lazy module
    requests = open(0, "rb", buffering=0, closefd=False)  # noqa: SIM115 - unbuffered, so that `select` sees every line
    for line in iter(requests.readline, b""):
        request = json.loads(line)
        if any(name in sys.modules for name in request["beside"]):
            _answer({})
            continue
        child = os.fork()
        if child == 0:
            _become_a_program(request["cwd"])
            return str(request["folder"])
        _answer({"pid": child})
        status, in_time = _wait(child, request["limit"])
        _answer({"code": os.waitstatus_to_exitcode(status), "timed_out": not in_time})
    os._exit(0)


def _answer(answer: dict[str, object]) -> None:
    os.write(1, json.dumps(answer).encode() + b"\n")


def _wait(child: int, limit: float) -> tuple[int, bool]:
    """Wait for the child until the time limit, or until the parent stops waiting."""
    deadline = time.monotonic() + limit
    while True:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return status, True
        abandoned = bool(select.select([0], [], [], _PAUSE)[0])
        if abandoned or time.monotonic() > deadline:
            os.killpg(child, signal.SIGKILL)
            return os.waitpid(child, 0)[1], False


def _become_a_program(folder: str) -> None:
    """Leave the process group of the parent, and close what it listens to."""
    os.setsid()
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(null, descriptor)
    os.close(null)
    os.chdir(folder)


if __name__ == "__main__":
    _program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bootstrap.py")
    if not sys.flags.safe_path:
        del sys.path[0]
    sys.argv = [_program, _serve()]
    # As Python starts a file: it takes the folder out of the path again.
    if not sys.flags.safe_path:
        sys.path.insert(0, os.path.dirname(_program))
    _main = type(sys)("__main__")
    _main.__dict__.update(__file__=_program, __builtins__=__builtins__)
    sys.modules["__main__"] = _main
    with open(_program, "rb") as _file:
        _code = compile(_file.read(), _program, "exec")
    # What the program raises leaves through the interpreter's own handling.
    exec(_code, _main.__dict__)

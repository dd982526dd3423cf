"""The command line: one module per command, imported only when that command is used."""

from __future__ import annotations

import sys
from typing import NoReturn

from fitdoctor import __version__

COMMANDS = {
    "run": "run a training program, check every `fit`, explain what fails",
    "lint": "check training code without running it",
    "explain": "explain a cause, an error message, a log or a traceback",
    "fix": "find repairs, prove each by running the program, show or write the diff",
    "memory": "predict the peak memory of a training step and the largest batch that fits",
    "scan": "read all the data that `fit` would see and report what is wrong with it",
    "env": "show the versions, settings and conflicts that matter to `fit`",
    "report": "re-render a saved diagnosis in any format",
    "demo": "diagnose a broken program that ships with fitdoctor",
    "completion": "print a completion script for bash, zsh or fish",
}
"""What each command is for; the module `fitdoctor.cli.<command>` has its `main(argv) -> int`."""

_STARTS_TENSORFLOW = ("memory", "scan")
"""Commands that import TensorFlow in their own process."""


class UsageError(Exception):
    """The user asked for something impossible: one clear line, exit status 2."""


def main(argv: list[str] | None = None) -> int:
    """Run a command and return its exit status; never show a traceback of fitdoctor."""
    words = sys.argv[1:] if argv is None else argv
    # A terminal that cannot show a character of the user's must not end the report.
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    if argv is None and words[:1] == ["lint"]:
        # It reads, tells and ends: to look for garbage among a hundred thousand nodes is a tenth of its time.
        import gc

        gc.disable()
    try:
        status = _dispatch(words)
        if argv is None and words[:1] in (["lint"], ["scan"]):
            _leave(status)
        return status
    except UsageError as error:
        from fitdoctor.report.paint import remark

        sys.stderr.write(remark(str(error), sys.stderr))
        return 2
    except SystemExit as error:
        return error.code if isinstance(error.code, int) else int(error.code is not None)
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        return _reader_gone()
    except ModuleNotFoundError as error:
        return _not_installed(error, words)
    # Our own bug: the user gets a sentence and a log to send, not our traceback.
    except Exception as error:
        from fitdoctor.cli.crash import report_crash

        return report_crash(error, words)


def _dispatch(words: list[str]) -> int:
    if words[:1] == ["help"] and len(words) > 1:
        words = [words[1], "--help"]
    if not words or words[0] in ("-h", "--help", "help"):
        print(_help())
        return 0 if words else 2
    if words[0] in ("-V", "--version"):
        print(f"fitdoctor {__version__}")
        return 0
    command, rest = words[0], words[1:]
    if command not in COMMANDS:
        if not _is_program(words):
            raise UsageError(_unknown(command))
        # `fitdoctor train.py`, `fitdoctor --smoke train.py`, `fitdoctor -m package.train`
        command, rest = "run", words
    import importlib

    module = importlib.import_module(f"fitdoctor.cli.{command}")
    if command in _STARTS_TENSORFLOW:
        from fitdoctor.quiet_start import quiet_process

        with quiet_process():
            return int(module.main(rest))
    return int(module.main(rest))


def _not_installed(error: ModuleNotFoundError, words: list[str]) -> int:
    """Name the optional package that is missing; any other missing module is our own bug."""
    from fitdoctor.optional_packages import missing_package

    missing = missing_package(error, f"`fitdoctor {words[0]}`")
    if missing is None:
        from fitdoctor.cli.crash import report_crash

        return report_crash(error, words)
    print(f"fitdoctor: {missing}", file=sys.stderr)
    return 2


def _is_program(words: list[str]) -> bool:
    """Whether the words name a program to run, with or without options before it."""
    import os

    first = next((word for word in words if word == "-m" or not word.startswith("-")), "")
    if first == "-m" or first.endswith((".py", ".ipynb")):
        return True
    return words[0] == first and os.path.isfile(first)


def _leave(status: int) -> NoReturn:
    """End the process at once.

    Freeing every syntax tree one by one would take a fifth of a short `lint`; a `scan` that was interrupted may have
    left threads behind that wait for the user's data.
    """
    import os

    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


def _help() -> str:
    width = max(map(len, COMMANDS))
    commands = "\n".join(f"  {name:<{width}}  {purpose}" for name, purpose in COMMANDS.items())
    return (
        "usage: fitdoctor [COMMAND] …\n\n"
        "Find out why Keras `model.fit` fails or learns nonsense, and which line to change.\n\n"
        f"commands:\n{commands}\n\n"
        "  `fitdoctor train.py` is short for `fitdoctor run train.py`.\n\n"
        "options:\n"
        "  -h, --help     show this help; `fitdoctor help COMMAND` shows a command's options\n"
        "  -V, --version  show the version\n\n"
        "exit status: 0 clean, 1 findings, 2 wrong usage, bad configuration or an internal\n"
        "error; `run` exits with the program's own status"
    )


def _unknown(word: str) -> str:
    import difflib
    import os

    kind = "option" if word.startswith("-") else "command"
    known = ["--help", "--version"] if kind == "option" else list(COMMANDS)
    if os.path.isdir(word):
        return f"`{word}` is a folder: did you mean `fitdoctor lint {word}`?"
    close = difflib.get_close_matches(word, known, n=1, cutoff=0.5)
    if close:
        return f"unknown {kind} `{word}`: did you mean `{close[0]}`?"
    return f"unknown {kind} `{word}`; choose one of {', '.join(known)}"


def _reader_gone() -> int:
    """Ignore that the reader of our output (`| head`) has closed it, so that Python does not complain at exit."""
    import os

    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 141

"""The command line: one module a command, imported only when that command is used."""

from __future__ import annotations

import sys

from fitdoctor import __version__

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

COMMANDS = {
    "run": "run a training program, check every `fit`, explain what fails",
    "lint": "read training code without running it",
    "explain": "a cause's page, or a saved log or traceback diagnosed",
    "fix": "find repairs, prove each by running the repaired program, show or write the diff",
    "memory": "predict the peak memory of a training step, and the largest batch that fits",
    "scan": "read all the data that fit would see, and tell what it holds",
    "env": "the versions, settings and conflicts that matter to fit",
    "report": "draw a saved diagnosis again, in any format",
    "demo": "diagnose a broken program that ships inside the package",
}
"""What each command is for; the module `fitdoctor.cli.<command>` has its `main(argv) -> int`."""


class UsageError(Exception):
    """The user asked for something that cannot be: one clear line, exit status 2."""


def main(argv: list[str] | None = None) -> int:
    """Run a command and return its exit status; never a traceback of ours."""
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
        print(f"fitdoctor: {error}", file=sys.stderr)
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
    if not words or words[0] in ("-h", "--help", "help"):
        print(_help())
        return 0 if words else 2
    if words[0] in ("-V", "--version"):
        print(f"fitdoctor {__version__}")
        return 0
    command, rest = words[0], words[1:]
    if command not in COMMANDS:
        raise UsageError(_unknown(command))
    import importlib

    module = importlib.import_module(f"fitdoctor.cli.{command}")
    status: int = module.main(rest)
    return status


def _not_installed(error: ModuleNotFoundError, words: list[str]) -> int:
    """Name the optional package that is missing; any other missing module is our own bug."""
    from fitdoctor.optional_packages import missing_package

    missing = missing_package(error, f"`fitdoctor {words[0]}`")
    if missing is None:
        from fitdoctor.cli.crash import report_crash

        return report_crash(error, words)
    print(f"fitdoctor: {missing}", file=sys.stderr)
    return 2


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
        "usage: fitdoctor COMMAND …\n\n"
        "Finds out why Keras `model.fit` fails or learns nonsense, and shows the line to change.\n\n"
        f"commands:\n{commands}\n\n"
        "options:\n  -h, --help     show this; `fitdoctor COMMAND --help` shows a command's options\n"
        "  -V, --version  show the version\n\n"
        "exit status: 0 clean, 1 findings, 2 usage, configuration or our own failure; `run`: the program's own"
    )


def _unknown(word: str) -> str:
    import difflib

    kind = "option" if word.startswith("-") else "command"
    known = ["--help", "--version"] if kind == "option" else list(COMMANDS)
    close = difflib.get_close_matches(word, known, n=1, cutoff=0.5)
    if close:
        return f"unknown {kind} `{word}`: did you mean `{close[0]}`?"
    if word.endswith((".py", ".ipynb")):
        return f"unknown command `{word}`: did you mean `run {word}` or `lint {word}`?"
    return f"unknown {kind} `{word}`: choose one of {', '.join(known)}"


def _reader_gone() -> int:
    """Whoever read our output (`| head`) has enough; Python must not complain about that at exit."""
    import os

    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 141

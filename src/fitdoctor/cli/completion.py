"""`fitdoctor completion`: a completion script for the user's shell, written by shtab from the commands' parsers."""

from __future__ import annotations

import argparse
import importlib
import sys

from fitdoctor.cli import COMMANDS, UsageError
from fitdoctor.cli.options import Parser

DESCRIPTION = """\
Print a script that completes commands, options and files. To use it:

  bash   fitdoctor completion bash >> ~/.bash_completion
  zsh    fitdoctor completion zsh > ~/.zfunc/_fitdoctor     (with ~/.zfunc in fpath)
  fish   fitdoctor completion fish > ~/.config/fish/completions/fitdoctor.fish"""

SHELLS = ("bash", "zsh", "fish")

_FILES = frozenset(("paths", "program", "what", "saved", "data", "model"))
"""Positional arguments that take files."""


def main(argv: list[str]) -> int:
    """Print the script."""
    options = make_parser().parse_args(argv)
    try:
        import shtab
    except ImportError:
        raise UsageError("completion needs `shtab`, which is not installed: `pip install shtab`") from None
    sys.stdout.write(shtab.complete(everything(), shell=options.shell) + "\n")
    return 0


def make_parser() -> Parser:
    """The options of `completion`."""
    parser = Parser("completion", DESCRIPTION, "SHELL")
    parser.add_argument("shell", choices=SHELLS, metavar="SHELL", help=", ".join(SHELLS))
    return parser


def everything() -> argparse.ArgumentParser:
    """One parser with all commands below it."""
    import shtab

    whole = argparse.ArgumentParser("fitdoctor", description="Find out why Keras model.fit fails.")
    commands = whole.add_subparsers(metavar="COMMAND")
    for name, purpose in COMMANDS.items():
        parser = importlib.import_module(f"fitdoctor.cli.{name}").make_parser()
        if name in ("run", "fix"):
            # Everything behind the script is the program's, so their parsers do not declare it.
            parser.add_argument("program", nargs="*", metavar="SCRIPT", help="the program to run")
        below = commands.add_parser(
            name, help=purpose.replace("`", ""), parents=[parser], add_help=False, conflict_handler="resolve"
        )
        for action in below._actions:
            if action.dest in _FILES or action.metavar in ("FILE", "FOLDER"):
                action.complete = shtab.DIRECTORY if action.metavar == "FOLDER" else shtab.FILE  # type: ignore[attr-defined]
    return whole

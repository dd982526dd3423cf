"""What the commands' parsers share: did-you-mean, selection of causes, and printing a report."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, NoReturn, TextIO

from fitdoctor.cli import UsageError
from fitdoctor.diagnosis import Diagnosis
from fitdoctor.report import FORMATS
from fitdoctor.report.paint import remark
from fitdoctor.report.paint import terminal_width as terminal_width
from fitdoctor.report.paint import wants_color as wants_color

if TYPE_CHECKING:
    from fitdoctor.config import Config


WRITING = frozenset({"--fix", "--write", "--write-baseline", "--save", "--output-file"})
"""Options that write files; they are never suggested for a misspelled word."""


class _Help(argparse.HelpFormatter):
    """Wraps help to the terminal, paragraph by paragraph; indented lines stay as they are."""

    def __init__(self, prog: str) -> None:
        # argparse would ask `shutil` for the width whenever an option is added, a slow import.
        super().__init__(prog, width=terminal_width(sys.stdout) - 2)

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return "\n\n".join(
            paragraph
            if paragraph.startswith(" ")
            else super(_Help, self)._fill_text(paragraph, width, indent)
            for paragraph in text.split("\n\n")
        )


class Parser(argparse.ArgumentParser):
    """A parser whose errors are one line, with a suggestion for a word similar to a known one."""

    def __init__(self, command: str, description: str, usage: str = "") -> None:
        super().__init__(
            prog=f"fitdoctor {command}",
            description=description,
            usage=f"fitdoctor {command} {usage}" if usage else None,
            formatter_class=_Help,
            allow_abbrev=False,
        )

    def split(self, argv: list[str]) -> tuple[list[str], list[str]]:
        """Split the arguments into our options and the program with its arguments."""
        valued = {name for action in self._actions if action.nargs is None for name in action.option_strings}
        index = 0
        while index < len(argv):
            word = argv[index]
            if word == "--":
                return argv[:index], argv[index + 1 :]
            if word == "-m" or not word.startswith("-"):
                return argv[:index], argv[index:]
            index += 2 if word in valued else 1
        return argv, []

    def error(self, message: str) -> NoReturn:
        """Replace argparse's error with our own."""
        raise UsageError(f"{message}{self._suggestion(message)} (see `{self.prog} --help`)")

    def _suggestion(self, message: str) -> str:
        if not message.startswith("unrecognized arguments:"):
            return ""
        import difflib

        known = [name for action in self._actions for name in action.option_strings if name not in WRITING]
        for word in message.split(":", 1)[1].split():
            if not word.startswith("-"):
                continue
            close = difflib.get_close_matches(word.split("=")[0], known, n=1, cutoff=0.7)
            if close:
                return f": did you mean `{close[0]}`?"
        return ""


def add_output_options(parser: Parser) -> None:
    """Add `--output-format`, `--output-file`, `--color` and `--verbose`."""
    add = parser.add_argument_group("output").add_argument
    add("--output-format", choices=FORMATS, default="text", metavar="FORMAT", help=", ".join(FORMATS))
    add("--output-file", metavar="FILE", help="write the report to FILE (- for standard output)")
    add("--color", choices=("auto", "always", "never"), default="auto", help="default: auto")
    add("-v", "--verbose", action="store_true", help="show every finding in full")


def add_cause_options(group: argparse._ActionsContainer) -> None:
    """Add `--select`, `--ignore` and `--config` to a parser or a group of its options."""
    add = group.add_argument
    which = "check only these causes: ids, id prefixes (FIT2) or slugs"
    add("--select", action="append", default=[], metavar="IDS", help=which)
    add("--ignore", action="append", default=[], metavar="IDS", help="skip these causes")
    add("--config", metavar="FILE", help="read the settings from FILE instead of the nearest pyproject.toml")


def listed(values: list[str]) -> tuple[str, ...]:
    """The words of an option that takes lists and may be repeated."""
    return tuple(word.strip() for value in values for word in value.split(",") if word.strip())


def check_causes(options: argparse.Namespace) -> None:
    """Reject a `--select` or `--ignore` that names no cause.

    Raises:
        UsageError: with a suggestion if a known name is close.
    """
    from fitdoctor.config import unknown_cause

    for name in ("select", "ignore"):
        problem = unknown_cause(listed(getattr(options, name)))
        if problem:
            raise UsageError(f"`--{name}`: {problem}")


def settings(options: argparse.Namespace, start: str) -> Config:
    """Return the configuration for `start`, overridden by the command line.

    Raises:
        UsageError: the configuration cannot be read, or an option names an unknown cause.
    """
    from fitdoctor.config import ConfigError, find_config, read_config
    from fitdoctor.records import replace

    check_causes(options)
    try:
        config = read_config(options.config) if options.config else find_config(start)
    except ConfigError as error:
        raise UsageError(str(error)) from error
    return replace(
        config,
        select=listed(options.select) or config.select,
        ignore=(*listed(options.ignore), *config.ignore),
    )


def give_out(
    diagnosis: Diagnosis,
    options: argparse.Namespace,
    stream: TextIO | None = None,
    *,
    counts: bool = True,
    full: int = 1,
) -> None:
    """Render the diagnosis as requested, to the stream (standard output) or the file.

    Raises:
        UsageError: the format is unavailable, or the file cannot be written.
    """
    from fitdoctor.report import RenderError, render
    from fitdoctor.report.paint import shows_links

    target = sys.stdout if stream is None else stream
    try:
        drawn = render(
            diagnosis,
            options.output_format,
            color=wants_color(options.color, None if options.output_file else target),
            width=terminal_width(None if options.output_file else target),
            verbose=options.verbose,
            counts=counts,
            links=shows_links(None if options.output_file else target),
            full=full,
        )
    except RenderError as error:
        raise UsageError(str(error)) from error
    put(drawn, options, target)


def say(text: str) -> None:
    """Print a line of our own to standard error."""
    sys.stderr.write(remark(text, sys.stderr))
    sys.stderr.flush()


def put(text: str, options: argparse.Namespace, stream: TextIO | None = None) -> None:
    """Write a text to `--output-file`, else to the stream (standard output).

    Raises:
        UsageError: the file cannot be written.
    """
    if options.output_file:
        write_file(options.output_file, text)
        return
    target = sys.stdout if stream is None else stream
    target.write(text)
    target.flush()


def write_file(path: str, text: str) -> None:
    """Write a report; `-` is standard output.

    Raises:
        UsageError: the file cannot be written.
    """
    if path == "-":
        sys.stdout.write(text)
        sys.stdout.flush()
        return
    try:
        with open(path, "w", encoding="utf-8", errors="backslashreplace") as file:
            file.write(text)
    except OSError as error:
        raise UsageError(f"cannot write `{path}`: {error.strerror}") from error

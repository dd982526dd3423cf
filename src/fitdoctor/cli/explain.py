"""`fitdoctor explain`: a cause's page, or a saved log or traceback diagnosed from its text."""

from __future__ import annotations

import functools
import os
import sys

from fitdoctor.cli import UsageError
from fitdoctor.cli.options import (
    Parser,
    add_output_options,
    give_out,
    terminal_width,
    wants_color,
    write_file,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace

    from fitdoctor.catalogue import Cause
    from fitdoctor.diagnosis import Diagnosis
    from fitdoctor.facts import FailureFacts

_LARGEST = 64 * 2**20
"""Bytes of a log that are read, from its end: that is where the failure stands."""


def main(argv: list[str]) -> int:
    """Explain what the user named."""
    options = _parser().parse_args(argv)
    if options.list:
        return _list(options)
    if not options.what:
        raise UsageError("say what to explain: a cause's id or slug, a file, or - for standard input")
    if options.what == "-":
        return _failure(sys.stdin.buffer.read(), options)
    from fitdoctor.catalogue import find

    cause = find(options.what)
    if cause is not None:
        return _page(cause, options)
    if os.path.exists(options.what):
        return _failure(_read(options.what), options, options.what)
    raise UsageError(_unknown(options.what))


def _parser() -> Parser:
    parser = Parser(
        "explain", "Show a cause's page, or diagnose a saved log or traceback.", "[OPTION…] CODE|FILE|-"
    )
    parser.add_argument(
        "what", nargs="?", metavar="CODE|FILE|-", help="FIT203, labels-out-of-range, train.log, -"
    )
    parser.add_argument("--list", action="store_true", help="list the catalogue")
    add_output_options(parser)
    return parser


def _unknown(word: str) -> str:
    from fitdoctor.catalogue import suggestions

    if os.sep in word or "." in word:
        return f"`{word}` does not exist"
    close = suggestions(word)
    hint = (
        f": did you mean {' or '.join(close)}?" if close else "; `fitdoctor explain --list` lists the causes"
    )
    return f"no cause or file is called `{word}`{hint}"


def _page(cause: Cause, options: Namespace) -> int:
    from fitdoctor.report import Look
    from fitdoctor.report.cause_page import render_page

    if options.output_format not in ("text", "concise"):
        raise UsageError(
            f"a cause's page is text: `--output-format {options.output_format}` is for diagnoses"
        )
    target = None if options.output_file else sys.stdout
    look = Look(wants_color(options.color, target), terminal_width(target))
    _put(render_page(cause, look), options)
    return 0


def _put(text: str, options: Namespace) -> None:
    if options.output_file:
        write_file(options.output_file, text)
    else:
        sys.stdout.write(text)


def _list(options: Namespace) -> int:
    from fitdoctor.catalogue import catalogue
    from fitdoctor.report.paint import Line, painted

    causes = catalogue().values()
    width = max((len(cause.slug) for cause in causes), default=0)
    lines: list[Line] = [
        [(cause.id, cause.severity.value), (f"  {cause.slug:<{width}}  ", ""), (cause.title, "dim")]
        for cause in causes
    ]
    target = None if options.output_file else sys.stdout
    _put(painted(lines, color=wants_color(options.color, target)), options)
    return 0


def _read(path: str) -> bytes:
    if os.path.isdir(path):
        raise UsageError(f"`{path}` is a folder: name a log, or a cause")
    from fitdoctor.source.read import MAX_NOTEBOOK_BYTES

    # A notebook without its beginning is none any more.
    largest = MAX_NOTEBOOK_BYTES if path.endswith(".ipynb") else _LARGEST
    try:
        with open(path, "rb") as file:
            file.seek(max(os.path.getsize(path) - largest, 0))
            return file.read()
    except OSError as error:
        raise UsageError(f"cannot read `{path}`: {error.strerror}") from error


def _failure(raw: bytes, options: Namespace, path: str = "") -> int:
    """Diagnose the failures in a text. That there is none to be found is an answer, not an error."""
    from fitdoctor.failure.text import failures_in, read_text_any
    from fitdoctor.source.read import display_path

    try:
        failures = failures_in(read_text_any(raw), display_path(path))
    except ValueError as error:
        raise UsageError("that is binary, not a log or traceback") from error
    if not failures:
        print("no failure found in the text: it holds no traceback and no known message")
        return 0
    give_out(_diagnosed(failures), options)
    return 0


def _diagnosed(failures: list[FailureFacts]) -> Diagnosis:
    from fitdoctor.cases import files_of
    from fitdoctor.cli.lint_files import joined
    from fitdoctor.examine import examine_failure

    parts = [examine_failure(failure, functools.partial(files_of, failure)) for failure in failures]
    return parts[0] if len(parts) == 1 else joined(parts)

"""`fitdoctor explain`: a cause's page, or an error message, log or traceback diagnosed from its text."""

from __future__ import annotations

import functools
import json
import os
import re
import stat
import sys
from argparse import Namespace
from typing import Any

from fitdoctor.catalogue import FAMILIES, Cause, catalogue, find, suggestions
from fitdoctor.cli import UsageError
from fitdoctor.cli.options import (
    Parser,
    add_output_options,
    give_out,
    put,
    terminal_width,
    wants_color,
)
from fitdoctor.diagnosis import Diagnosis
from fitdoctor.facts import FailureFacts
from fitdoctor.records import replace

_LARGEST = 64 * 2**20
"""The most bytes of a log that are read, from its end, where the failure is."""


def main(argv: list[str]) -> int:
    """Explain what the user named or pasted."""
    options = make_parser().parse_args(argv)
    what = " ".join(options.what)
    if options.list:
        return _list(_family(what), options) if what else _list(list(catalogue().values()), options)
    if not what and not _is_piped():
        raise UsageError(
            "nothing to explain: give an id such as FIT203, an error message, a log file, or - for standard input"
        )
    if what in ("", "-"):
        return _failure(sys.stdin.buffer.read(), options)
    cause = find(what)
    if cause is not None:
        return _page(cause, options)
    if os.path.exists(what):
        return _failure(_read(what), options, what)
    if len(options.what) > 1 and any(os.path.exists(word) for word in options.what):
        return _files(options.what, options)
    if len(options.what) > 1 and all(find(word) for word in options.what):
        raise UsageError("`explain` shows one cause at a time; several log files can be given at once")
    if _is_family(what):
        return _list(_family(what), options)
    if _is_message(what):
        return _failure(what.encode("utf-8", "surrogateescape"), options)
    raise UsageError(_unknown(what))


def _is_piped() -> bool:
    """Whether another command or a file is at standard input: `python train.py 2>&1 | fitdoctor explain`."""
    try:
        mode = os.fstat(sys.stdin.fileno()).st_mode
    except (AttributeError, OSError, ValueError):
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISREG(mode)


def make_parser() -> Parser:
    """The options of `explain`."""
    parser = Parser(
        "explain",
        "Show a cause's page, or diagnose an error message, a saved log or a traceback.\n\n"
        "WHAT is an id or slug (FIT203, labels-out-of-range), a family (FIT2, labels), a message in quotes\n"
        '("ValueError: …"), a log or a notebook with its output (or several), or - for standard input.',
        "[OPTIONS] WHAT",
    )
    parser.add_argument("what", nargs="*", metavar="WHAT", help="what to explain")
    parser.add_argument("--list", action="store_true", help="list the causes")
    add_output_options(parser)
    return parser


def _is_family(word: str) -> bool:
    return word.lower() in FAMILIES.values() or (word[:3].upper() == "FIT" and word[3:] in FAMILIES)


def _family(word: str) -> list[Cause]:
    """Return the causes of a family, given its name or id prefix.

    Raises:
        UsageError: there is no such family.
    """
    if not _is_family(word):
        names = ", ".join(f"FIT{digit} ({name})" for digit, name in FAMILIES.items())
        raise UsageError(f"there is no family `{word}`; choose one of {names}")
    digit = next((digit for digit, name in FAMILIES.items() if name == word.lower()), word[3:])
    return [cause for cause in catalogue().values() if cause.id[3] == digit]


def _is_message(words: str) -> bool:
    """Whether this is the text of an error rather than a mistyped name."""
    return any(character.isspace() for character in words) or bool(
        re.match(r"[\w.]+(Error|Exception)\b", words)
    )


def _unknown(word: str) -> str:
    if os.sep in word or re.search(r"\.\w+$", word):
        return f"`{word}` does not exist"
    close = suggestions(word)
    hint = (
        f": did you mean {' or '.join(close)}?" if close else "; `fitdoctor explain --list` lists the causes"
    )
    return f"no cause or file is called `{word}`{hint}"


def _page(cause: Cause, options: Namespace) -> int:
    from fitdoctor.report import Look
    from fitdoctor.report.cause_page import render_page

    if options.output_format == "json":
        put(_json(_described(cause) | {"page": cause.page.strip()}), options)
        return 0
    if options.output_format not in ("text", "concise"):
        raise UsageError(f"a cause's page is text or json, not {options.output_format}")
    target = None if options.output_file else sys.stdout
    look = Look(wants_color(options.color, target), terminal_width(target))
    put(render_page(cause, look), options)
    return 0


def _described(cause: Cause) -> dict[str, Any]:
    return {
        "id": cause.id,
        "slug": cause.slug,
        "title": cause.title,
        "severity": cause.severity.value,
        "family": FAMILIES[cause.id[3]],
        "moments": [moment.value for moment in cause.moments],
    }


def _json(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


def _list(causes: list[Cause], options: Namespace) -> int:
    from fitdoctor.report.paint import Line, cells, painted, wrapped

    if options.output_format == "json":
        put(_json([_described(cause) for cause in causes]), options)
        return 0
    if options.output_format not in ("text", "concise"):
        raise UsageError(f"the list of causes is text or json, not {options.output_format}")
    target = None if options.output_file else sys.stdout
    columns = terminal_width(target)
    slugs = max(cells(cause.slug) for cause in causes)
    lines: list[Line] = []
    for cause in causes:
        name: Line = [(cause.id, cause.severity.value), (f"  {cause.slug:<{slugs}}  ", "")]
        if columns < 10 + slugs + 30:
            lines += [[(cause.id, cause.severity.value), (f"  {cause.slug}", "")]]
            lines += wrapped([("        ", ""), (cause.title, "dim")], columns, [("        ", "")])
        else:
            lines += wrapped([*name, (cause.title, "dim")], columns, [(" " * (10 + slugs), "")])
    put(painted(lines, color=wants_color(options.color, target)), options)
    return 0


def _read(path: str) -> bytes:
    if os.path.isdir(path):
        raise UsageError(f"`{path}` is a folder: give a log file or a cause")
    from fitdoctor.source.read import MAX_NOTEBOOK_BYTES

    # A notebook that is cut short cannot be parsed.
    largest = MAX_NOTEBOOK_BYTES if path.endswith(".ipynb") else _LARGEST
    try:
        with open(path, "rb") as file:
            file.seek(max(os.path.getsize(path) - largest, 0))
            return file.read()
    except OSError as error:
        raise UsageError(f"cannot read `{path}`: {error.strerror}") from error


def _files(paths: list[str], options: Namespace) -> int:
    """Diagnose several logs: one after the other, or all in one report if it is for a machine or a file."""
    absent = next((path for path in paths if not os.path.exists(path)), None)
    if absent is not None:
        raise UsageError(f"`{absent}` does not exist; to explain a message, put it in quotes")
    if options.output_format != "text" or options.output_file:
        from fitdoctor.cli.lint_files import joined

        give_out(joined([_of_text(_read(path), path) for path in paths]), options)
        return 0
    for index, path in enumerate(paths):
        print(f"\n{path}:" if index else f"{path}:")
        _failure(_read(path), options, path)
    return 0


def _failure(raw: bytes, options: Namespace, path: str = "") -> int:
    """Diagnose the failures in a text; a text without one is not an error."""
    diagnosis = _of_text(raw, path)
    if diagnosis.findings or diagnosis.unexplained or options.output_format != "text":
        give_out(diagnosis, options)
    else:
        print("no failure found: the text has no traceback and no message that fitdoctor knows")
    return 0


def _of_text(raw: bytes, path: str = "") -> Diagnosis:
    from fitdoctor.catalogue.logged_diagnosis import reported_in
    from fitdoctor.diagnose import failures_told_in
    from fitdoctor.diagnosis import Diagnosis
    from fitdoctor.failure.messages import plain_text
    from fitdoctor.failure.text import read_text_any
    from fitdoctor.source.read import display_path

    try:
        text = read_text_any(raw)
        failures = failures_told_in(text, display_path(path))
    except ValueError as error:
        what = f"`{path}`" if path else "this"
        raise UsageError(f"{what} is binary data, not a log or traceback") from error
    return _diagnosed(failures, text, path) if failures else Diagnosis(findings=reported_in(plain_text(text)))


def _diagnosed(failures: list[FailureFacts], text: str, path: str) -> Diagnosis:
    from fitdoctor.cli.lint_files import joined
    from fitdoctor.diagnose import examine_failure, examine_saved
    from fitdoctor.engine_inputs import files_of

    if len(failures) == 1:
        return examine_saved(failures[0], text, path)
    parts = [examine_failure(failure, functools.partial(files_of, failure)) for failure in failures]
    warned = [failure.type.endswith("Warning") for failure in failures]
    if not all(warned):  # what was warned of before did not end the program
        parts = [_as_warnings(part) if warning else part for part, warning in zip(parts, warned, strict=True)]
    return joined(parts)


def _as_warnings(diagnosis: Diagnosis) -> Diagnosis:
    from fitdoctor.diagnosis import Severity

    return replace(
        diagnosis, findings=tuple(replace(each, severity=Severity.WARNING) for each in diagnosis.findings)
    )

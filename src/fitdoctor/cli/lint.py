"""`fitdoctor lint`: read training code without running it."""

from __future__ import annotations

import sys

from fitdoctor.cli import UsageError
from fitdoctor.cli.declared import OUTPUT, Given, add_to, read
from fitdoctor.cli.discover import Found, NothingThere, discover
from fitdoctor.cli.installed import installed
from fitdoctor.cli.lint_files import Linted, Wishes, lint_files, lint_text
from fitdoctor.config import ConfigError, find_config, unknown_cause

TYPE_CHECKING = False
if TYPE_CHECKING:
    from fitdoctor.cli.declared import Declared
    from fitdoctor.diagnosis import Diagnosis

_MOST_ROUNDS = 5
"""Of `--fix`: one repair may uncover the next."""


def main(argv: list[str]) -> int:
    """Judge the files and report.

    Returns:
        1 when something at or above `--fail-on` was found, 2 when a file cannot be read.
    """
    options = read(argv, _OPTIONS) or _parsed(argv)
    _check(options)
    wishes = Wishes(_words(options.select), _words(options.ignore), options.keras)
    try:
        if options.paths == ["-"]:
            return _lint_stdin(options, wishes)
        files = discover(options.paths)
    except (ConfigError, NothingThere) as error:
        raise UsageError(str(error)) from error
    only_a_word = bool(files) and _wants_only_a_word(options)
    description = None
    if only_a_word and not options.no_cache:
        from fitdoctor.cli.known_clean import describe, is_known

        description = describe(files, (wishes, installed()))
        if description is not None and is_known(description):
            return _say_clean(options)
    linted = lint_files(files, wishes, options.jobs)
    if options.fix or options.diff:
        return _repair(options, wishes, files, linted)
    if only_a_word and linted.spotless:
        if description is not None and not linted.leaning:
            from fitdoctor.cli.known_clean import remember

            remember(description)
        return _say_clean(options)
    return _conclude(options, files, linted)


def _wants_only_a_word(options: Given) -> bool:
    """Whether all that is wanted of a clean project is to hear that it is clean."""
    more = (options.fix, options.diff, options.statistics, options.write_baseline, options.verbose)
    return not any(more) and options.output_format in ("text", "concise") and not options.output_file


def _say_clean(options: Given) -> int:
    if options.output_format == "text":
        print("no problem found")
    return 0


_OPTIONS: tuple[Declared, ...] = (
    (
        "",
        ("paths",),
        {
            "nargs": "*",
            "default": ["."],
            "metavar": "PATH",
            "help": "file, folder, glob, or - for standard input (default: .)",
        },
    ),
    ("", ("--stdin-filename",), {"metavar": "FILE", "help": "what to call standard input"}),
    (
        "",
        ("--select",),
        {
            "action": "append",
            "default": [],
            "metavar": "IDS",
            "help": "only these causes: ids, beginnings (FIT2), slugs",
        },
    ),
    ("", ("--ignore",), {"action": "append", "default": [], "metavar": "IDS", "help": "not these causes"}),
    (
        "",
        ("--keras",),
        {"type": int, "choices": (2, 3), "help": "judge for this Keras (default: the installed one)"},
    ),
    ("", ("--no-cache",), {"action": "store_true", "help": "read also what was found clean before"}),
    (
        "",
        ("--jobs",),
        {"type": int, "default": 0, "metavar": "N", "help": "processes (default: one a core)"},
    ),
    (
        "exit status",
        ("--fail-on",),
        {"choices": ("error", "warning", "info"), "help": "exit 1 from there on (default: error)"},
    ),
    ("exit status", ("--exit-zero",), {"action": "store_true", "help": "exit 0 whatever was found"}),
    (
        "repairs",
        ("--fix",),
        {
            "action": "store_true",
            "help": "write safe repairs into the files; those of `-` to standard output",
        },
    ),
    (
        "repairs",
        ("--diff",),
        {"action": "store_true", "help": "show safe repairs as a diff, write nothing"},
    ),
    (
        "known findings",
        ("--baseline",),
        {"metavar": "FILE", "help": "leave out the findings in this file"},
    ),
    (
        "known findings",
        ("--write-baseline",),
        {"action": "store_true", "help": "save what is found to the baseline FILE"},
    ),
    *OUTPUT,
    ("output", ("--statistics",), {"action": "store_true", "help": "count by cause instead"}),
)


def _parsed(argv: list[str]) -> Given:
    from fitdoctor.cli.options import Parser

    parser = Parser("lint", "Read .py and .ipynb files without running them.", "[OPTION…] PATH…")
    add_to(parser, _OPTIONS)
    return Given(vars(parser.parse_args(argv)))


def _check(options: Given) -> None:
    if "-" in options.paths and len(options.paths) > 1:
        raise UsageError("standard input (`-`) is read alone")
    if options.stdin_filename and options.paths != ["-"]:
        raise UsageError("`--stdin-filename` goes with `-`")
    if options.write_baseline and not options.baseline:
        raise UsageError("`--write-baseline` needs `--baseline FILE`")
    if options.jobs < 0:
        raise UsageError("`--jobs` must be 0 or more")
    for name in ("select", "ignore"):
        problem = unknown_cause(_words(getattr(options, name)))
        if problem:
            raise UsageError(f"`--{name}`: {problem}")


def _words(values: list[str]) -> tuple[str, ...]:
    return tuple(word.strip() for value in values for word in value.split(",") if word.strip())


def _lint_stdin(options: Given, wishes: Wishes) -> int:
    found = Found(options.stdin_filename or "<stdin>", find_config(options.stdin_filename or "."))
    raw = sys.stdin.buffer.read()
    linted = lint_text(raw.decode("utf-8", errors="replace"), found, wishes)
    if options.fix or options.diff:
        return _repair_stdin(options, wishes, found, raw, linted)
    return _conclude(options, [found], linted)


def _repair_stdin(options: Given, wishes: Wishes, found: Found, raw: bytes, linted: Linted) -> int:
    """The text as it should be, or the diff, to standard output; what is left to tell goes to the other stream."""
    from contextlib import redirect_stdout

    from fitdoctor.cli.repair_files import repair_text

    if options.diff:
        repaired = repair_text(linted.diagnosis.findings, found.path, raw)
        sys.stdout.write("" if repaired is None else repaired.diff())
        return _status(options, [found], linted.diagnosis, linted.unreadable)
    for _round in range(_MOST_ROUNDS):
        repaired = repair_text(linted.diagnosis.findings, found.path, raw)
        if repaired is None:
            break
        raw = repaired.change.file.encoded(repaired.change.new)
        linted = lint_text(raw.decode("utf-8", errors="replace"), found, wishes)
    sys.stdout.flush()
    sys.stdout.buffer.write(raw)
    with redirect_stdout(sys.stderr):
        return _conclude(options, [found], linted)


def _conclude(options: Given, files: list[Found], linted: Linted) -> int:
    """Report, and say how it ends."""
    from fitdoctor.diagnosis import Diagnosis

    diagnosis = linted.diagnosis
    if options.write_baseline:
        from fitdoctor.cli.baseline import write_baseline

        write_baseline(options.baseline, diagnosis)
        print(f"{len(diagnosis.findings)} findings saved to {options.baseline}", file=sys.stderr)
        return _status(options, files, Diagnosis(), linted.unreadable)
    if options.baseline:
        from fitdoctor.cli.baseline import read_baseline, without_known

        diagnosis = without_known(diagnosis, read_baseline(options.baseline))
    if not files:
        print("fitdoctor: no Python file or notebook there", file=sys.stderr)
    elif options.statistics:
        _print_statistics(diagnosis)
    elif linted.unreadable and _is_plain_and_empty(options, diagnosis):
        _say_of_the_rest(len(files) - len(linted.unreadable))
    else:
        from fitdoctor.cli.options import give_out

        give_out(diagnosis, options)
    for line in sorted(linted.remarks):
        print(f"fitdoctor: {line}", file=sys.stderr)
    return _status(options, files, diagnosis, linted.unreadable)


def _is_plain_and_empty(options: Given, diagnosis: Diagnosis) -> bool:
    """Whether a text would only say that nothing was found."""
    return (
        options.output_format == "text"
        and not options.output_file
        and not (diagnosis.findings or diagnosis.unexplained or diagnosis.crashes)
    )


def _say_of_the_rest(readable: int) -> None:
    """A file that could not be read is not one without problems."""
    if readable > 0:
        print(f"no problem found in the other {'file' if readable == 1 else f'{readable} files'}")


def _status(options: Given, files: list[Found], diagnosis: Diagnosis, unreadable: list[str]) -> int:
    from fitdoctor.diagnosis import Severity

    for line in sorted(unreadable):
        print(f"fitdoctor: {line}", file=sys.stderr)
    if unreadable:
        return 2
    if options.exit_zero:
        return 0
    asked = [found.config.fail_on for found in files if found.config.fail_on]
    # Several projects at once: the strictest of them decides.
    level = options.fail_on or max(asked, key=lambda name: Severity(name).rank, default="error")
    return int(bool(diagnosis.at_least(Severity(level))))


def _print_statistics(diagnosis: Diagnosis) -> None:
    from collections import Counter

    counts = Counter((found.id, found.slug) for found in diagnosis.findings)
    width = len(str(max(counts.values(), default=0)))
    for (name, slug), count in sorted(counts.items(), key=lambda entry: (-entry[1], entry[0])):
        print(f"{count:>{width}}  {name}  {slug}")


def _repair(options: Given, wishes: Wishes, files: list[Found], linted: Linted) -> int:
    from fitdoctor.cli.repair_files import repair

    named = {found.path for found in files}
    if options.diff:
        repaired = repair(linted.diagnosis.findings, named)
        for each in repaired:
            sys.stdout.write(each.diff())
        mended = sum(each.fixes for each in repaired)
        print(f"{mended} of {len(linted.diagnosis.findings)} findings have a safe repair", file=sys.stderr)
        status = _status(options, files, linted.diagnosis, linted.unreadable)
        return status or int(bool(repaired) and not options.exit_zero)
    mended = 0
    for _round in range(_MOST_ROUNDS):
        repaired = repair(linted.diagnosis.findings, named)
        for each in repaired:
            try:
                each.write()
            except OSError as error:
                raise UsageError(f"cannot write `{each.path}`: {error.strerror}") from error
        mended += sum(each.fixes for each in repaired)
        if not repaired:
            break
        linted = lint_files(files, wishes, options.jobs)
    print(f"{mended} {'finding' if mended == 1 else 'findings'} repaired", file=sys.stderr)
    return _conclude(options, files, linted)

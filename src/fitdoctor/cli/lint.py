"""`fitdoctor lint`: read training code without running it."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Iterator

from fitdoctor.cli import UsageError
from fitdoctor.cli.discover import Found, NothingThere, discover
from fitdoctor.cli.installed import installed
from fitdoctor.cli.lint_files import Linted, Wishes, lint_files, lint_text
from fitdoctor.cli.lint_report import clean_line, fixable_of, print_report, print_statistics
from fitdoctor.cli.options import Parser, add_cause_options, add_output_options, check_causes, listed, say
from fitdoctor.config import ConfigError, find_config, read_config
from fitdoctor.diagnosis import Diagnosis

_MOST_ROUNDS = 5
"""The most rounds of `--fix`: one repair may uncover the next."""


def main(argv: list[str]) -> int:
    """Check the files and report.

    Returns:
        1 if there is a finding at or above `--fail-on`, 2 if a file cannot be read.
    """
    options = make_parser().parse_args(argv)
    if options.target:
        options.keras = int(options.target[-1])
    _check(options)
    if options.watch:
        from fitdoctor.cli.watch import watch

        return watch(lambda: _files(options), lambda: _lint(options))
    return _lint(options)


def _files(options: Namespace) -> list[Found]:
    try:
        return discover(options.paths, read_config(options.config) if options.config else None)
    except (ConfigError, NothingThere) as error:
        raise UsageError(str(error)) from error


def _lint(options: Namespace) -> int:
    wishes = Wishes(listed(options.select), listed(options.ignore), options.keras)
    if options.paths == ["-"]:
        return _lint_stdin(options, wishes)
    files = _files(options)
    if options.show_files:
        print(*(found.path for found in files), sep="\n", end="\n" if files else "")
        return 0
    if options.show_settings:
        return _show_settings(options, files)
    only_a_word = bool(files) and _wants_only_a_word(options)
    description = None
    if only_a_word and not options.no_cache:
        from fitdoctor.cli.known_clean import describe, is_known

        description = describe(files, (wishes, installed()))
        if description is not None and is_known(description):
            return _say_clean(options, len(files))
    linted = lint_files(files, wishes, options.jobs)
    if options.fix or options.diff:
        return _repair(options, wishes, files, linted)
    if only_a_word and linted.spotless:
        if description is not None and not linted.leaning:
            from fitdoctor.cli.known_clean import remember

            remember(description)
        return _say_clean(options, len(files))
    return _conclude(options, files, linted)


def _wants_only_a_word(options: Namespace) -> bool:
    """Whether the output for a clean project is a single line."""
    more = (options.fix, options.diff, options.statistics, options.write_baseline, options.verbose)
    return not any(more) and options.output_format in ("text", "concise") and not options.output_file


def _say_clean(options: Namespace, files: int) -> int:
    if options.output_format == "text":
        print(clean_line(files))
    return 0


def make_parser() -> Parser:
    """The options of `lint`."""
    parser = Parser("lint", "Read .py and .ipynb files without running them.", "[OPTIONS] PATH…")
    add = parser.add_argument
    paths = "file, folder, glob, or - for standard input (default: .)"
    add("paths", nargs="*", default=["."], metavar="PATH", help=paths)
    add("--stdin-filename", metavar="FILE", help="the name to report for standard input")
    add_cause_options(parser)
    keras = "the Keras to check for (default: the one that the project pins, else the installed one)"
    add("--keras", type=int, choices=(2, 3), help=keras)
    add("--target", choices=("keras2", "keras3"), help="the same as `--keras 2` or `--keras 3`")
    add("--no-cache", action="store_true", help="re-read files that were clean before")
    add("--jobs", type=int, default=0, metavar="N", help="number of processes (default: one per core)")
    add("--watch", action="store_true", help="check again whenever a file changes, until Ctrl-C")
    add("--show-settings", action="store_true", help="print the settings in effect and exit")
    add("--show-files", action="store_true", help="print the files that would be read and exit")
    add = parser.add_argument_group("exit status").add_argument
    levels = ("error", "warning", "info")
    add("--fail-on", choices=levels, help="exit 1 at this severity or above (default: error)")
    add("--exit-zero", action="store_true", help="exit 0 whatever is found")
    add = parser.add_argument_group("repairs").add_argument
    add("--fix", action="store_true", help="write safe repairs to the files (for `-`, to standard output)")
    add("--diff", action="store_true", help="show safe repairs as a diff, write nothing")
    add = parser.add_argument_group("known findings").add_argument
    add("--baseline", metavar="FILE", help="skip the findings listed in FILE")
    add("--write-baseline", action="store_true", help="save the current findings to the baseline FILE")
    add_output_options(parser)
    parser.add_argument("--statistics", action="store_true", help="count findings by cause instead")
    return parser


def _check(options: Namespace) -> None:
    if "-" in options.paths and len(options.paths) > 1:
        raise UsageError("`-` (standard input) cannot be combined with other paths")
    if options.stdin_filename and options.paths != ["-"]:
        raise UsageError("`--stdin-filename` needs `-` as the path")
    if options.write_baseline and not options.baseline:
        raise UsageError("`--write-baseline` needs `--baseline FILE`")
    if options.jobs < 0:
        raise UsageError("`--jobs` must be 0 or more")
    if options.watch and (options.paths == ["-"] or options.output_file):
        raise UsageError("`--watch` cannot be combined with `-` or `--output-file`")
    check_causes(options)


def _show_settings(options: Namespace, files: list[Found]) -> int:
    """Print the settings in effect: one block per configuration, including the command line."""
    from fitdoctor.cli.installed import keras_major

    blocks = {found.config: found.path for found in reversed(files)}
    for number, (config, path) in enumerate(reversed(blocks.items())):
        keras = options.keras or config.keras
        rows = {
            "file": path,
            "config": config.path or "none found: these are the defaults",
            "select": ", ".join(listed(options.select) or config.select) or "all causes",
            "ignore": ", ".join((*listed(options.ignore), *config.ignore)) or "none",
            "fail-on": options.fail_on or config.fail_on or "error",
            "keras": str(keras) if keras else f"{keras_major()} (the installed one)",
            "exclude": ", ".join(config.exclude) or "none",
            "per-file-ignores": "; ".join(
                f"{glob}: {', '.join(ids)}" for glob, ids in config.per_file_ignores
            )
            or "none",
        }
        if number:
            print()
        for name, value in rows.items():
            print(f"{name + ':':<18}{value}")
    if not files:
        say("no Python files or notebooks found")
    return 0


def _lint_stdin(options: Namespace, wishes: Wishes) -> int:
    try:
        config = read_config(options.config) if options.config else find_config(options.stdin_filename or ".")
    except ConfigError as error:
        raise UsageError(str(error)) from error
    found = Found(options.stdin_filename or "<stdin>", config)
    raw = sys.stdin.buffer.read()
    linted = lint_text(raw.decode("utf-8", errors="replace"), found, wishes)
    if options.fix or options.diff:
        return _repair_stdin(options, wishes, found, raw, linted)
    return _conclude(options, [found], linted)


def _repair_stdin(options: Namespace, wishes: Wishes, found: Found, raw: bytes, linted: Linted) -> int:
    """Print the repaired text or the diff to standard output, and everything else to standard error."""
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


def _conclude(options: Namespace, files: list[Found], linted: Linted) -> int:
    """Report, and return the exit status."""
    from fitdoctor.diagnosis import Diagnosis

    diagnosis = linted.diagnosis
    if options.write_baseline:
        from fitdoctor.cli.baseline import write_baseline

        write_baseline(options.baseline, diagnosis)
        number = len(diagnosis.findings)
        print(f"saved {number} {_findings(number)} to {options.baseline}", file=sys.stderr)
        return _status(options, files, Diagnosis(), linted.unreadable)
    if options.baseline:
        from fitdoctor.cli.baseline import read_baseline, without_known

        diagnosis = without_known(diagnosis, read_baseline(options.baseline))
    if not files:
        say("no Python files or notebooks found")
        if options.output_format != "text":
            print_report(diagnosis, options, ())
    elif options.statistics:
        print_statistics(diagnosis, options, len(files))
    elif linted.unreadable and _is_plain_and_empty(options, diagnosis):
        _say_of_the_rest(len(files) - len(linted.unreadable))
    else:
        new = "new " if options.baseline else ""
        print_report(diagnosis, options, {found.path for found in files}, new)
    for line in (*sorted(linted.remarks), *_about_keras(linted, files)):
        say(line)
    return _status(options, files, diagnosis, linted.unreadable)


def _about_keras(linted: Linted, files: list[Found]) -> Iterator[str]:
    """Say which Keras the project asks for, and what the move to Keras 3 would take."""
    for assumed in sorted(linted.assumed, key=lambda each: (each.major, each.reason))[:3]:
        yield f"checked for Keras {assumed.major}: {assumed.reason}"
    count = len(linted.moves)
    if count:
        fixable = fixable_of(linted.moves, [found.path for found in files])
        places = "1 place" if count == 1 else f"{count:,} places"
        yield (
            f"{places} to change for Keras 3; `fitdoctor lint --target keras3` lists them"
            + (f", `--fix` changes {fixable:,}" if fixable else "")
        )


def _is_plain_and_empty(options: Namespace, diagnosis: Diagnosis) -> bool:
    """Whether a text report would only say that nothing was found."""
    return (
        options.output_format == "text"
        and not options.output_file
        and not (diagnosis.findings or diagnosis.unexplained or diagnosis.crashes)
    )


def _say_of_the_rest(readable: int) -> None:
    """Say that the other files are clean: a file that could not be read is not."""
    if readable > 0:
        print(f"no problems found in the other {'file' if readable == 1 else f'{readable} files'}")


def _status(options: Namespace, files: list[Found], diagnosis: Diagnosis, unreadable: list[str]) -> int:
    from fitdoctor.diagnosis import Severity

    for line in sorted(unreadable):
        say(line)
    if unreadable:
        return 2
    if options.exit_zero:
        return 0
    asked = [found.config.fail_on for found in files if found.config.fail_on]
    # Several projects at once: the strictest of them decides.
    level = options.fail_on or max(asked, key=lambda name: Severity(name).rank, default="error")
    return int(bool(diagnosis.at_least(Severity(level))))


def _findings(number: int) -> str:
    return "finding" if number == 1 else "findings"


def _repair(options: Namespace, wishes: Wishes, files: list[Found], linted: Linted) -> int:
    from fitdoctor.cli.repair_files import repair

    named = {found.path for found in files}
    if options.diff:
        repaired = repair(linted.diagnosis.findings, named)
        for each in repaired:
            sys.stdout.write(each.diff())
        fixed, number = sum(each.fixes for each in repaired), len(linted.diagnosis.findings)
        print(f"{fixed} of {number} {_findings(number)} can be fixed with `--fix`", file=sys.stderr)
        status = _status(options, files, linted.diagnosis, linted.unreadable)
        return status or int(bool(repaired) and not options.exit_zero)
    fixed = 0
    for _round in range(_MOST_ROUNDS):
        repaired = repair(linted.diagnosis.findings, named)
        for each in repaired:
            try:
                each.write()
            except OSError as error:
                raise UsageError(f"cannot write `{each.path}`: {error.strerror}") from error
        fixed += sum(each.fixes for each in repaired)
        if not repaired:
            break
        linted = lint_files(files, wishes, options.jobs)
    print(f"fixed {fixed} {_findings(fixed)}", file=sys.stderr)
    return _conclude(options, files, linted)

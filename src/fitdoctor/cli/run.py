"""`fitdoctor run`: run the user's program under supervision, with the program's own exit status."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from fitdoctor.cli import UsageError
from fitdoctor.cli.options import Parser, add_cause_options, add_output_options, say, settings, wants_color
from fitdoctor.records import replace
from fitdoctor.runner.session import Options
from fitdoctor.runner.supervise import Ended

DESCRIPTION = """\
Run a training program or notebook, check every `fit` when it is called, and explain what fails.
An error that is certain stops the program before its first step. Arguments after SCRIPT go to the program."""


def main(argv: list[str]) -> int:
    """Run a program and return its exit status."""
    parser = make_parser()
    ours, program = parser.split(argv)
    options = parser.parse_args(ours)
    if not program or program == ["-m"]:
        raise UsageError("name a script to run, or `-m MODULE` (see `fitdoctor run --help`)")
    return run(options, program)


def run(options: argparse.Namespace, program: list[str]) -> int:
    """Run `program` (`[script, …]` or `["-m", module, …]`) as the options say."""
    from fitdoctor.cli.installed import keras_major
    from fitdoctor.runner.preflight import CannotStart, check_module, check_script
    from fitdoctor.runner.session import Options

    config = settings(options, os.getcwd() if program[0] == "-m" else program[0])
    for path in (options.output_file, options.save):
        _refuse_unwritable(path)
    # The child tells as it goes only what the parent would have printed on the same stream.
    tells = options.output_format in ("text", "concise") and not options.output_file and not options.quiet
    wanted = Options(
        select=config.select,
        ignore=config.ignore,
        keep_going=options.keep_going,
        smoke=options.smoke,
        trace=options.trace,
        tell=options.output_format if tells else "",
        colour=wants_color(options.color, sys.stderr),
        verbose=options.verbose,
        quiet=options.quiet,
        keras=config.keras or keras_major(),
        cluster=os.path.abspath(options.cluster) if options.cluster else "",
        locate=options.locate or "",
    )
    try:
        if program[0] == "-m":
            check_module(program[1])
            wanted = replace(wanted, module=program[1], arguments=tuple(program[2:]))
        else:
            check_script(program[0])
            wanted = replace(wanted, script=program[0], arguments=tuple(program[1:]))
    except CannotStart as error:
        raise UsageError(str(error)) from None
    return _run(wanted, options, options.fail_on or config.fail_on)


def _run(wanted: Options, options: argparse.Namespace, fail_on: str | None) -> int:
    from fitdoctor.cli.run_ending import print_ending, summary
    from fitdoctor.diagnosis import Severity
    from fitdoctor.runner.supervise import supervise

    sys.stdout.flush()
    sys.stderr.flush()
    ended = supervise(wanted)
    ended, told_by = _together(ended, wanted)
    _save(ended, options.save)
    if told_by:
        line = summary(ended.diagnosis) or "no problems found"
        say(f"{line} ({wanted.name}); {told_by}")
        return ended.status
    print_ending(ended, wanted, options)
    if ended.status == 0 and fail_on and ended.diagnosis.at_least(Severity(fail_on)):
        return 1
    return ended.status


def _together(ended: Ended, wanted: Options) -> tuple[Ended, str]:
    """Return, for a chief, its run with the findings of the other workers; for another worker, who reports its run."""
    from fitdoctor.runner.cluster import meeting_of, own_member

    place = meeting_of(ended.pieces, wanted.cluster)
    if place is None:
        return ended, ""
    try:
        if not place.is_chief:
            heard = place.leave(ended.diagnosis, ended.pieces, ended.seconds)
            return ended, f"{place.cluster.chief} prints the report" if heard else ""
        others = place.gather()
    except OSError as error:
        say(f"cannot exchange reports with the other workers in `{place.folder}`: {error.strerror}")
        return ended, ""
    if not others:
        return ended, ""
    from fitdoctor.runner.together import joined

    whole = joined([own_member(place, ended.diagnosis, ended.pieces), *others])
    # What was told while it ran was told without the names of the workers: only what all share needs no more words.
    told = ended.told & {found.fingerprint for found in whole.findings if "(only on" not in found.message}
    return replace(ended, diagnosis=whole, told=told), ""


def _save(ended: Ended, asked: str | None) -> None:
    from fitdoctor.runner.saved import default_path, save

    path = Path(asked) if asked else default_path()
    try:
        save(path, ended.diagnosis, ended.pieces, ended.seconds)
    except OSError as error:
        # The copy that nobody asked for may fail in silence: a home that cannot be written to is no problem of theirs.
        if asked:
            say(f"cannot write `{path}`: {error.strerror}")


def _refuse_unwritable(path: str | None) -> None:
    """Raise before the program has run for hours if the report cannot be written."""
    if not path:
        return
    folder = os.path.dirname(os.path.abspath(path))
    if os.path.isdir(path):
        raise UsageError(f"cannot write `{path}`: it is a folder")
    if not os.path.isdir(folder):
        raise UsageError(f"cannot write `{path}`: the folder `{folder}` does not exist")


# --- the command line ---------------------------------------------------------------------------------------------


def make_parser() -> Parser:
    """The options of `run`."""
    parser = Parser("run", DESCRIPTION, "[OPTIONS] SCRIPT|-m MODULE [ARGS…]")
    parser.add_argument(
        "--keep-going", action="store_true", help="print certain errors instead of stopping at them"
    )
    parser.add_argument(
        "--smoke", action="store_true", help="cut every fit to two steps, to try a whole program in seconds"
    )
    parser.add_argument(
        "--trace", action="store_true", help="print the data flow through every fit, stage by stage"
    )
    parser.add_argument(
        "--locate",
        action="store_const",
        const="always",
        default="quick",
        help="if data is wrong, run the program a second time to find the line that made it so, however long that takes "
        "(by default only if it takes seconds)",
    )
    parser.add_argument(
        "--no-locate",
        dest="locate",
        action="store_const",
        const="",
        help="never run the program a second time",
    )
    parser.add_argument(
        "--fail-on",
        choices=("error", "warning", "info"),
        help="exit 1 if a finding has this severity or above, even if the program succeeds",
    )
    add_cause_options(parser)
    parser.add_argument("--save", metavar="FILE", help="save the run; `fitdoctor report FILE` re-renders it")
    parser.add_argument(
        "--cluster",
        metavar="FOLDER",
        help="a folder that all workers of a cluster can write to (not needed on one machine)",
    )
    parser.add_argument(
        "-q", "--quiet", action="store_true", help="print nothing but the program's own output"
    )
    add_output_options(parser)
    return parser

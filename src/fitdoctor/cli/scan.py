"""`fitdoctor scan`: read all the data that `fit` would see and report what is wrong with it."""

from __future__ import annotations

import argparse
import os
import sys
import time
from contextlib import nullcontext
from typing import Any

from fitdoctor.cli import UsageError
from fitdoctor.cli.options import (
    Parser,
    add_cause_options,
    add_output_options,
    check_causes,
    give_out,
    listed,
    put,
    settings,
    terminal_width,
    wants_color,
)
from fitdoctor.cli.progress import status
from fitdoctor.diagnosis import Invocation
from fitdoctor.quiet_start import terminal
from fitdoctor.records import replace
from fitdoctor.scan.outcome import ScanReport

DESCRIPTION = """\
Read all the data that `fit` would see, once, and report shapes, dtypes, minimum, maximum and mean, NaN and Inf, labels,
constant and identical columns, rows that training and validation data share, and the problems that the values show.
DATA is files (.npy, .npz, .csv, .parquet, TFRecord), or MODULE:NAME (FILE.py:NAME) of arrays, a tf.data pipeline, a
generator, a PyDataset, or a function that returns one. Ctrl-C stops reading and reports the results so far."""


def main(argv: list[str]) -> int:
    """Scan and report.

    Returns:
        1 if there is a finding at or above `--fail-on` or an element raised, 2 if data cannot be read, 130 after
        Ctrl-C.
    """
    options = make_parser().parse_args(argv)
    _check(options)
    started = time.time()
    report = _scanned(options)
    report = replace(report, diagnosis=replace(report.diagnosis, invocation=_invocation(options, started)))
    _give_out(report, options)
    return _status(report, options)


def _scanned(options: argparse.Namespace) -> ScanReport:
    from fitdoctor.cli.first_fit import up_to_first_fit
    from fitdoctor.scan.opening import NamedCodes, made, named
    from fitdoctor.scan.pieces import CannotScan
    from fitdoctor.scan.progress import Bar
    from fitdoctor.scan.scanning import Wishes, scan_all

    config = settings(options, os.getcwd())
    shows = terminal().isatty() and not options.no_progress
    try:
        with up_to_first_fit():
            model = named(options.model) if options.model else None
            if model is not None and not hasattr(model, "fit"):
                model = made(options.model, model)
            wishes = Wishes(
                model=model,
                classes=options.classes,
                declared=f"`--classes {options.classes}`",
                labels=listed(options.labels),
                features=options.features,
                limit=options.limit,
                service=options.service,
                local_workers=options.local_workers,
                select=config.select,
                ignore=config.ignore,
                patience=options.patience,
            )
            data, validation = _alone(options.data), _alone(options.validation)
            names = {"data": data, "validation": validation}
            codes = NamedCodes(
                **{role: name for role, name in names.items() if isinstance(name, str) and ":" in name}
            )
            with (
                status(f"opening {data if isinstance(data, str) else data[0]}")
                if shows
                else nullcontext() as show
            ):
                bar = Bar(show) if show is not None else None
                return scan_all(data, validation_data=validation, wishes=wishes, watcher=bar, codes=codes)
    except CannotScan as error:
        raise UsageError(str(error)) from error


def _invocation(options: argparse.Namespace, started: float) -> Invocation:
    from fitdoctor.runner.invocation import invocation

    validation = [word for name in options.validation or () for word in ("--validation", name)]
    return invocation("scan", " ".join(options.data), validation, started, time.time() - started)


def _alone(words: list[str] | None) -> Any:
    """Return a single word as it is, several as a list."""
    return words[0] if words is not None and len(words) == 1 else words


def _give_out(report: ScanReport, options: argparse.Namespace) -> None:
    if options.output_format == "json":
        import json

        text = json.dumps(report.to_json(), indent=2, allow_nan=False) + "\n"
        put(text, options)
        return
    if options.output_format == "text":
        from fitdoctor.scan.draw import text as drawn

        target = None if options.output_file else sys.stdout
        width, color = terminal_width(target), wants_color(options.color, target)
        text = drawn(report, width, color, verbose=options.verbose)
        put(text, options)
        return
    give_out(report.with_statistics, options)
    if options.output_format == "concise":
        for problem in report.problems:
            print(f"problem: {problem.what}", file=sys.stderr)


def _status(report: ScanReport, options: argparse.Namespace) -> int:
    from fitdoctor.diagnosis import Severity

    if report.interrupted:
        return 130
    if options.exit_zero:
        return 0
    if any(problem.element is None for problem in report.problems):
        return 2
    if report.problems or report.diagnosis.at_least(
        Severity(options.fail_on or settings(options, os.getcwd()).fail_on or "error")
    ):
        return 1
    return 0


def _check(options: argparse.Namespace) -> None:
    check_causes(options)
    for name in ("limit", "classes"):
        value = getattr(options, name)
        if value is not None and value < 1:
            raise UsageError(f"`--{name}` must be 1 or more")
    if options.local_workers < 0:
        raise UsageError("`--local-workers` must be 0 or more")
    if options.service and options.local_workers:
        raise UsageError("`--service` and `--local-workers` cannot be combined")


def make_parser() -> Parser:
    """The options of `scan`."""
    parser = Parser("scan", DESCRIPTION, "[OPTIONS] DATA…")
    add = parser.add_argument
    add("data", nargs="+", metavar="DATA", help="the files of one dataset, or MODULE:NAME")
    add(
        "--validation",
        action="append",
        metavar="DATA",
        help="validation data: a file (repeat for more files) or MODULE:NAME",
    )
    add(
        "--model",
        metavar="MODULE:NAME",
        help="the model to check labels and ids against, or a function that returns it",
    )
    add("--classes", type=int, metavar="N", help="without a model: labels must be 0 to N-1")
    add(
        "--labels",
        action="append",
        default=[],
        metavar="NAME,…",
        help="columns, keys or features that are labels (default: guessed from their names)",
    )
    add(
        "--features",
        metavar="SPEC",
        help="for TFRecord files: a JSON file, or MODULE:NAME of a dict of features",
    )
    add("--limit", type=int, metavar="N", help="read at most N rows (for a pipeline: elements)")
    add("--no-progress", action="store_true", help="do not show a progress bar")
    group = parser.add_argument_group("distributed")
    group.add_argument(
        "--service", metavar="ADDRESS", help="tf.data service (grpc://host:port) whose workers read the data"
    )
    group.add_argument(
        "--local-workers",
        type=int,
        default=0,
        metavar="N",
        help="start a tf.data service with N workers on this machine, to try it out",
    )
    group.add_argument(
        "--patience",
        type=float,
        default=60.0,
        metavar="SECONDS",
        help="abandon workers silent for this long (default: 60)",
    )
    group = parser.add_argument_group("checks")
    add_cause_options(group)
    group.add_argument(
        "--fail-on",
        choices=("error", "warning", "info"),
        help="exit 1 at this severity or above (default: error)",
    )
    group.add_argument("--exit-zero", action="store_true", help="exit 0 even if problems are found")
    add_output_options(parser)
    return parser

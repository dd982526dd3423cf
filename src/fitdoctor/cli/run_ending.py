"""What `run` prints after the program has ended: findings not printed yet, and a closing line."""

from __future__ import annotations

import argparse
import sys

from fitdoctor.catalogue.words import counted
from fitdoctor.cli.options import give_out, say, terminal_width, wants_color
from fitdoctor.diagnosis import Diagnosis
from fitdoctor.records import replace
from fitdoctor.runner.session import Options
from fitdoctor.runner.supervise import Ended


def print_ending(ended: Ended, wanted: Options, options: argparse.Namespace) -> None:
    """Print or write the report, and the closing line unless it would disturb a machine format."""
    to_file = bool(options.output_file)
    if to_file or options.output_format not in ("text", "concise"):
        give_out(ended.diagnosis, options, sys.stderr)
    elif not options.quiet:
        _print_rest(ended, options)
    line = closing_line(ended, wanted, options)
    if line and not options.quiet and (to_file or options.output_format in ("text", "concise")):
        say(line)


def _print_rest(ended: Ended, options: argparse.Namespace) -> None:
    """Print what the child has not printed, then one line for each finding that training has scrolled away."""
    diagnosis = ended.diagnosis
    rest = tuple(found for found in diagnosis.findings if found.fingerprint not in ended.told)
    if rest or diagnosis.unexplained:
        shown = replace(
            diagnosis,
            findings=rest,
            skipped=diagnosis.skipped if options.verbose else (),
            crashes=diagnosis.crashes if options.verbose else (),
        )
        give_out(shown, options, sys.stderr, counts=False)
    elif options.verbose:
        for crash in diagnosis.crashes:
            say(f"internal error: {crash.where}: {crash.error}")
    if not _stopped(ended):
        before = _printed_before_training(ended)
        again = [found for found in diagnosis.findings if found.fingerprint in before]
        if again:
            from fitdoctor.report import Look
            from fitdoctor.report.text import brief

            look = Look(wants_color(options.color, sys.stderr), terminal_width(sys.stderr))
            sys.stderr.write(brief(again, look))


def closing_line(ended: Ended, wanted: Options, options: argparse.Namespace) -> str:
    """Return how the run went, in one line; "" for a clean run that a signal ended."""
    diagnosis = ended.diagnosis
    found = summary(diagnosis)
    if not found:
        interrupted = diagnosis.script is not None and diagnosis.script.signal
        return "" if interrupted else _clean(ended, wanted)
    if _stopped(ended):
        return f"stopped{_site(ended)}: {found}"
    shown = options.verbose or len(diagnosis.findings) < 2 or options.output_format != "text"
    return f"{found} ({wanted.name}){'' if shown else '; use `--verbose` to see each in full'}"


def _clean(ended: Ended, wanted: Options) -> str:
    called, checked, seconds = _checks(ended)
    if not called:
        words = "no `fit` was called; no problems found in the source"
    else:
        from fitdoctor.catalogue import catalogue
        from fitdoctor.engine import selected

        causes = counted(len(selected(catalogue(), wanted.select, wanted.ignore)), "cause")
        words = f"checked {_calls(called, checked)} against {causes}, no problems found ({seconds:.1f} s)"
    if ended.diagnosis.crashes:
        words += f"; {counted(len(ended.diagnosis.crashes), 'internal error')}, shown with `--verbose`"
    return words


def _calls(called: dict[str, int], checked: dict[str, int]) -> str:
    """`2 fits`, `40 of 5,000 fits and 3 other calls`."""
    fits, others = called.get("fit", 0), sum(checked.values()) - checked.get("fit", 0)
    parts = []
    if fits:
        looked = checked.get("fit", 0)
        parts.append(counted(fits, "fit") if looked == fits else f"{looked:,} of {counted(fits, 'fit')}")
    if others:
        parts.append(counted(others, "other call" if fits else "call"))
    return " and ".join(parts) or "no call"


def _checks(ended: Ended) -> tuple[dict[str, int], dict[str, int], float]:
    """Return the calls made and checked, by method, and the seconds spent on checking.

    A program that ends with `os._exit` cannot write these counts; then the recorded calls are counted.
    """
    for piece in reversed(ended.pieces):
        if piece["kind"] == "checks":
            return piece["called"], piece["checked"], piece["seconds"] + ended.diagnosing
    calls: dict[str, int] = {}
    seconds = ended.diagnosing
    for piece in ended.pieces:
        if piece["kind"] == "call":
            calls[piece["method"]] = calls.get(piece["method"], 0) + 1
            seconds += piece["seconds"]
    return calls, calls, seconds


def _stopped(ended: Ended) -> bool:
    script = ended.diagnosis.script
    return script is not None and script.exception is not None and script.exception.type == "FitWillFail"


def _site(ended: Ended) -> str:
    """Where the program was stopped: ` at train.py:19, before `fit` ran`."""
    from fitdoctor.source.read import display_path

    last = next((piece for piece in reversed(ended.pieces) if piece["kind"] == "call"), None)
    if last is None:
        return ""
    path, _, line = last["site"].rpartition(":")
    place = f" at {display_path(path)}:{line}" if path else ""
    return f"{place}, before `{last['method']}` ran"


def _printed_before_training(ended: Ended) -> frozenset[str]:
    return frozenset(
        print_
        for piece in ended.pieces
        if piece["kind"] in ("cluster", "call")
        for print_ in piece["told"]
        if print_ in ended.told
    )


def summary(diagnosis: Diagnosis) -> str:
    """`1 error, 2 warnings`; "" when nothing was found."""
    from fitdoctor.report.text import counts

    parts = [counts(diagnosis.findings)] if diagnosis.findings else []
    if diagnosis.unexplained:
        parts.append(counted(len(diagnosis.unexplained), "unexplained error"))
    return ", ".join(parts)

"""What `lint` prints: findings in full or one line each, how many can be fixed, or that there are none."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Collection

from fitdoctor.cli import UsageError
from fitdoctor.cli.options import give_out, put, terminal_width, wants_color
from fitdoctor.diagnosis import Diagnosis, Finding

MOST_IN_FULL = 10
"""With more findings than this, each gets one line."""


def print_report(diagnosis: Diagnosis, options: Namespace, files: Collection[str], new: str = "") -> None:
    """Print the findings; `new` is "new " if known findings were skipped."""
    number = len(diagnosis.findings)
    full = number if number <= MOST_IN_FULL else 0
    if options.output_format != "text" or options.output_file:
        give_out(diagnosis, options, full=full)
        return
    give_out(diagnosis, options, full=full, counts=False)
    if not number:
        print(clean_line(len(files), new))
        return
    from fitdoctor.report.paint import painted, prose, wrapped
    from fitdoctor.report.text import counts

    hints = "".join(_hints(diagnosis, options, files))
    lines = wrapped([(counts(diagnosis.findings), "strong"), *prose(hints)], terminal_width(sys.stdout))
    sys.stdout.write("\n" + painted(lines, color=wants_color(options.color, sys.stdout)))


def _hints(diagnosis: Diagnosis, options: Namespace, files: Collection[str]) -> list[str]:
    number = len(diagnosis.findings)
    hints = []
    fixable = fixable_of(diagnosis.findings, files)
    if fixable:
        which = f"{fixable} of {number}" if number > 1 else "it"
        hints.append(f"; {which} can be fixed with `--fix`")
    if number > MOST_IN_FULL and not options.verbose:
        hints.append("; use `--verbose` to see each in full")
    return hints


def fixable_of(findings: Collection[Finding], files: Collection[str]) -> int:
    """Return how many findings `--fix` would repair in its first round."""
    from fitdoctor.cli.repair_files import repair

    return sum(repaired.fixes for repaired in repair(findings, files))


def clean_line(files: int, new: str = "") -> str:
    """Return the line for files without findings."""
    return f"no {new}problems found ({files:,} {'file' if files == 1 else 'files'})"


def print_statistics(diagnosis: Diagnosis, options: Namespace, files: int) -> None:
    """Count the findings by cause, the most frequent first."""
    from collections import Counter

    counts = Counter((found.id, found.slug) for found in diagnosis.findings)
    ranked = sorted(counts.items(), key=lambda entry: (-entry[1], entry[0]))
    if options.output_format == "json":
        import json

        entries = [{"id": name, "slug": slug, "count": count} for (name, slug), count in ranked]
        put(json.dumps(entries, indent=2) + "\n", options)
        return
    if options.output_format not in ("text", "concise"):
        raise UsageError(f"`--statistics` prints text or json, not {options.output_format}")
    width = len(str(max(counts.values(), default=0)))
    lines = [f"{count:>{width}}  {name}  {slug}" for (name, slug), count in ranked]
    put("\n".join(lines or [clean_line(files)]) + "\n", options)

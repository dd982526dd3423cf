"""Renders a scan as text: a table of the components, remarks on them, and the findings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fitdoctor.scan.outcome import ComponentReport, DataReport, ScanReport, SeenReport
from fitdoctor.tables import paragraph, table

MOST_ROWS = 200
"""Most components to show."""
HEADS = ("", "dtype", "shape", "min", "max", "mean", "NaN", "Inf")


def text(report: ScanReport, width: int = 100, color: bool = False, *, verbose: bool = False) -> str:
    """The text that `fitdoctor scan` prints: the statistics and then the findings, with a final newline."""
    from fitdoctor.report import render

    drawn = statistics(report, width)
    if not report.diagnosis.findings and not (report.complete and not report.problems):
        return f"{drawn}no other problems found in the data that was read\n"
    found = render(report.diagnosis, "text", color=color, width=width, verbose=verbose)
    return f"{drawn}\n{found}" if report.diagnosis.findings else drawn + found


def statistics(report: ScanReport, width: int = 100) -> str:
    """The statistics as text, without the findings."""
    lines: list[str] = []
    for data in report.data:
        if lines:
            lines.append("")
        lines.extend(_data(data, width))
    if report.shared_rows is not None:
        lines += ["", f"rows in both training and validation data: {report.shared_rows:,}"]
    return "\n".join(lines) + "\n"


def _data(data: DataReport, width: int) -> Iterator[str]:
    rate = data.rows / data.seconds if data.seconds else 0.0
    elements = f" in {data.elements:,} elements" if data.elements is not None else ""
    role = "" if data.role == "training" else f"{data.role}: "
    head = f"{data.rows:,} rows{elements}, {data.seconds:.1f} s, {_short(rate)} rows/s{end(data)}"
    yield from paragraph(f"{role}{data.name}: {head}", width, indent="  ")
    shown = data.components[:MOST_ROWS]
    yield from table([row(one) for one in shown], width, heads=HEADS, right=range(3, len(HEADS)))
    for line in all_remarks(data, shown):
        yield from paragraph(line, width, indent="  ")


def all_remarks(data: DataReport, shown: Sequence[ComponentReport]) -> Iterator[str]:
    """Everything to say about the data beyond the table, one line each."""
    if len(data.components) > len(shown):
        yield f"… and {len(data.components) - len(shown)} more"
    for one in shown:
        yield from _remarks(one)
    constant = [one.path for one in data.components if one.constant and data.rows > 1 and one.part == "x"]
    if constant and len(data.components) > 1:
        yield f"constant columns: {_listed(constant)}"
    for group in data.duplicate_columns[:20]:
        yield f"identical columns: {_listed(list(group))}"
    yield from data.remarks
    for problem in data.problems:
        at = f"element {problem.element}: " if problem.element is not None else ""
        yield f"problem: {at}{problem.what}"


def end(data: DataReport) -> str:
    """How far the data was read, as the end of a sentence; "" if to its end."""
    if data.interrupted:
        return "; interrupted, partial results"
    if data.expected is not None and not data.complete:
        return f"; of {data.expected:,}"
    return "" if data.complete else "; not read to the end"


def row(one: ComponentReport) -> tuple[str, ...]:
    """The cells of a component, one for each of `HEADS`."""
    kinds = " ".join(seen.what for seen in one.types[:3])
    shape = one.shapes[0].what if one.shapes else ""
    if shape == "(None,)":
        shape = f"({one.rows},)"
    more = f" +{len(one.shapes) - 1}" if len(one.shapes) > 1 else ""
    missing = one.nan + one.missing
    numbers = (_value(one.minimum), _value(one.maximum), _value(one.mean))
    return (one.path, kinds, shape + more, *numbers, f"{missing:,}", f"{one.inf:,}")


def _remarks(one: ComponentReport) -> Iterator[str]:
    if one.first_nonfinite:
        yield f"{one.path}: first missing or non-finite value: {one.first_nonfinite}"
    if one.nonfinite_columns:
        counts = [f"{name} ({count:,})" for name, count in one.nonfinite_columns]
        yield f"{one.path}: non-finite values by column: {_listed(counts, '')}"
    if len(one.shapes) > 1:
        yield f"{one.path}: shapes: " + "; ".join(_seen(seen) for seen in one.shapes)
    if len(one.types) > 1:
        yield f"{one.path}: dtypes: " + "; ".join(_seen(seen) for seen in one.types)
    if one.labels is not None and one.part == "y":
        shown = ", ".join(f"{_value(value)}: {count:,}" for value, count in sorted(one.labels))
        more = f", … ({one.distinct} values)" if one.distinct and one.distinct > len(one.labels) else ""
        yield f"{one.path}: labels: {shown}{more}"
    if one.constant_columns:
        yield f"{one.path}: constant columns: {_listed(list(one.constant_columns), '')}"
    for group in one.duplicate_columns[:20]:
        yield f"{one.path}: identical columns: {_listed(list(group), '')}"


def _seen(seen: SeenReport) -> str:
    what, count, first = seen.what, seen.count, seen.first
    at = f", first in element {first}" if first is not None else ""
    return f"{what} × {count:,}{at}"


def _listed(names: list[str], quote: str = "`") -> str:
    shown = ", ".join(f"{quote}{name}{quote}" for name in names[:20])
    return f"{shown}, … ({len(names)})" if len(names) > 20 else shown


def _value(value: float | None) -> str:
    if value is None:
        return "-"
    if value == int(value) and abs(value) < 1e15:
        return f"{int(value)}"
    return f"{value:.6g}"


def _short(rate: float) -> str:
    for limit, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if rate >= limit:
            return f"{rate / limit:.1f} {letter}"
    return f"{rate:.0f}"

"""A scan as text: a table of the components, what is to be said of them, and the diagnosis."""

from __future__ import annotations

from collections.abc import Iterator

from fitdoctor.scan.outcome import ComponentReport, DataReport, ScanReport, SeenReport

MOST_ROWS = 200
"""Components that are shown."""
HEADS = ("", "type", "shape", "min", "max", "mean", "NaN", "Inf")


def draw(report: ScanReport) -> str:
    """The statistics as text; the findings are drawn by `fitdoctor.report`."""
    lines: list[str] = []
    for data in report.data:
        if lines:
            lines.append("")
        lines.extend(_data(data))
    if report.shared_rows is not None:
        lines.append("")
        lines.append(f"rows in training and in validation: {report.shared_rows:,}")
    return "\n".join(lines) + "\n"


def _data(data: DataReport) -> Iterator[str]:
    rate = data.rows / data.seconds if data.seconds else 0.0
    elements = f" in {data.elements:,} elements" if data.elements is not None else ""
    role = "" if data.role == "training" else f"{data.role}: "
    yield f"{role}{data.name}: {data.rows:,} rows{elements}, {data.seconds:.1f} s, {_short(rate)} rows/s{_end(data)}"
    shown = data.components[:MOST_ROWS]
    yield from _table([HEADS, *(_row(one) for one in shown)])
    if len(data.components) > len(shown):
        yield f"… and {len(data.components) - len(shown)} more"
    for one in shown:
        yield from _remarks(one)
    constant = [one.path for one in data.components if one.constant and data.rows > 1 and one.part == "x"]
    if constant and len(data.components) > 1:
        yield f"constant: {_listed(constant)}"
    for group in data.duplicate_columns[:20]:
        yield f"equal columns: {_listed(list(group))}"
    yield from data.remarks
    for problem in data.problems:
        at = f"element {problem.element}: " if problem.element is not None else ""
        yield f"problem: {at}{problem.what}"


def _end(data: DataReport) -> str:
    if data.interrupted:
        return "; interrupted, this is what is known so far"
    if data.expected is not None and not data.complete:
        return f"; of {data.expected:,}"
    return "" if data.complete else "; not all of it was read"


def _row(one: ComponentReport) -> tuple[str, ...]:
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
        yield f"{one.path}: the first value that is missing or not finite: {one.first_nonfinite}"
    if one.nonfinite_columns:
        counts = [f"{name} ({count:,})" for name, count in one.nonfinite_columns]
        yield f"{one.path}: not finite, by column: {_listed(counts, '')}"
    if len(one.shapes) > 1:
        yield f"{one.path}: shapes: " + "; ".join(_seen(seen) for seen in one.shapes)
    if len(one.types) > 1:
        yield f"{one.path}: types: " + "; ".join(_seen(seen) for seen in one.types)
    if one.labels is not None and one.part == "y":
        shown = ", ".join(f"{_value(value)}: {count:,}" for value, count in sorted(one.labels))
        more = f", … ({one.distinct} values)" if one.distinct and one.distinct > len(one.labels) else ""
        yield f"{one.path}: labels: {shown}{more}"
    if one.constant_columns:
        yield f"{one.path}: constant columns: {_listed(list(one.constant_columns), '')}"
    for group in one.duplicate_columns[:20]:
        yield f"{one.path}: equal columns: {_listed(list(group), '')}"


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


def _table(rows: list[tuple[str, ...]]) -> Iterator[str]:
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    for row in rows:
        cells = [
            cell.ljust(width) if i < 3 else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        yield "  ".join(cells).rstrip()

"""The way of the data through a call of fit as a table: what it is, its shape and type, where it lies and was made."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fitdoctor.report.paint import Line, cells, painted, printable
from fitdoctor.runner.way import way_of

if TYPE_CHECKING:
    from fitdoctor.cases import Call

HEAD = ("", "shape", "type", "device", "made at")


def trace_table(call: Call, *, color: bool = False) -> str:
    """The table as text, ended by a line break."""
    way = way_of(call)
    rows = [HEAD]
    for step in way.steps:
        rows.append(
            (
                printable(step.what),
                step.shape,
                step.dtype,
                step.device,
                str(step.location) if step.location else "",
            )
        )
    notes = ["", *(printable(step.note) for step in way.steps)]
    widths = [max(cells(row[column]) for row in rows) for column in range(4)]
    at = f" ({way.location})" if way.location is not None else ""
    lines: list[Line] = [[(f"the way of the data through `{way.method}`{at}", "strong")]]
    for row, note in zip(rows, notes, strict=True):
        line: Line = [("✗ " if note else "  ", "error" if note else "")]
        for text, column in zip(row[:4], widths, strict=True):
            line.append((f"{text}{' ' * (column - cells(text))}  ", "dim" if row is HEAD else ""))
        line.append((row[4], "dim"))
        lines.append(line)
        if note:
            lines.append([(f"    {note}", "error")])
    return painted(lines, color=color)

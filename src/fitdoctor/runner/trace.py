"""The data flow through `fit` as a table: each stage with its shape, dtype, device and the line that defines it."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator

from fitdoctor.diagnosis import WayStep
from fitdoctor.engine_inputs import Call
from fitdoctor.report.paint import Line, painted, printable, prose, table, terminal_width, unbroken, wrapped
from fitdoctor.runner.data_path import way_of

_MOST_LAYERS = 60
_HEAD = ("stage", "shape", "dtype", "device", "defined at")


def trace_table(call: Call, *, color: bool = False) -> str:
    """Return the table as text with a final newline; on a narrow terminal, a few lines per stage."""
    way, width = way_of(call), terminal_width(sys.stderr)
    at = f" ({way.location})" if way.location is not None else ""
    lines = list(wrapped(prose(f"data flow through `{way.method}`{at}", "strong"), width))
    rows = list(_rows(way.steps))
    laid = table([[[(name, "dim")] for name in _HEAD], *rows], width - 2)
    if laid is None:
        lines += _listed(rows, width)
    else:
        lines += ([("  ", ""), *line] for line in laid)
    for step in way.steps:
        if step.note:
            note: Line = [("✗ ", "error"), (f"{printable(step.what)}: {printable(step.note)}", "error")]
            lines += wrapped(note, width, [("  ", "")])
    return painted(lines, color=color)


def _rows(steps: Iterable[WayStep]) -> Iterator[list[Line]]:
    """A row for each stage; of a large model, only for its first layers."""
    layers = 0
    for step in steps:
        layer = step.stage == "model" and step.name not in ("", "model input", "model output")
        if layers > _MOST_LAYERS and not layer:
            yield [[(f"… {layers - _MOST_LAYERS} more layers", "")], [], [], [], []]
            layers = 0
        layers += layer
        if not layer or layers <= _MOST_LAYERS:
            yield _row(step)


def _row(step: WayStep) -> list[Line]:
    style = "error" if step.note else ""
    place = str(step.location) if step.location else ""
    return [
        [(printable(step.what), style)],
        [(unbroken(printable(step.shape)), style)],
        [(printable(step.dtype), "")],
        [(printable(step.device), "")],
        [(printable(place), "dim")],
    ]


def _listed(rows: list[list[Line]], width: int) -> list[Line]:
    lines: list[Line] = []
    for row in rows:
        name, *values = row
        rest: Line = [(text, style) for value in values for text, style in [*value, (" ", "")]]
        lines += wrapped([("  ", ""), *name], width, [("    ", "")])
        lines += wrapped([("    ", ""), *rest], width, [("    ", "")])
    return lines

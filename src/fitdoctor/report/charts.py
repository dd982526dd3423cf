"""Charts of a report as finished HTML and SVG: statistics with ranges, histograms of labels, and training curves."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence

from fitdoctor.catalogue.words import counted
from fitdoctor.data_statistics import ComponentReport
from fitdoctor.diagnosis import Training
from fitdoctor.report.card import escaped

_HEADS = ("", "dtype", "shape", "rows", "min", "mean", "max", "NaN", "Inf", "range")
_TEXTS = 3
"""How many of the columns hold text."""
_WIDTH, _HEIGHT, _LEFT, _RIGHT, _TOP, _BOTTOM = 420, 170, 52, 12, 10, 22
_MOST_POINTS = 40
"""A curve of more epochs has no marks on it."""


def statistics_table(components: Sequence[ComponentReport]) -> str:
    """A row for each component, its range as a bar on a scale that all features share."""
    if not components:
        return ""
    features = [one for one in components if one.part == "x"]
    scale, words = _scale(features)
    heads = "".join(
        f"<th{' class=fd-size' if _TEXTS <= index < len(_HEADS) - 1 else ''}>{head}</th>"
        for index, head in enumerate(_HEADS)
    )
    rows = "".join(_row(one, scale if one.part == "x" else None) for one in components)
    note = f'<div class="fd-dim">{escaped(words)}</div>' if words else ""
    return f'<div class="fd-wide"><table><tr>{heads}</tr>{rows}</table></div>{note}'


def _row(one: ComponentReport, scale: Callable[[float], float] | None) -> str:
    dtypes = ", ".join(seen.what for seen in one.types)
    shapes = one.shapes[0].what if one.shapes else ""
    if len(one.shapes) > 1:
        shapes += f" and {len(one.shapes) - 1} more"
    numbers = (
        f"{one.rows:,}",
        value_text(one.minimum),
        value_text(one.mean),
        value_text(one.maximum),
        f"{one.nan + one.missing:,}",
        f"{one.inf:,}",
    )
    if shapes == "(None,)":
        shapes = f"({one.rows},)"
    texts = f'<td>{_breakable(one.path)}</td><td>{escaped(dtypes)}</td><td class="fd-shape">{escaped(shapes)}</td>'
    return f"<tr>{texts}{''.join(f'<td class=fd-size>{text}</td>' for text in numbers)}<td>{_range(one, scale)}</td></tr>"


def _range(one: ComponentReport, scale: Callable[[float], float] | None) -> str:
    if scale is None or one.minimum is None or one.maximum is None:
        return ""
    if not (math.isfinite(one.minimum) and math.isfinite(one.maximum)):
        return ""
    left, right = scale(one.minimum), scale(one.maximum)
    mean = (
        f'<b style="left: {scale(one.mean):.1f}%"></b>'
        if one.mean is not None and math.isfinite(one.mean)
        else ""
    )
    said = f"{value_text(one.minimum)} to {value_text(one.maximum)}"
    return (
        f'<div class="fd-range" role="img" aria-label="{said}">'
        f'<i style="left: {left:.1f}%; width: {right - left:.1f}%"></i>{mean}</div>'
    )


def _scale(features: Sequence[ComponentReport]) -> tuple[Callable[[float], float] | None, str]:
    """From a value to percent of the width, linear or logarithmic on both sides of 0; and what the scale is."""
    pairs = [
        (one.minimum, one.maximum) for one in features if one.minimum is not None and one.maximum is not None
    ]
    bounds = [bound for pair in pairs for bound in pair if math.isfinite(bound)]
    if not any(bounds):
        return None, ""
    sizes = [max(map(abs, pair)) for pair in pairs if all(map(math.isfinite, pair))] or [0.0]
    wide = max(sizes) > 20 * max(min(sizes), 1e-12)

    def moved(value: float) -> float:
        return math.copysign(math.log10(1 + abs(value)), value) if wide else value

    low, high = min(0.0, *map(moved, bounds)), max(0.0, *map(moved, bounds))
    span = (high - low) or 1.0
    kind = "logarithmic" if wide else "linear"
    words = f"ranges: {value_text(min(0.0, *bounds))} to {value_text(max(0.0, *bounds))}, {kind}; the mark is the mean"
    return lambda value: 100 * (moved(value) - low) / span, words


def histogram(one: ComponentReport) -> str:
    """The labels of a component with their counts; "" if it has none."""
    if not one.labels:
        return ""
    most = max(count for _value, count in one.labels)
    # A row can have several labels.
    every = max(one.rows, sum(count for _value, count in one.labels))
    rows = "".join(
        f"<tr><td class=fd-size>{value_text(value)}</td><td class=fd-size>{count:,}</td>"
        f"<td class=fd-size>{count / every:.1%}</td>"
        f'<td class="fd-bar"><div style="width: {100 * count / most:.1f}%"></div></td></tr>'
        for value, count in sorted(one.labels)
    )
    hidden = (one.distinct or 0) - len(one.labels)
    more = f"; the {len(one.labels)} most frequent of {one.distinct:,} values" if hidden > 0 else ""
    return (
        f'<div class="fd-chart"><h3>Labels <code>{escaped(one.path)}</code></h3>'
        f'<div class="fd-dim">{counted(one.rows, "row")}{more}</div>'
        f'<table class="fd-histogram">{rows}</table></div>'
    )


def curves(training: Training) -> str:
    """A chart for each metric, with its validation curve."""
    history = dict(training.history)
    names = [name for name in history if not (name.startswith("val_") and name[4:] in history)]
    names.sort(key=lambda name: name != "loss")
    charts = "".join(_curve(name, history[name], history.get(f"val_{name}", ())) for name in names)
    return f'<div class="fd-charts">{charts}</div>'


def _curve(name: str, values: Sequence[float], validation: Sequence[float]) -> str:
    finite = [value for value in (*values, *validation) if math.isfinite(value)]
    if not finite:
        return (
            f'<div class="fd-chart"><h3><code>{escaped(name)}</code></h3>'
            f'<div class="fd-broken">NaN or Inf in every epoch</div></div>'
        )
    low, high = min(finite), max(finite)
    if low == high:
        margin = max(0.5, abs(low) / 100)
        low, high = low - margin, high + margin
    epochs = max(len(values), len(validation))

    def point(index: int, value: float) -> tuple[float, float]:
        x = _LEFT + (_WIDTH - _LEFT - _RIGHT) * (index / max(epochs - 1, 1) if epochs > 1 else 0.5)
        return x, _TOP + (_HEIGHT - _TOP - _BOTTOM) * (1 - (value - low) / ((high - low) or 1.0))

    shapes = [
        f'<line x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{y}" y2="{y}" class="fd-axis"/>'
        for y in (_TOP, _HEIGHT - _BOTTOM)
    ]
    shapes += [
        f'<text x="{_LEFT - 6}" y="{y + 4}" text-anchor="end">{value_text(value, 4)}</text>'
        for y, value in ((_TOP, high), (_HEIGHT - _BOTTOM, low))
    ]
    shapes.append(f'<text x="{_LEFT}" y="{_HEIGHT - 4}">epoch 1</text>')
    if epochs > 1:
        shapes.append(f'<text x="{_WIDTH - _RIGHT}" y="{_HEIGHT - 4}" text-anchor="end">{epochs:,}</text>')
    for series, kind in ((values, "fd-training"), (validation, "fd-validation")):
        shapes += _line([point(i, v) if math.isfinite(v) else None for i, v in enumerate(series)], kind)
    last = [f'<span class="fd-key" style="background: var(--fd-info)"></span> {value_text(values[-1], 4)}']
    if validation:
        last.append(
            f'<span class="fd-key" style="background: var(--fd-warning)"></span> validation {value_text(validation[-1], 4)}'
        )
    lost = next((index for index, value in enumerate(values) if not math.isfinite(value)), None)
    broken = f'<div class="fd-broken">not finite from epoch {lost + 1}</div>' if lost is not None else ""
    return (
        f'<div class="fd-chart"><h3><code>{escaped(name)}</code></h3>'
        f'<svg class="fd-plot" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" '
        f'aria-label="{escaped(name)} over {counted(epochs, "epoch")}">{"".join(shapes)}</svg>'
        f'<div class="fd-dim">{" ".join(last)}</div>{broken}</div>'
    )


def _line(points: Sequence[tuple[float, float] | None], kind: str) -> list[str]:
    """The pieces of a curve that a value which is not finite interrupts."""
    pieces: list[list[tuple[float, float]]] = [[]]
    for point in points:
        if point is None:
            pieces.append([])
        else:
            pieces[-1].append(point)
    shapes = [
        f'<polyline points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in piece)}" class="fd-curve {kind}"/>'
        for piece in pieces
        if len(piece) > 1
    ]
    if len(points) <= _MOST_POINTS:
        shapes += [
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.5" class="{kind}"/>'
            for piece in pieces
            for x, y in piece
        ]
    return shapes


def value_text(value: float | None, digits: int = 6) -> str:
    """A number for a table: `-` if there is none, integers without a fraction."""
    if value is None:
        return "-"
    if not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Inf" if value > 0 else "-Inf"
    if value == int(value) and abs(value) < 1e15:
        return f"{int(value):,}"
    return f"{value:.{digits}g}"


def _breakable(name: str) -> str:
    """A name that may break after an underscore, a slash or a dot."""
    return re.sub(r"([_/.])(?=\w)", r"\1<wbr>", escaped(name))

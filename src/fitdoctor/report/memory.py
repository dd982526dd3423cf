"""A prediction of memory as text, JSON and a page with a picture of the memory over the step."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fitdoctor import __version__
from fitdoctor.facts import Unknown
from fitdoctor.memory.prediction import KINDS, Prediction, Share
from fitdoctor.optional_packages import require
from fitdoctor.report import RenderError

FORMATS = ("text", "json", "html")


def render_memory(prediction: Prediction, fmt: str = "text", *, width: int = 100) -> str:
    """Draw a prediction in one of `FORMATS`; the result ends with a line break.

    Raises:
        RenderError: the format is unknown, or a package that it needs is missing.
    """
    if fmt == "text":
        return _text(prediction, width)
    if fmt == "json":
        return _json(prediction)
    if fmt == "html":
        return _html(prediction)
    raise RenderError(f"unknown format `{fmt}`: choose one of {', '.join(FORMATS)}")


def in_words(size: int) -> str:
    """Bytes as people read them: `1.5 GiB`, `320 MiB`."""
    for unit, bytes_ in (("TiB", 2**40), ("GiB", 2**30), ("MiB", 2**20)):
        if abs(size) >= bytes_ or unit == "MiB" and abs(size) >= 2**18:
            value = size / bytes_
            return f"{value:.0f} {unit}" if abs(value) >= 100 else f"{value:.1f} {unit}"
    return f"{size / 1024:.0f} KiB"


def verdict(prediction: Prediction) -> str:
    """One sentence: whether it fits."""
    need = in_words(prediction.needed)
    limit = prediction.limit
    if isinstance(limit, Unknown):
        return f"a step with a batch of {prediction.batch_size} needs {need}"
    there = f"{in_words(limit.free)} of {in_words(limit.total)} are free on {limit.name}"
    if limit.name == "what you gave":
        there = f"{in_words(limit.free)} are given"
    words = "fits" if prediction.fits else "does not fit"
    return f"a batch of {prediction.batch_size} {words}: training needs {need}, {there}"


def _largest(prediction: Prediction) -> str:
    largest = prediction.largest_batch
    if isinstance(largest, Unknown):
        return f"not known: {largest.reason}"
    if largest == 0:
        return "none: not even one sample fits"
    return (
        f"{largest:,} (10 % of what is free is left)".replace(",", " ")
        if largest < 2**24
        else "more than 16 million"
    )


# --- text ---------------------------------------------------------------------------------------------------------


def _text(prediction: Prediction, width: int) -> str:
    lines = [f"{verdict(prediction)}", ""]
    lines += _rows("at the peak", [(KINDS.get(s.name, s.name), s.bytes) for s in prediction.kinds], width)
    if prediction.stage:
        when = {"forward": "forward pass", "backward": "backward pass", "update": "update of the weights"}
        lines.append(f"  the peak is in the {when.get(prediction.stage, prediction.stage)}")
    if prediction.layers:
        lines.append("")
        lines += _rows("the largest layers", [(f"`{s.name}`", s.bytes) for s in prediction.layers], width)
    lines += ["", f"largest batch that fits: {_largest(prediction)}"]
    if prediction.remedies:
        lines += ["", "what would help:"]
        lines += [f"  {in_words(each.peak):>9}  {each.title}" for each in prediction.remedies]
    lines += [f"note: {note}" for note in prediction.notes]
    return "\n".join(lines) + "\n"


def _rows(title: str, rows: Sequence[tuple[str, int]], width: int) -> list[str]:
    most = max((size for _name, size in rows), default=1) or 1
    names = max((len(name) for name, _size in rows), default=0)
    room = max(8, min(40, width - names - 16))
    lines = [f"{title}: {in_words(sum(size for _name, size in rows))}"]
    for name, size in rows:
        bar = "█" * round(room * size / most)
        lines.append(f"  {name:<{names}}  {in_words(size):>9}  {bar}".rstrip())
    return lines


# --- JSON ---------------------------------------------------------------------------------------------------------


def _json(prediction: Prediction) -> str:
    from fitdoctor.plain import to_plain

    plain = to_plain(prediction)
    plain["fits"] = prediction.fits
    plain["points"] = [[stage, size] for stage, size in prediction.points]
    document = {
        "schema_version": 1,
        "tool": {"name": "fitdoctor", "version": __version__},
        "memory": plain,
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


# --- HTML ---------------------------------------------------------------------------------------------------------

_WIDTH, _HEIGHT = 880, 260
_STAGES = ("forward", "backward", "update")


def _html(prediction: Prediction) -> str:
    jinja2 = require("jinja2", "HTML output")
    # Always on: the page shows the user's names.
    environment = jinja2.Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    template = environment.from_string((Path(__file__).parent / "memory.html.jinja").read_text("utf-8"))
    page: str = template.render(
        prediction=prediction,
        verdict=verdict(prediction),
        largest=_largest(prediction),
        kinds=_bars([Share(KINDS.get(s.name, s.name), s.bytes) for s in prediction.kinds]),
        layers=_bars(prediction.layers),
        remedies=[(in_words(each.peak), each.title) for each in prediction.remedies],
        picture=picture(prediction),
        version=__version__,
    )
    return page.encode("utf-8", "replace").decode("utf-8") + "\n"


def _bars(shares: Sequence[Share]) -> list[tuple[str, str, float]]:
    most = max((share.bytes for share in shares), default=1) or 1
    return [(share.name, in_words(share.bytes), 100 * share.bytes / most) for share in shares]


def picture(prediction: Prediction) -> dict[str, Any] | None:
    """The memory over the step as areas by stage, in the coordinates of the drawing."""
    free = None
    if not isinstance(prediction.limit, Unknown):
        # The picture is of tensors: what the process needs besides them is not free for them.
        free = max(0, prediction.limit.free - max(0, prediction.needed - prediction.peak))
    return drawn(prediction.points, free, prediction.peak)


def drawn(points: Sequence[tuple[str, int]], free: int | None, peak: int) -> dict[str, Any] | None:
    """Areas by stage and a line for what is free; None where there is nothing to draw.

    Args:
        points: (stage, bytes) over the step.
        free: bytes that there are.
        peak: what to write at the highest point.
    """
    if len(points) < 2:
        return None
    top = max(size for _stage, size in points) or 1
    line = None
    if free is not None and free < 1.3 * top:
        top = max(top, round(1.1 * free))
        line = round(_HEIGHT * (1 - free / top), 1)
    step = _WIDTH / (len(points) - 1)
    places = [
        (round(step * i, 1), round(_HEIGHT * (1 - size / top), 1)) for i, (_s, size) in enumerate(points)
    ]
    areas = []
    start = 0
    for index in range(1, len(points) + 1):
        if index == len(points) or points[index][0] != points[start][0]:
            stretch = places[start : min(index + 1, len(points))]
            path = " ".join(f"{x},{y}" for x, y in stretch)
            areas.append((points[start][0], f"{stretch[0][0]},{_HEIGHT} {path} {stretch[-1][0]},{_HEIGHT}"))
            start = index
    highest = min(range(len(places)), key=lambda index: places[index][1])
    return {
        "width": _WIDTH,
        "height": _HEIGHT,
        "areas": areas,
        "peak": places[highest],
        "label": in_words(peak),
        "limit": line,
        "stages": [stage for stage in _STAGES if any(name == stage for name, _path in areas)],
    }

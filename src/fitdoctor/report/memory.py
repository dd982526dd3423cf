"""Renders a memory prediction as text, as JSON, and as an HTML page with a picture of memory over the step."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from fitdoctor import __version__
from fitdoctor.diagnosis import Invocation
from fitdoctor.facts import Unknown
from fitdoctor.memory.prediction import KINDS, Prediction
from fitdoctor.report import RenderError
from fitdoctor.tables import paragraph, table

FORMATS = ("text", "json", "html")


def render_memory(
    prediction: Prediction,
    fmt: str = "text",
    *,
    width: int = 100,
    invocation: Invocation | None = None,
) -> str:
    """Render a prediction in one of `FORMATS`; the result ends with a newline.

    Args:
        prediction: what a step needs.
        fmt: the format.
        width: columns of text.
        invocation: what was asked, and when, for the head of a page.

    Raises:
        RenderError: the format is unknown.
    """
    if fmt == "text":
        return text(prediction, width)
    if fmt == "json":
        return _json(prediction)
    if fmt == "html":
        return _html(prediction, invocation)
    raise RenderError(f"unknown format `{fmt}`: choose one of {', '.join(FORMATS)}")


def in_words(size: int) -> str:
    """A number of bytes with its unit: `1.5 GiB`, `320 MiB`."""
    for unit, bytes_ in (("TiB", 2**40), ("GiB", 2**30), ("MiB", 2**20)):
        if abs(size) >= bytes_ or unit == "MiB" and abs(size) >= 2**18:
            value = size / bytes_
            return f"{value:.0f} {unit}" if abs(value) >= 100 else f"{value:.1f} {unit}"
    return f"{size / 1024:.0f} KiB"


def verdict(prediction: Prediction) -> str:
    """One sentence that says whether the batch fits."""
    need = in_words(prediction.needed)
    batch = f"a batch size of {prediction.batch_size:,}"
    limit = prediction.limit
    if isinstance(limit, Unknown):
        return f"{batch} needs {need}"
    there = f"{limit.name} has {in_words(limit.free)} free of {in_words(limit.total)}"
    if limit.name == "what you gave":
        there = f"{in_words(limit.free)} is available"
    words = "fits" if prediction.fits else "does not fit"
    return f"{batch} {words}: training needs {need}, {there}"


def largest_batch(prediction: Prediction) -> str:
    """The largest batch size that fits, in words."""
    largest = prediction.largest_batch
    if isinstance(largest, Unknown):
        return f"unknown: {largest.reason}"
    if largest == 0:
        return "none; not even one sample fits"
    return f"{largest:,} (keeps 10% of free memory in reserve)" if largest < 2**24 else "more than 16 million"


# --- text ---------------------------------------------------------------------------------------------------------

_STAGE_NAMES = {"forward": "forward pass", "backward": "backward pass", "update": "weight update"}


def text(prediction: Prediction, width: int = 100, color: bool = False) -> str:
    """The text that `fitdoctor memory` prints, with a final newline."""
    first, *rest = paragraph(verdict(prediction), width)
    if color:
        first = f"\x1b[1;{31 if prediction.fits is False else 32}m{first}\x1b[0m"
    lines = [first, *rest, ""]
    lines += _bar_chart(
        "tensors at the peak", [(KINDS.get(s.name, s.name), s.bytes) for s in prediction.kinds], width
    )
    if prediction.stage:
        lines.append(f"  reached in the {_STAGE_NAMES.get(prediction.stage, prediction.stage)}")
    if prediction.layers:
        lines += ["", *_bar_chart("largest layers", [(s.name, s.bytes) for s in prediction.layers], width)]
    lines += [
        "",
        *paragraph(f"largest batch size that fits: {largest_batch(prediction)}", width, indent="  "),
    ]
    if prediction.remedies:
        lines += ["", "ways to need less memory, and the need with each:"]
        rows = [(in_words(each.peak), each.title) for each in prediction.remedies]
        lines += table(rows, width, right=(0,), wrap=1, indent=2)
    for note in prediction.notes:
        lines += paragraph(f"note: {note}", width, indent="  ")
    return "\n".join(lines) + "\n"


def _bar_chart(title: str, rows: Sequence[tuple[str, int]], width: int) -> list[str]:
    most = max((size for _name, size in rows), default=1) or 1
    room = min(40, max(8, width - 2 - max((len(name) for name, _size in rows), default=0) - 13))
    cells = [(name, in_words(size), "█" * round(room * size / most)) for name, size in rows]
    total = in_words(sum(size for _name, size in rows))
    if width < 2 + 16 + 13 + room:
        cells = [(name, size, "") for name, size, _bar in cells]
    return [f"{title}: {total}", *table(cells, width, right=(1,), indent=2)]


# --- JSON ---------------------------------------------------------------------------------------------------------


def _json(prediction: Prediction) -> str:
    from fitdoctor.json_codec import to_plain

    plain = to_plain(prediction)
    plain["fits"] = prediction.fits
    plain["points"] = [[stage, size] for stage, size in prediction.points]
    document = {"schema_version": 1, "tool": {"name": "fitdoctor", "version": __version__}, "memory": plain}
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


# --- HTML ---------------------------------------------------------------------------------------------------------

_WIDTH, _HEIGHT = 880, 260
_STAGES = ("forward", "backward", "update")


def _html(prediction: Prediction, invocation: Invocation | None) -> str:
    from fitdoctor.report.card import badge, bare_frame
    from fitdoctor.report.html import head, page, title
    from fitdoctor.report.memory_card import FIT, memory_parts

    body, tone = memory_parts(prediction)
    word = FIT[prediction.fits]
    top = head(invocation, badge(word, tone), tone) if invocation is not None else ""
    shown = title(invocation, word) if invocation else f"memory of {prediction.model} (fitdoctor)"
    return page(shown, top + bare_frame(body, tone))


def picture(prediction: Prediction) -> dict[str, Any] | None:
    """Memory over the step as one area per stage, in the coordinates of the drawing."""
    free = None
    if not isinstance(prediction.limit, Unknown):
        # The picture shows tensors only: memory that the process needs besides them is not free for them.
        free = max(0, prediction.limit.free - max(0, prediction.needed - prediction.peak))
    return drawn(prediction.points, free, prediction.peak)


def drawn(points: Sequence[tuple[str, int]], free: int | None, peak: int) -> dict[str, Any] | None:
    """One area per stage and a line for the free memory; None if there is nothing to draw.

    Args:
        points: (stage, bytes) over the step.
        free: free bytes, if known.
        peak: bytes to print at the highest point.
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
    areas, names = [], []
    for stage, start, end in phases([stage for stage, _size in points]):
        stretch = places[start : end + 1]
        path = " ".join(f"{x},{y}" for x, y in stretch)
        areas.append((stage, f"{stretch[0][0]},{_HEIGHT} {path} {stretch[-1][0]},{_HEIGHT}"))
        updates = sum(name == "update" for name, _size in points[start:end])
        mixed = stage == "backward" and updates > _MIXED * (end - start)
        label = _STAGE_NAMES[stage] + (" with weight updates" if mixed else "")
        names.append((stage, label, stretch[0][0], stretch[-1][0]))
    highest = min(range(len(places)), key=lambda index: places[index][1])
    return {
        "width": _WIDTH,
        "height": _HEIGHT,
        "areas": areas,
        "phases": names,
        "peak": places[highest],
        "label": in_words(peak),
        "limit": line,
    }


_MIXED = 0.1
"""From this share of updates on, the backward pass is said to hold them."""


def phases(stages: Sequence[str]) -> list[tuple[str, int, int]]:
    """The step cut into forward pass, backward pass and update where that fits most points: (stage, start, end).

    TensorFlow's executor runs what is ready, so that single operations of one stage fall into another.
    """
    cut = [0, 0]
    best: list[tuple[int, list[int]]] = [(0, cut)] * 3
    for index, stage in enumerate(stages):
        ahead: list[tuple[int, list[int]]] = []
        for number, name in enumerate(_STAGES):
            # Either the phase goes on, or it begins here after an earlier one.
            wrong, starts = best[number]
            for earlier in range(number):
                if best[earlier][0] < wrong:
                    wrong = best[earlier][0]
                    starts = [
                        *best[earlier][1][:earlier],
                        *[index] * (number - earlier),
                        *best[earlier][1][number:],
                    ]
            ahead.append((wrong + (stage != name), starts))
        best = ahead
    number = min(range(3), key=lambda each: best[each][0])
    starts = best[number][1]
    ends = [0, *starts[:number], *[len(stages)] * (3 - number)]
    found = [(_STAGES[i], ends[i], ends[i + 1]) for i in range(3) if ends[i] < ends[i + 1]]
    # Each reaches to the first point of the next.
    return [
        (stage, start, min(end, len(stages) - 1)) for stage, start, end in found if start < len(stages) - 1
    ]

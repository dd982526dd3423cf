"""A memory prediction as a card in a notebook."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fitdoctor.memory.prediction import KINDS, Prediction, Share
from fitdoctor.report.card import badge, escaped, framed, sentence
from fitdoctor.report.memory import in_words, largest_batch, picture, verdict

FIT = {True: "fits", False: "does not fit", None: "memory"}
"""The verdict in a word, by whether it fits."""
_FILLS = {"forward": "info", "backward": "warning", "update": "good"}


def memory_card(prediction: Prediction) -> str:
    """The HTML of a prediction: whether it fits, the memory over the step, and its largest parts."""
    return framed(*memory_parts(prediction))


def memory_parts(prediction: Prediction) -> tuple[str, str]:
    """The same without its frame, and the colour of the frame's edge."""
    tone = {True: "good", False: "error", None: ""}[prediction.fits]
    word = FIT[prediction.fits]
    model = f'<span class="fd-place">{escaped(prediction.model)}</span>'
    head = f'<div class="fd-head">{badge(word, tone)} {model}</div>'
    message = f'<div class="fd-message">{sentence(verdict(prediction))}</div>'
    batch = f"<div>largest batch size that fits: {escaped(largest_batch(prediction))}</div>"
    parts = [f'<div class="fd-part">{head}{message}{batch}{drawing(picture(prediction))}</div>']
    kinds = [Share(KINDS.get(share.name, share.name), share.bytes) for share in prediction.kinds]
    parts += [
        _shares("At the peak, by kind", kinds, unfolded=True),
        _shares("At the peak, largest layers", prediction.layers),
    ]
    if prediction.remedies:
        rows = "".join(
            f'<tr><td class="fd-size">{in_words(each.peak)}</td><td>{sentence(each.title)}</td></tr>'
            for each in prediction.remedies
        )
        parts.append(_folded("Ways to need less memory, and the need with each", f"<table>{rows}</table>"))
    parts += [f'<div class="fd-more fd-part fd-dim">{sentence(note)}</div>' for note in prediction.notes]
    return "".join(parts), tone


def _shares(title: str, shares: Sequence[Share], *, unfolded: bool = False) -> str:
    if not shares:
        return ""
    most = max(share.bytes for share in shares) or 1
    rows = "".join(
        f'<tr><td>{escaped(share.name)}</td><td class="fd-size">{in_words(share.bytes)}</td>'
        f'<td class="fd-bar"><div style="width: {100 * share.bytes / most:.1f}%"></div></td></tr>'
        for share in shares
    )
    return _folded(title, f"<table>{rows}</table>", unfolded=unfolded)


def _folded(title: str, body: str, *, unfolded: bool = False) -> str:
    summary = f"<summary>{escaped(title)}</summary>"
    return f'<details class="fd-more"{" open" if unfolded else ""}>{summary}<div class="fd-part">{body}</div></details>'


def drawing(drawn: dict[str, Any] | None) -> str:
    """The memory of tensors over the step, one area per phase; "" if there is nothing to draw."""
    if drawn is None:
        return ""
    width, height = drawn["width"], drawn["height"]
    shapes = [
        f'<polygon points="{path}" style="fill: var(--fd-{_FILLS[stage]}); opacity: .75"/>'
        for stage, path in drawn["areas"]
    ]
    if drawn["limit"] is not None:
        y = drawn["limit"]
        shapes.append(
            f'<line x1="0" x2="{width}" y1="{y}" y2="{y}" stroke-dasharray="6 4" class="fd-limit"/>'
        )
        shapes.append(f'<text x="4" y="{y - 4}">free for tensors</text>')
    x, y = drawn["peak"]
    shapes.append(f'<circle cx="{x}" cy="{y}" r="4" class="fd-limit"/>')
    shapes.append(f'<text x="{min(x, width - 90)}" y="{y - 8}">{escaped(drawn["label"])}</text>')
    for _stage, label, left, right in drawn["phases"]:
        shapes.append(f'<line x1="{right}" x2="{right}" y1="0" y2="{height}" class="fd-phase"/>')
        # A phase that is too short for its name has it below the picture.
        if right - left > 8 * len(label):
            at = f'x="{(left + right) / 2:.1f}" y="{height + 16}" text-anchor="middle"'
            shapes.append(f'<text {at} class="fd-phase-name">{label}</text>')
    keys = " ".join(
        f'<span class="fd-key" style="background: var(--fd-{_FILLS[stage]})"></span> {label}'
        for stage, label, _left, _right in drawn["phases"]
    )
    box = f"0 -36 {width} {height + 60}"
    return (
        f'<svg class="fd-memory" viewBox="{box}" role="img" aria-label="bytes of tensors in use over one training step">'
        f'{"".join(shapes)}</svg><div class="fd-dim">{keys}</div>'
    )

"""Shows a diagnosis below the running cell: as a card if the frontend renders HTML, else as text on standard error."""

from __future__ import annotations

import io
import sys
from typing import Any

from fitdoctor.diagnosis import Diagnosis
from fitdoctor.source.running_notebook import shell

_front_end: Any = None
"""The publisher that the running cell began with; `%%capture` replaces it until the cell has ended."""
_held: list[dict[str, str]] = []
"""Cards that `%%capture` would have swallowed."""


def draws_html() -> bool:
    """Whether this process is a notebook kernel; IPython in a terminal is not."""
    return getattr(shell(), "kernel", None) is not None


def show(diagnosis: Diagnosis, note: str = "") -> None:
    """Show a diagnosis.

    Args:
        diagnosis: the diagnosis.
        note: a remark to show below it.
    """
    if draws_html() and _published(bundle(diagnosis, note)):
        return
    from fitdoctor.report import render
    from fitdoctor.report.paint import shows_links, terminal_width, wants_color

    text = render(
        diagnosis,
        color=wants_color("auto", sys.stderr),
        width=terminal_width(sys.stderr),
        links=shows_links(sys.stderr),
        full=len(diagnosis.findings),
    )
    write(text + (f"{note}\n" if note else ""))


def bundle(diagnosis: Diagnosis, note: str = "") -> dict[str, str]:
    """Return the card with its remark, and the same as text."""
    from fitdoctor.report.card import card

    text = f"{diagnosis}\n{note}" if note else str(diagnosis)
    return {"text/html": card(diagnosis, note), "text/plain": text}


def _published(data: dict[str, str]) -> bool:
    try:
        publisher: Any = shell().display_pub
        if _front_end not in (None, publisher):
            _held.append(data)
        else:
            publisher.publish(data)
    # A border: a front end that is gone, or a publisher of somebody else's, must not end the user's cell.
    except Exception:
        return False
    return True


def cell_starts() -> None:
    """Note where the front end of the notebook is."""
    global _front_end
    _front_end = shell().display_pub


def cell_ended() -> None:
    """Show the cards that were published while the cell captured its output."""
    global _front_end
    _front_end = None
    while _held:
        _published(_held.pop(0))


def write(text: str) -> None:
    """Write to standard error, if there is one.

    Text that a program captures (`%%capture`, `redirect_stderr`) is its own: ours goes past it, to where a person reads it.
    """
    stream = sys.__stderr__ if isinstance(sys.stderr, io.StringIO) else sys.stderr
    if stream is None:
        return
    try:
        stream.write(text)
        stream.flush()
    except (OSError, ValueError):  # closed by the program, or a pipe that nobody reads
        return

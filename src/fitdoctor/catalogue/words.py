"""How shapes, counts and places are put into words."""

from __future__ import annotations

from collections.abc import Iterable

from fitdoctor.diagnosis import Location
from fitdoctor.facts import CALLS, Code, FitFacts, Shape, Unknown


def shape_words(shape: Shape | Unknown) -> str:
    """A shape as Python writes it: `(None, 28, 28)`."""
    if isinstance(shape, Unknown):
        return "unknown"
    return str(tuple(shape))


def number(value: float) -> str:
    """A number without a needless fraction: `10`, `0.5`, `1e+06`."""
    return str(int(value)) if float(value).is_integer() and abs(value) < 1e15 else f"{value:.4g}"


def listing(words: Iterable[str], most: int = 5) -> str:
    """`a`, `b` and `c`; the rest is counted."""
    quoted = [f"`{word}`" for word in words]
    if len(quoted) > most:
        return ", ".join(quoted[:most]) + f" and {len(quoted) - most} more"
    if len(quoted) <= 1:
        return "".join(quoted)
    return ", ".join(quoted[:-1]) + f" and {quoted[-1]}"


def argument_words(path: str, fit: FitFacts | Unknown) -> str:
    """What is wrong in a call: an argument of fit, or what a loop of the user's own calls the model on."""
    by_hand = isinstance(fit, FitFacts) and fit.method in CALLS
    return "argument of the model" if by_hand else f"argument {path} of fit"


def place(*pieces: Code | Location | Unknown | None) -> Location | None:
    """The location of the first piece that is known."""
    for piece in pieces:
        if isinstance(piece, Location):
            return piece
        if isinstance(piece, Code):
            return piece.location
    return None

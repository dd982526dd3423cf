"""Put shapes, counts and places into words."""

from __future__ import annotations

from collections.abc import Iterable

from fitdoctor.diagnosis import Location
from fitdoctor.facts import CALLS, Code, FitFacts, Shape, Unknown


def shape_words(shape: Shape | Unknown) -> str:
    """Return a shape as Python writes it: `(None, 28, 28)`."""
    if isinstance(shape, Unknown):
        return "unknown"
    return str(tuple(shape))


def number(value: float) -> str:
    """Return a number without a trailing `.0`, as Python would read it: `10`, `0.5`, `1.5e+16`."""
    return str(int(value)) if float(value).is_integer() and abs(value) < 1e15 else f"{value:.4g}"


def counted(count: int, noun: str, plural: str = "") -> str:
    """Return a count with its noun, singular or plural: `1 sample`, `60,000 samples`."""
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"


def listing(words: Iterable[str], most: int = 5) -> str:
    """Return the words in backticks, joined: "`a`, `b` and `c`"; after `most` of them, "and 3 more"."""
    quoted = [f"`{word}`" for word in words]
    if len(quoted) > most:
        return ", ".join(quoted[:most]) + f" and {len(quoted) - most} more"
    return joined(quoted)


def joined(phrases: list[str]) -> str:
    """Return the phrases as an enumeration: "a, b and c"."""
    return " and ".join(filter(None, (", ".join(phrases[:-1]), *phrases[-1:])))


def argument_words(path: str, fit: FitFacts | Unknown) -> str:
    """Return the subject of a finding: an argument of `fit`, or of the model when the user's own loop calls it."""
    method = fit.method if isinstance(fit, FitFacts) else "fit"
    if method in CALLS:
        return "argument of the model"
    return f"argument {path} of {method if method.startswith(('evaluate', 'predict')) else 'fit'}"


def place(*pieces: Code | Location | Unknown | None) -> Location | None:
    """Return the location of the first known piece."""
    for piece in pieces:
        if isinstance(piece, Location):
            return piece
        if isinstance(piece, Code):
            return piece.location
    return None

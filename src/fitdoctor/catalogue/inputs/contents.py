"""Classify the elements of an array: numbers, strings or mixed objects."""

from __future__ import annotations

import re
from collections.abc import Iterator

from fitdoctor.facts import ArrayFacts, DataFacts, Unknown

TEXT = frozenset({"str", "bytes", "string"})
NUMBERS = frozenset(
    {"int", "float", "bool", "Decimal", "Fraction", "float32", "int32", "NaN", "int16", "uint8"}
)
_PLAIN = re.compile(r"(?:u?int|float|bfloat)\d+|bool|complex\d+")
_KIND = re.compile(r"(?P<name>[\w.]+)(?: of (?P<low>\d+)(?:\.\.(?P<high>\d+))?)?")


def arrays_of(data: DataFacts) -> Iterator[ArrayFacts]:
    """Return every component of x, y and the sample weights."""
    yield from data.x
    yield from data.y
    yield from data.sample_weight


def kinds(array: ArrayFacts) -> dict[str, tuple[int, int] | None]:
    """Return the types of the elements of an object array, with the lengths of those that have one."""
    found: dict[str, tuple[int, int] | None] = {}
    for column in array.columns:
        for word in column.holds.split(", ") if column.holds else ():
            match = _KIND.fullmatch(word)
            if match is None:
                continue
            low, high = match["low"], match["high"] or match["low"]
            found[match["name"]] = (int(low), int(high)) if low else None
    return found


def is_text(array: ArrayFacts) -> bool:
    """Whether all elements are strings."""
    dtype = array.dtype if isinstance(array.dtype, str) else ""
    if dtype in TEXT or dtype.startswith(("bytes", "<U", "|S")):
        return True
    if dtype not in ("object", "category") or not array.columns:
        return False
    return all(
        column.dtype in TEXT or (bool(column.holds) and set(column.holds.split(", ")) <= TEXT)
        for column in array.columns
    )


def is_refused(array: ArrayFacts) -> bool:
    """Whether the type is one that TensorFlow has no tensor for, and not text."""
    if isinstance(array.dtype, Unknown) or array.container in ("list", "tuple"):
        return False
    return not _PLAIN.fullmatch(array.dtype) and not is_text(array)

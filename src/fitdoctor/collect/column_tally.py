"""Columns of a table: how many of their values are not finite, which are constant, and which are identical.

Both are decided by exclusion: every column starts as constant and as equal to all others, and each part of the data
rules some out. What remains in both of two parts remains, so parts can be merged in any order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

MOST_COLUMNS = 4096
"""Rows with more columns are not a table."""
HEAD = 64


@dataclass
class ColumnTally:
    """The statistics of the columns so far."""

    width: int
    rows: int = 0
    """Rows that were compared."""
    nonfinite: Counter[int] = field(default_factory=Counter)
    """Values that are NaN or Inf, by column."""
    constant: dict[int, bytes] = field(default_factory=dict)
    """Columns with a single value, and its bytes; meaningful only if there are rows."""
    alike: tuple[tuple[int, ...], ...] = ()
    """Groups of columns with identical values."""

    def compare(self, bits: Any) -> None:
        """Add rows as unsigned integers, so that NaN equals NaN and 0 differs from -0."""
        rows = len(bits)
        if self.rows and not self.constant and not self.alike:
            self.rows += rows
        if not rows or self.rows and not self.constant and not self.alike:
            return

        first = not self.rows
        self.rows += rows
        # Most columns differ within the first rows: what is left after those is looked at whole.
        for part in (bits[:HEAD], bits)[: 1 + (rows > HEAD)]:
            if first:
                self._begin(part)
            else:
                self._strike_out(part)
            first = False

    def _begin(self, bits: Any) -> None:
        import numpy as np

        self.constant = {int(i): bits[0, i].tobytes() for i in np.flatnonzero((bits == bits[0]).all(axis=0))}
        self.alike = _groups(range(self.width), np.ascontiguousarray(bits.T))

    def _strike_out(self, bits: Any) -> None:
        self.constant = {
            index: value
            for index, value in self.constant.items()
            if value == bits[0, index].tobytes() and bool((bits[:, index] == bits[0, index]).all())
        }
        self.alike = tuple(
            group for one in self.alike for group in _groups(one, {index: bits[:, index] for index in one})
        )


def _groups(columns: Iterable[int], values: Any) -> tuple[tuple[int, ...], ...]:
    """Return groups of identical columns, without single ones."""
    found: dict[bytes, list[int]] = {}
    for index in columns:
        found.setdefault(values[index].tobytes(), []).append(index)
    return tuple(tuple(group) for group in found.values() if len(group) > 1)


def merged_columns(one: ColumnTally | None, other: ColumnTally | None) -> ColumnTally | None:
    """Return what holds in both parts; None if one is not a table, or they differ in width."""
    if one is None or other is None:
        kept = other if one is None else one
        return None if kept is None else _copy(kept)
    if one.width != other.width:
        return None
    if not one.rows or not other.rows:
        kept, empty = (one, other) if one.rows else (other, one)
        both = _copy(kept)
        both.nonfinite.update(empty.nonfinite)
        return both
    return ColumnTally(
        width=one.width,
        rows=one.rows + other.rows,
        nonfinite=one.nonfinite + other.nonfinite,
        constant={i: value for i, value in one.constant.items() if other.constant.get(i) == value},
        alike=meet(one.alike, other.alike),
    )


def _copy(columns: ColumnTally) -> ColumnTally:
    return ColumnTally(
        columns.width, columns.rows, Counter(columns.nonfinite), dict(columns.constant), columns.alike
    )


def meet(one: tuple[tuple[int, ...], ...], other: tuple[tuple[int, ...], ...]) -> tuple[tuple[int, ...], ...]:
    """Return the groups of columns that are together in both."""
    where = {index: number for number, group in enumerate(other) for index in group}
    found: dict[tuple[int, int], list[int]] = {}
    for number, group in enumerate(one):
        for index in group:
            if index in where:
                found.setdefault((number, where[index]), []).append(index)
    return tuple(sorted(tuple(group) for group in found.values() if len(group) > 1))

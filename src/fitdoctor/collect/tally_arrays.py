"""Counts NumPy arrays into tallies at memory speed, in blocks that fit the processor cache.

Minimum and maximum show whether a block is finite (both are NaN if one value is), so one pass from memory and two from
the cache yield all statistics; only a block that is not finite is examined further.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any, NamedTuple

from fitdoctor.collect.column_tally import MOST_COLUMNS, ColumnTally
from fitdoctor.collect.tally import MOST_VALUES, Place, Tally

BLOCK_BYTES = 2 << 20
"""Stays in the processor's cache from one look to the next. NumPy gives the interpreter's lock away while it reduces a
block; looks at smaller blocks end before another thread has woken up to take the lock, and the threads take turns."""
LANE = 1024
"""Values summed in the array's own precision; sums of lanes are added in double precision."""
_HEAD = 8192
_FEW_VALUES = 64
"""Data that is not labels and starts with more distinct values than this gets no histogram."""


ElementOf = Callable[[int], int | None]
"""Returns the number of the element that contains a row."""


def no_element(_row: int) -> None:
    """For data without elements."""
    return


def add(tally: Tally, array: Any, row: int, element: ElementOf = no_element) -> None:
    """Add an array whose first row is row `row` of the data; rows must come in order.

    Args:
        tally: receives the statistics of the values; the caller counts shapes and dtypes.
        array: a NumPy array with at least one axis.
        row: the number of its first row.
        element: returns the element that contains a row, for data with elements.
    """
    import numpy as np

    tally.rows += len(array)
    if array.size == 0:
        return
    values = _as_numbers(array)
    if values is None:
        _add_others(tally, array, row, element)
        return
    flat = np.ascontiguousarray(values).reshape(-1)
    with np.errstate(all="ignore"):
        _add_flat(tally, _Flat(flat, max(flat.size // len(array), 1), row, array.shape[1:], element))
    if tally.labels and array.ndim >= 2 and 1 < array.shape[-1] <= MOST_COLUMNS:
        _add_row_sums(tally, values)
    if tally.tables and array.ndim == 2 and 1 < array.shape[1] <= MOST_COLUMNS:
        _add_columns(tally, values)


def _as_numbers(array: Any) -> Any:
    """Return the array in a dtype that NumPy reduces quickly; None if it contains no numbers."""
    import numpy as np

    kind = array.dtype.kind
    if kind == "b":
        return array.view(np.uint8)
    if kind == "f" and array.dtype.itemsize < 4 or array.dtype.name == "bfloat16":
        return array.astype(np.float32)
    if kind == "f" and array.dtype.itemsize > 8:
        return array.astype(np.float64)
    if kind in "iuf":
        return array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))
    return None


class _Flat(NamedTuple):
    """An array as one row of values, and the positions of its values."""

    values: Any
    row_size: int
    row: int
    inner: tuple[int, ...]
    element: ElementOf


class _Extremes:
    """The minimum and maximum so far, and the blocks that contain them; None if they were known before."""

    def __init__(self, tally: Tally) -> None:
        unknown = tally.minimum is None or tally.maximum is None
        self.least: Any = math.inf if unknown else tally.minimum
        self.most: Any = -math.inf if unknown else tally.maximum
        self._lowest: int | None = None
        self._highest: int | None = None

    def take(self, low: float, high: float, start: int) -> None:
        """Add the extremes of the block that starts at `start`."""
        if low < self.least:
            self.least, self._lowest = low, start
        if high > self.most:
            self.most, self._highest = high, start

    def tell(self, tally: Tally, step: int, flat: _Flat) -> None:
        """Record new extremes with their rows, which are searched for once, not for every block."""
        rows = [
            None
            if start is None
            else flat.row
            + (start + int((flat.values[start : start + step] == value).argmax())) // flat.row_size
            for value, start in ((self.least, self._lowest), (self.most, self._highest))
        ]
        if rows != [None, None]:
            tally.extremes(self.least, self.most, *rows)


def _add_flat(tally: Tally, flat: _Flat) -> None:
    """Add block by block; a block within the known extremes is finite and adds only its sum."""
    import numpy as np

    values = flat.values
    step = max(BLOCK_BYTES // values.itemsize // LANE, 1) * LANE
    smallest, largest = np.minimum.reduce, np.maximum.reduce
    floating = values.dtype.kind == "f"
    known = _Extremes(tally)
    total, whole, lost = 0.0, 0, 0
    for start in range(0, values.size, step):
        block = values[start : start + step]
        low, high = smallest(block), largest(block)
        # A comparison with NaN never holds: such a block is looked at more closely.
        if not (known.least <= low and high <= known.most):
            if floating and not (-np.inf < low and high < np.inf):
                size = block.size
                block, low, high = _finite_part(tally, block, start, flat)
                lost += size - block.size
                if not block.size:
                    continue
            known.take(low.item(), high.item(), start)
        if floating:
            total += _sum(block)
            if tally.integral:
                tally.integral = _integral(block[:_HEAD]) and _integral(block)
        else:
            whole += _whole_sum(block, low, high)
        if tally.histogram is not None and (tally.labels or tally.whole_numbers and tally.integral):
            most = MOST_VALUES if tally.labels else _FEW_VALUES
            tally.count_values(_distinct(block, low, high, most))
    known.tell(tally, step, flat)
    tally.finite += values.size - lost
    tally.total += Fraction(total) + whole if total - total == 0 else _huge(values)


def _integral(block: Any) -> bool:
    import numpy as np

    return bool((block == np.rint(block)).all())


def _sum(block: Any) -> float:
    """The sum of lanes, which keep it precise.

    `einsum` is as fast as a product with ones, and unlike that starts no threads: two threads that call BLAS at
    the same time were seen to wait for each other for a second.
    """
    import numpy as np

    lanes = block.size // LANE
    if lanes * LANE == block.size:
        return float(np.add.reduce(np.einsum("ij->i", block.reshape(lanes, LANE)), dtype=np.float64))
    total = float(np.add.reduce(block[lanes * LANE :], dtype=np.float64))
    return total + (_sum(block[: lanes * LANE]) if lanes else 0.0)


def _whole_sum(block: Any, low: Any, high: Any) -> int:
    import numpy as np

    lanes = block.size // LANE
    if block.itemsize <= 2 and lanes * LANE == block.size:
        # A lane of narrow numbers fits 32 bits, and NumPy adds those twice as fast.
        return int(np.add.reduce(block.reshape(lanes, LANE), axis=1, dtype=np.int32).sum(dtype=np.int64))
    if max(abs(int(low)), abs(int(high))) * block.size < 1 << 63:
        return int(np.add.reduce(block, dtype=np.int64))
    # Two halves, whose sums fit 64 bits.
    return (int(np.add.reduce(block >> 32, dtype=np.int64)) << 32) + int(
        np.add.reduce(block & 0xFFFFFFFF, dtype=np.int64)
    )


def _huge(values: Any) -> Fraction:
    """Return the sum of values whose sum overflows their own precision, or double precision."""
    import numpy as np

    finite = values[np.isfinite(values)]
    total = float(np.add.reduce(finite, dtype=np.float64))
    return Fraction(total) if total - total == 0 else sum(map(Fraction, finite.tolist()), Fraction(0))


def _finite_part(tally: Tally, block: Any, start: int, flat: _Flat) -> tuple[Any, Any, Any]:
    """Count the non-finite values, and return the rest with its extremes."""
    import numpy as np

    finite = np.isfinite(block)
    nan = int(np.isnan(block).sum())
    bad = np.flatnonzero(~finite)
    tally.nan += nan
    tally.inf += len(bad) - nan
    row, place = divmod(start + int(bad[0]), flat.row_size)
    index = np.unravel_index(place, flat.inner) if flat.inner else ()
    row += flat.row
    tally.found_nonfinite(Place(row, tuple(int(i) for i in index), flat.element(row)))
    if tally.tables and len(flat.inner) == 1 and 1 < flat.inner[0] <= MOST_COLUMNS:
        columns, counts = np.unique((start + bad) % flat.row_size, return_counts=True)
        table = _table(tally, flat.inner[0])
        for column, count in zip(columns.tolist(), counts.tolist(), strict=True):
            table.nonfinite[column] += count
    rest = block[finite]
    return (rest, rest.min(), rest.max()) if rest.size else (rest, None, None)


def _table(tally: Tally, width: int) -> ColumnTally:
    if tally.columns is None or tally.columns.width != width:
        tally.columns = ColumnTally(width)
    return tally.columns


def _distinct(block: Any, low: Any, high: Any, most: int) -> dict[float, int] | None:
    """Return the count of each value; None if there are too many, or more than `most` at the beginning."""
    import numpy as np

    if block.dtype.kind in "iu" and int(high) - int(low) < 4 * MOST_VALUES:
        counts = np.bincount(_offsets(block, low))
        return {float(int(low) + i): int(n) for i, n in enumerate(counts) if n}
    # Sorting everything to find out that there are too many values would cost more than the rest together.
    if block.size > _HEAD and np.unique(block[:_HEAD]).size > most:
        return None
    values, counts = np.unique(block, return_counts=True)
    if values.size > MOST_VALUES:
        return None
    return dict(zip(map(float, values.tolist()), counts.tolist(), strict=True))


def _offsets(block: Any, low: Any) -> Any:
    """Return the distance of each value from the minimum; narrow dtypes would wrap around."""
    import numpy as np

    if block.itemsize < 8:
        return block.astype(np.int64) - int(low)
    return (block - block.dtype.type(low)).astype(np.int64)


def _add_row_sums(tally: Tally, values: Any) -> None:
    import numpy as np

    with np.errstate(all="ignore"):
        sums = values.sum(axis=-1, dtype=np.float64)
    whole = np.isfinite(sums)
    sums = sums[whole]
    if sums.size:
        filled = np.count_nonzero(values, axis=-1)[whole]
        tally.sums(float(sums.min()), float(sums.max()), int(filled.max()))


def _add_columns(tally: Tally, values: Any) -> None:
    _table(tally, values.shape[1]).compare(values.view(f"u{values.itemsize}"))


def _add_others(tally: Tally, array: Any, row: int, element: ElementOf) -> None:
    """Count the missing values among strings and objects."""
    tally.integral = False
    tally.histogram = None
    if array.dtype.kind != "O":
        return
    for index, item in enumerate(array.reshape(len(array), -1)[:, 0]):
        if item is None or isinstance(item, float) and item != item:
            tally.missing += 1
            tally.found_nonfinite(Place(row + index, (), element(row + index)))

"""NumPy arrays into tallies, at the speed of the memory: block after block that fits the processor's cache.

The least and the largest value tell whether a block is finite (both are NaN when one value is), so that one look from
memory and two from the cache give all statistics; only a block that is not finite is looked at more closely.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from fitdoctor.scan.columns import MOST_COLUMNS, ColumnTally
from fitdoctor.scan.tally import MOST_VALUES, Place, Tally

BLOCK_BYTES = 256 << 10
"""Half of the second-level cache of small processors."""
LANE = 256
"""Values whose sum is taken in the array's own precision; sums of lanes are added in double precision."""
_HEAD = 8192


ElementOf = Callable[[int], int | None]
"""The number of the element that a row came in."""


def no_element(_row: int) -> None:
    """For data that does not come in elements."""
    return


def add(tally: Tally, array: Any, row: int, element: ElementOf = no_element) -> None:
    """Take in an array whose first row is row `row` of the data.

    Args:
        tally: takes in the statistics of the values; shapes and types are counted by the caller.
        array: a NumPy array of one axis or more.
        row: the number of its first row.
        element: tells the element that a row came in, where the data comes in elements.
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
        _add_flat(tally, flat, max(flat.size // len(array), 1), row, array.shape[1:], element)
    if tally.labels and array.ndim >= 2 and 1 < array.shape[-1] <= MOST_COLUMNS:
        _add_row_sums(tally, values)
    if array.ndim == 2 and 1 < array.shape[1] <= MOST_COLUMNS:
        _add_columns(tally, values)


def _as_numbers(array: Any) -> Any:
    """The array as a type that NumPy reduces quickly; None where it holds no numbers."""
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


def _add_flat(
    tally: Tally, flat: Any, row_size: int, row: int, inner: tuple[int, ...], element: ElementOf
) -> None:
    import numpy as np

    step = max(BLOCK_BYTES // flat.itemsize // LANE, 1) * LANE
    smallest, largest = np.minimum.reduce, np.maximum.reduce
    floating = flat.dtype.kind == "f"
    total = 0.0
    whole = 0
    for start in range(0, flat.size, step):
        block = flat[start : start + step]
        low, high = smallest(block), largest(block)
        # False for NaN too: a comparison with NaN never holds.
        if floating and not (-np.inf < low and high < np.inf):
            block, low, high = _finite_part(tally, block, start, row_size, row, inner, element)
            if not block.size:
                continue
        if tally.minimum is None or low <= tally.minimum or high >= tally.maximum:
            _note_extremes(tally, flat[start : start + step], low, high, start, row_size, row)
        if floating:
            total += _sum(block)
            if tally.integral:
                tally.integral = bool((block == np.rint(block)).all())
        else:
            whole += _whole_sum(block, low, high)
        tally.finite += block.size
        if tally.labels:
            tally.count_values(_distinct(block, low, high) if tally.histogram is not None else None)
    tally.total += Fraction(total) + whole if total - total == 0 else _huge(flat)


def _sum(block: Any) -> float:
    import numpy as np

    lanes = block.size // LANE
    body = block[: lanes * LANE].reshape(lanes, LANE) @ np.ones(LANE, block.dtype)
    total = float(np.add.reduce(body, dtype=np.float64))
    if lanes * LANE < block.size:
        total += float(np.add.reduce(block[lanes * LANE :], dtype=np.float64))
    # A lane may overflow its own precision where the sum in double precision does not.
    return total if total - total == 0 else float(np.add.reduce(block, dtype=np.float64))


def _whole_sum(block: Any, low: Any, high: Any) -> int:
    import numpy as np

    if max(abs(int(low)), abs(int(high))) * block.size < 1 << 63:
        return int(np.add.reduce(block, dtype=np.int64))
    return sum(block.tolist())


def _huge(flat: Any) -> Fraction:
    """The sum of finite values whose sum is beyond double precision."""
    import numpy as np

    return sum((Fraction(float(value)) for value in flat if np.isfinite(value)), Fraction(0))


def _note_extremes(
    tally: Tally, block: Any, low: Any, high: Any, start: int, row_size: int, row: int
) -> None:
    """Find the rows of new extremes; a block that only repeats them, further on, needs no look."""
    low, high = low.item(), high.item()
    new_low = (
        tally.minimum is None or low < tally.minimum or _earlier(tally.first_minimum, row, start, row_size)
    )
    new_high = (
        tally.maximum is None or high > tally.maximum or _earlier(tally.first_maximum, row, start, row_size)
    )
    low_row = row + (start + int((block == low).argmax())) // row_size if new_low else None
    high_row = row + (start + int((block == high).argmax())) // row_size if new_high else None
    tally.extremes(low, high, low_row, high_row)


def _earlier(known: int | None, row: int, start: int, row_size: int) -> bool:
    """Whether a block could hold an earlier row than the one that is known."""
    return known is None or row + start // row_size < known


def _finite_part(
    tally: Tally, block: Any, start: int, row_size: int, row: int, inner: tuple[int, ...], element: ElementOf
) -> tuple[Any, Any, Any]:
    """Count what is not finite, and give the rest with its extremes."""
    import numpy as np

    finite = np.isfinite(block)
    nan = int(np.isnan(block).sum())
    bad = np.flatnonzero(~finite)
    tally.nan += nan
    tally.inf += len(bad) - nan
    first = start + int(bad[0])
    place = np.unravel_index(first % row_size, inner) if inner else ()
    tally.found_nonfinite(
        Place(row + first // row_size, tuple(int(i) for i in place), element(row + first // row_size))
    )
    if len(inner) == 1 and 1 < inner[0] <= MOST_COLUMNS:
        columns, counts = np.unique((start + bad) % row_size, return_counts=True)
        table = _table(tally, inner[0])
        for column, count in zip(columns.tolist(), counts.tolist(), strict=True):
            table.nonfinite[column] += count
    rest = block[finite]
    return (rest, rest.min(), rest.max()) if rest.size else (rest, None, None)


def _table(tally: Tally, width: int) -> ColumnTally:
    if tally.columns is None or tally.columns.width != width:
        tally.columns = ColumnTally(width)
    return tally.columns


def _distinct(block: Any, low: Any, high: Any) -> dict[float, int] | None:
    """How often each value comes; None where there are too many to tell."""
    import numpy as np

    if block.dtype.kind in "iu" and int(high) - int(low) < 4 * MOST_VALUES:
        counts = np.bincount(_offsets(block, low))
        return {float(int(low) + i): int(n) for i, n in enumerate(counts) if n}
    # Sorting everything to find out that there are too many values would cost more than the rest together.
    if block.size > _HEAD and np.unique(block[:_HEAD]).size > MOST_VALUES:
        return None
    values, counts = np.unique(block, return_counts=True)
    if values.size > MOST_VALUES:
        return None
    return dict(zip(map(float, values.tolist()), counts.tolist(), strict=True))


def _offsets(block: Any, low: Any) -> Any:
    """How far each value is above the least; narrow types would wrap around, wide ones do not fit."""
    import numpy as np

    wide = block if block.itemsize == 8 else block.astype(np.int64)
    return (wide - wide.dtype.type(low)).astype(np.int64)


def _add_row_sums(tally: Tally, values: Any) -> None:
    import numpy as np

    with np.errstate(all="ignore"):
        sums = values.sum(axis=-1, dtype=np.float64)
    sums = sums[np.isfinite(sums)]
    if sums.size:
        tally.sums(float(sums.min()), float(sums.max()))


def _add_columns(tally: Tally, values: Any) -> None:
    _table(tally, values.shape[1]).compare(values.view(f"u{values.itemsize}"))


def _add_others(tally: Tally, array: Any, row: int, element: ElementOf) -> None:
    """Strings and objects: how many stand for nothing."""
    tally.integral = False
    tally.histogram = None
    if array.dtype.kind != "O":
        return
    for index, item in enumerate(array.reshape(len(array), -1)[:, 0]):
        if item is None or item != item:
            tally.missing += 1
            tally.found_nonfinite(Place(row + index, (), element(row + index)))

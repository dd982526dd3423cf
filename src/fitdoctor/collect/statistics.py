"""Compute bounded statistics of arrays: in chunks, within a budget, keeping only extreme values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from fitdoctor.collect.budget import Deadline
from fitdoctor.collect.tally import Tally
from fitdoctor.collect.tally_arrays import add
from fitdoctor.facts import Column, Statistics, Unknown
from fitdoctor.records import replace

CHUNK_ELEMENTS = 1 << 20
MOST_COLUMNS = 256
FEWEST_SCALED = 20
"""Fewer rows may have a mean of 0 by chance."""
_NEAR = 1e-4
_ROUNDED = 1e-6
OBJECTS = 20_000
"""The number of Python objects of an object array to read."""


def statistics_of(array: Any, deadline: Deadline, labels: bool = False) -> Statistics | Unknown:
    """Return statistics of a NumPy array, over all rows or over a spread sample if time runs out."""
    import numpy as np

    if not _is_numeric(array):
        return _not_numeric(array)
    if array.ndim == 0:
        array = np.reshape(array, (1,))
    tally = _tally(labels)
    complete = True
    for start, stop in _chunks(array):
        if deadline.over and tally.rows:
            complete = False
            break
        add(tally, np.asarray(array[start:stop]), start)
    found = from_tally(tally, complete)
    return replace(found, own_scale=own_scale(array)) if _may_be_scaled(array, found, labels) else found


def _may_be_scaled(array: Any, found: Statistics, labels: bool) -> bool:
    """Whether it is worth looking at every column of an array."""
    if labels or array.ndim not in (2, 3) or found.integral or not found.complete or found.mean is None:
        return False
    assert found.minimum is not None
    assert found.maximum is not None
    return abs(found.mean) < _NEAR or abs(found.minimum) < _ROUNDED and abs(found.maximum - 1) < _ROUNDED


def own_scale(array: Any) -> str:
    """Return the scale that every column of a table has exactly: `mean 0, deviation 1`, `0..1`, or "" for none.

    A scaler leaves the rows that it was fitted to like this, and hardly any other rows.
    """
    import numpy as np

    if array.dtype.kind != "f" or len(array) < FEWEST_SCALED or array.size > CHUNK_ELEMENTS:
        return ""
    if array.ndim == 3 and not np.array_equal(array[1:, :-1], array[:-1, 1:]):
        return ""
    if array.ndim == 3:  # the windows of a series, which was scaled as a whole
        array = np.concatenate([array[:, 0], array[-1, 1:]])
    rows = len(array)
    low, high = array.min(axis=0), array.max(axis=0)
    varies = low < high
    if not varies.any() or not np.isfinite(array).all():
        return ""
    columns = array[:, varies].astype(np.float64)
    deviation = columns.std(axis=0)
    sample = np.sqrt(1 - 1 / rows)  # pandas divides by the number of rows less one
    standard = (np.abs(deviation - 1) < _NEAR) | (np.abs(deviation - sample) < _NEAR)
    if standard.all() and (np.abs(columns.mean(axis=0)) < _NEAR).all() and (columns % 1).any():
        return "mean 0, deviation 1"
    # Pixels and shares lie between 0 and 1, too: of continuous data only one row has the least value.
    least, most = np.abs(columns) < _ROUNDED, np.abs(columns - 1) < _ROUNDED
    once = (least.sum(axis=0) == 1) & (most.sum(axis=0) == 1)
    # A grid of points has its ends by design: `np.linspace(0, 1, n)`.
    steps = np.diff(np.sort(columns, axis=0), axis=0)
    once &= np.ptp(steps, axis=0) > 0.1 / rows
    bounded = (np.abs(columns.min(axis=0)) < _ROUNDED) & (np.abs(columns.max(axis=0) - 1) < _ROUNDED)
    if bounded.all() and once.any():
        return "0..1" if (np.abs(columns * 255 - np.rint(columns * 255)) > 1e-3).any() else ""
    return ""


def statistics_of_batches(batches: list[Any], complete: bool, labels: bool = False) -> Statistics | Unknown:
    """Return statistics of the same component of several batches, as if concatenated."""
    import numpy as np

    tally = _tally(labels)
    for batch in batches:
        array = np.asarray(batch)
        if not _is_numeric(array):
            return _not_numeric(array)
        add(tally, array if array.ndim else array.reshape(1), tally.rows)
    return from_tally(tally, complete)


def _tally(labels: bool) -> Tally:
    return Tally(labels=labels, whole_numbers=True, tables=False)


def _is_numeric(array: Any) -> bool:
    return array.dtype.kind in "biuf" or array.dtype.name == "bfloat16"


def _not_numeric(array: Any) -> Unknown:
    return Unknown(f"fitdoctor computes no statistics for dtype `{array.dtype}`")


def from_tally(tally: Tally, complete: bool) -> Statistics:
    """Return the tally as a `Statistics` fact."""
    histogram, first = tally.shown_histogram, tally.first_nonfinite
    return Statistics(
        count=tally.rows,
        complete=complete,
        minimum=None if tally.minimum is None else float(tally.minimum),
        maximum=None if tally.maximum is None else float(tally.maximum),
        mean=tally.mean,
        nan=tally.nan,
        inf=tally.inf,
        first_nonfinite=(first.row, *first.index) if first is not None else None,
        integral=tally.integral and tally.finite > 0,
        histogram=tuple(sorted(histogram.items())) if histogram is not None else None,
        row_sums=tally.row_sums,
        row_filled=tally.row_filled,
        first_maximum=tally.first_maximum,
        first_minimum=tally.first_minimum,
    )


def _chunks(array: Any) -> Iterator[tuple[int, int]]:
    """Yield row ranges that cover the array, in an order in which any prefix is a fair sample."""
    rows = len(array)
    row_size = max(array.size // rows, 1) if rows else 1
    step = max(CHUNK_ELEMENTS // row_size, 1)
    starts = list(range(0, rows, step))
    stride = 1 if len(starts) <= 16 else 16
    for offset in range(stride):
        for start in starts[offset::stride]:
            yield start, min(start + step, rows)


# --- columns ------------------------------------------------------------------------------------------------------


def columns_of_frame(frame: Any, deadline: Deadline) -> tuple[Column, ...]:
    """Return the columns of a DataFrame; if there are many, non-numeric and non-finite ones first."""
    columns = []
    for position, name in enumerate(frame.columns):
        series = frame.iloc[:, position]
        columns.append(_column_of_series(str(name), series, deadline))
        if position >= 4 * MOST_COLUMNS:
            break
    if len(columns) > MOST_COLUMNS:
        columns.sort(key=lambda column: not (column.holds or column.nonfinite))
    return tuple(columns[:MOST_COLUMNS])


def columns_of_series(series: Any, deadline: Deadline) -> tuple[Column, ...]:
    """Return a pandas Series as its only column."""
    return (_column_of_series(str(getattr(series, "name", "") or ""), series, deadline),)


def _column_of_series(name: str, series: Any, deadline: Deadline) -> Column:
    import numpy as np

    dtype = str(series.dtype)
    nonfinite = 0
    holds, unreadable = "", None
    kind = getattr(series.dtype, "kind", "O")
    if deadline.over:
        return Column(name, dtype)
    if kind == "f" and isinstance(series.dtype, np.dtype):
        values = series.to_numpy()
        nonfinite = int(values.size - np.isfinite(values).sum())
    elif kind not in "biufM" or not isinstance(series.dtype, np.dtype):
        objects = series.head(OBJECTS).tolist()
        holds, unreadable = holds_of(objects), _unreadable(objects)
        nonfinite = int(series.isna().sum())
    return Column(name, dtype, holds, nonfinite, unreadable)


def columns_of_array(array: Any, statistics: Statistics | Unknown) -> tuple[Column, ...]:
    """Return the column contents of an object array, or the columns with NaN or Inf of a float table."""
    import numpy as np

    if array.dtype.kind in "OUST":
        return _object_columns(array)
    if array.ndim == 2 and isinstance(statistics, Statistics) and (statistics.nan or statistics.inf):
        bad = (~np.isfinite(array[: CHUNK_ELEMENTS // max(array.shape[1], 1) + 1])).sum(axis=0)
        found = [Column(str(i), str(array.dtype), "", int(n)) for i, n in enumerate(bad) if n]
        return tuple(found[:MOST_COLUMNS])
    return ()


def _object_columns(array: Any) -> tuple[Column, ...]:
    dtype = "str" if array.dtype.kind in "UT" else str(array.dtype)
    if array.ndim == 2 and array.shape[1] > 1:
        rows = max(OBJECTS // array.shape[1], 100)
        heads = [array[:rows, i].tolist() for i in range(min(array.shape[1], MOST_COLUMNS))]
        return tuple(
            Column(str(i), dtype, holds_of(head), unreadable=_unreadable(head))
            for i, head in enumerate(heads)
        )
    leaves = _leaves(array)
    return (Column("", dtype, holds_of(leaves), unreadable=_unreadable(leaves)),)


def _unreadable(objects: list[Any]) -> int | None:
    """Return how many strings in a mostly numeric text column are not numbers, else None."""
    texts = [item for item in objects if isinstance(item, str)]
    readable = sum(map(_is_written_number, texts))
    return len(texts) - readable if 2 * readable > len(texts) else None


def _is_written_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _leaves(array: Any) -> list[Any]:
    # `tolist` would convert the elements of a ragged object array to lists.
    flat = array.reshape(-1)[:OBJECTS]
    return [flat[i] for i in range(len(flat))]


def holds_of(objects: list[Any]) -> str:
    """Return the types in a list of objects, most frequent first: `float, str`, `list of 3..7`, `None`."""
    counts: Counter[str] = Counter()
    lengths: dict[str, tuple[int, int]] = {}
    for item in objects:
        name = _kind_name(item)
        counts[name] += 1
        if hasattr(item, "__len__") and not isinstance(item, (str, bytes)):
            size = len(item) if getattr(item, "shape", None) != () else 0
            low, high = lengths.get(name, (size, size))
            lengths[name] = (min(low, size), max(high, size))
    words = []
    for name, _count in counts.most_common(5):
        if name in lengths:
            low, high = lengths[name]
            name = f"{name} of {low}" if low == high else f"{name} of {low}..{high}"
        words.append(name)
    return ", ".join(words)


def _kind_name(item: Any) -> str:
    if item is None:
        return "None"
    if isinstance(item, float) and item != item:
        return "NaN"
    name = type(item).__name__
    return {"str_": "str", "float64": "float", "int64": "int", "bool_": "bool"}.get(name, name)

"""Compute bounded statistics of arrays: in chunks, within a budget, keeping only extreme values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from fitdoctor.collect.budget import Deadline
from fitdoctor.facts import Column, Statistics, Unknown
from fitdoctor.records import replace

CHUNK_ELEMENTS = 1 << 20
MOST_VALUES = 1024
"""Histograms with more distinct values are omitted."""
MOST_COLUMNS = 256
FEWEST_SCALED = 20
"""Fewer rows may have a mean of 0 by chance."""
_NEAR = 1e-4
_ROUNDED = 1e-6
OBJECTS = 20_000
"""The number of Python objects of an object array to read."""


class _Running:
    """Statistics of the rows read so far."""

    def __init__(self, labels: bool) -> None:
        self.labels = labels
        self.rows = 0
        self.minimum: float | None = None
        self.maximum: float | None = None
        self.first_minimum: int | None = None
        self.first_maximum: int | None = None
        self.total = 0.0
        self.finite = 0
        self.nan = 0
        self.inf = 0
        self.first_nonfinite: tuple[int, ...] | None = None
        self.integral = True
        self.histogram: Counter[float] | None = Counter()
        self.row_sums: tuple[float, float] | None = None
        self.row_filled: int | None = None

    def add(self, chunk: Any, start: int) -> None:
        """Add the rows of `chunk`, which starts at row `start`."""
        import numpy as np

        self.rows += len(chunk)
        if chunk.size == 0:
            return
        if chunk.dtype == np.bool_:
            chunk = chunk.view(np.uint8)
        elif chunk.dtype.kind == "f" and chunk.dtype.itemsize < 4 or chunk.dtype.kind == "V":
            chunk = chunk.astype(np.float32)
        values = chunk
        if chunk.dtype.kind == "f":
            values = self._finite_part(chunk, start)
            if values.size == 0:
                return
        self._extremes(values, chunk, start)
        self.total += float(values.sum(dtype=np.float64))
        self.finite += int(values.size)
        if self.integral and chunk.dtype.kind == "f":
            self.integral = bool(np.all(values == np.rint(values)))
        self._count(values)
        if self.labels and chunk.ndim >= 2 and 1 < chunk.shape[-1] <= 4096 and values is chunk:
            self._sum_rows(chunk)

    def _finite_part(self, chunk: Any, start: int) -> Any:
        import numpy as np

        with np.errstate(all="ignore"):
            least, most = float(chunk.min()), float(chunk.max())
        if np.isfinite(least) and np.isfinite(most):
            return chunk
        finite = np.isfinite(chunk)
        nan = int(np.isnan(chunk).sum())
        self.nan += nan
        self.inf += int((~finite).sum()) - nan
        if self.first_nonfinite is None or start < self.first_nonfinite[0]:
            place = np.unravel_index(int(np.argmin(finite)), chunk.shape)
            self.first_nonfinite = (start + int(place[0]), *(int(i) for i in place[1:]))
        return chunk[finite]

    def _extremes(self, values: Any, chunk: Any, start: int) -> None:
        least, most = float(values.min()), float(values.max())
        row_size = max(chunk.size // len(chunk), 1)
        if self.minimum is None or least < self.minimum:
            self.minimum = least
            self.first_minimum = start + _first(chunk, values.min()) // row_size
        if self.maximum is None or most > self.maximum:
            self.maximum = most
            self.first_maximum = start + _first(chunk, values.max()) // row_size

    def _count(self, values: Any) -> None:
        import numpy as np

        if self.histogram is None:
            return
        if values.dtype.kind in "iu":
            low, high = int(values.min()), int(values.max())
            if high - low < 4 * MOST_VALUES:
                counts = np.bincount(values.reshape(-1).astype(np.int64) - low)
                found = {float(low + i): int(n) for i, n in enumerate(counts) if n}
            else:
                found = self._distinct(values)
        else:
            found = self._distinct(values)
        self.histogram.update(found)
        if not found or len(self.histogram) > MOST_VALUES:
            self.histogram = None

    def _distinct(self, values: Any) -> dict[float, int]:
        import numpy as np

        flat = values.reshape(-1)
        # Sorting all values just to find too many would cost more than everything else.
        if flat.size > 8192 and np.unique(flat[:8192]).size > (MOST_VALUES if self.labels else 64):
            return {}
        distinct, counts = np.unique(flat, return_counts=True)
        if distinct.size > MOST_VALUES:
            return {}
        return {float(v): int(n) for v, n in zip(distinct, counts, strict=True)}

    def _sum_rows(self, chunk: Any) -> None:
        import numpy as np

        sums = chunk.sum(axis=-1, dtype=np.float64)
        low, high = float(sums.min()), float(sums.max())
        if self.row_sums is None:
            self.row_sums = (low, high)
        else:
            self.row_sums = (min(low, self.row_sums[0]), max(high, self.row_sums[1]))
        self.row_filled = max(self.row_filled or 0, int(np.count_nonzero(chunk, axis=-1).max()))

    def result(self, complete: bool) -> Statistics:
        """Return the statistics."""
        histogram = None
        if self.histogram and (self.integral or self.labels and len(self.histogram) <= 64):
            histogram = tuple(sorted(self.histogram.items()))
        return Statistics(
            count=self.rows,
            complete=complete,
            minimum=self.minimum,
            maximum=self.maximum,
            mean=self.total / self.finite if self.finite else None,
            nan=self.nan,
            inf=self.inf,
            first_nonfinite=self.first_nonfinite,
            integral=self.integral and self.finite > 0,
            histogram=histogram,
            row_sums=self.row_sums,
            row_filled=self.row_filled,
            first_maximum=self.first_maximum,
            first_minimum=self.first_minimum,
        )


def _first(chunk: Any, value: Any) -> int:
    import numpy as np

    return int(np.argmax(chunk.reshape(-1) == value))


def statistics_of(array: Any, deadline: Deadline, labels: bool = False) -> Statistics | Unknown:
    """Return statistics of a NumPy array, over all rows or over a spread sample if time runs out."""
    import numpy as np

    kind = array.dtype.kind
    if kind not in "biuf" and array.dtype.name != "bfloat16":
        return Unknown(f"fitdoctor computes no statistics for dtype `{array.dtype}`")
    if array.ndim == 0:
        array = np.reshape(array, (1,))
    running = _Running(labels)
    complete = True
    for start, stop in _chunks(array):
        if deadline.over and running.rows:
            complete = False
            break
        running.add(np.asarray(array[start:stop]), start)
    found = running.result(complete)
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

    running = _Running(labels)
    for batch in batches:
        array = np.asarray(batch)
        if array.dtype.kind not in "biuf" and array.dtype.name != "bfloat16":
            return Unknown(f"fitdoctor computes no statistics for dtype `{array.dtype}`")
        running.add(array if array.ndim else array.reshape(1), running.rows)
    return running.result(complete)


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

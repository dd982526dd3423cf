"""Arrays in memory or memory-mapped, frames, tensors and lists: whatever `fit` accepts as x, y and sample_weight."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from fitdoctor.collect.arrays import components, rows_of, type_name
from fitdoctor.scan.pieces import PIECE_BYTES, CannotScan, Component, Part, Piece, Problem, threads_by_default
from fitdoctor.scan.table_source import Block, TableSource, column_values

SLICED_FROM_DISK = ("h5py", "zarr")
FRAME_ROWS = 1 << 16
IN_MEMORY = 256 << 20
"""Bytes per piece of an array in memory, which costs no extra memory: fewer pieces mean less contention."""

Slice = Callable[[int, int], Any]
"""Returns the rows from … to … as a NumPy array."""


@dataclass(frozen=True)
class Rows:
    """One component and how to get its rows."""

    component: Component
    rows: int
    row_bytes: int
    shape: tuple[int | None, ...]
    dtype: str
    read: Slice
    piece_bytes: int = PIECE_BYTES
    stored: bool = True
    """Each row of the array is a row of the data (not true for the values of a sparse matrix)."""


class ArraySource:
    """Arrays that can be sliced, each read from its first row to its last."""

    def __init__(self, name: str, arrays: list[Rows], limit: int | None = None) -> None:
        self.name = name
        self.form = "arrays"
        self.one_by_one = False
        self.components = tuple(one.component for one in arrays)
        self.problems: list[Problem] = []
        self._arrays = arrays
        self._limit = limit
        longest = max((one.rows for one in arrays), default=0)
        self.cut = limit is not None and longest > limit
        self.rows: int | None = longest if limit is None else min(longest, limit)

    def pieces(self) -> Iterator[Piece]:
        """Yield the largest component first: the progress bar counts its rows."""
        order = sorted(
            range(len(self._arrays)), key=lambda i: -self._arrays[i].rows * self._arrays[i].row_bytes
        )
        for rank, index in enumerate(order):
            one = self._arrays[index]
            rows = one.rows if self._limit is None else min(one.rows, self._limit)
            step = max(one.piece_bytes // max(one.row_bytes, 1), 1)
            # At least one piece: it brings the shape and the type of an array without rows.
            for start in range(0, max(rows, 1), step):
                stop = min(start + step, rows)
                yield Piece(0 if rank else stop - start, partial(self._part, index, start, stop))

    def _part(self, index: int, start: int, stop: int) -> list[Part]:
        one = self._arrays[index]
        seen = ((one.shape, one.dtype, None, 1),) if start == 0 else ()
        array = one.read(start, stop)
        return [Part(index, array, start, seen=seen, rows=None if one.stored else stop - start)]


def frame_source(
    name: str, frame: Any, y: Any = None, sample_weight: Any = None, limit: int | None = None
) -> TableSource:
    """Return a source for a pandas frame, column by column, with its labels.

    Raises:
        CannotScan: the labels are not an array, or have another length.
    """
    beside = [
        rows
        for part, value in (("y", y), ("sample_weight", sample_weight))
        for one in components(value, part)
        for rows in _rows(one.value, Component(one.path, part, one.key, type_name(one.value)))
    ]
    for one in beside:
        if one.rows != len(frame):
            raise CannotScan(f"`x` has {len(frame)} rows, but `{one.component.path}` has {one.rows}")
    columns = [
        _series(frame.iloc[:, at], Component(f"x[{label!r}]", "x", str(label), "pandas.Series"))
        for at, label in enumerate(frame.columns)
    ]
    every = [*columns, *beside]

    def blocks(_source: TableSource) -> Iterator[Block]:
        for start in range(0, len(frame), FRAME_ROWS):
            stop = min(start + FRAME_ROWS, len(frame))
            yield Block(stop - start, "", None, partial(_sliced, every, start, stop))

    return TableSource(name, tuple(one.component for one in every), blocks, rows=len(frame), limit=limit)


def _sliced(every: list[Rows], start: int, stop: int) -> list[Any]:
    return [one.read(start, stop) for one in every]


def array_source(
    name: str, x: Any, y: Any = None, sample_weight: Any = None, limit: int | None = None
) -> ArraySource:
    """Return a source for arrays as `fit` accepts them.

    Raises:
        CannotScan: something is not an array.
    """
    arrays: list[Rows] = []
    for part, value in (("x", x), ("y", y), ("sample_weight", sample_weight)):
        for one in components(value, part):
            arrays.extend(_rows(one.value, Component(one.path, part, one.key, type_name(one.value))))
    if not arrays:
        raise CannotScan(f"`{name}` contains no array")
    return ArraySource(name, arrays, limit=limit)


def _rows(value: Any, component: Component) -> Iterator[Rows]:
    if hasattr(value, "iloc"):
        yield from _rows_of_pandas(value, component)
        return
    if type(value).__module__.split(".")[0] in SLICED_FROM_DISK and hasattr(value, "shape"):
        yield _rows_on_disk(value, component)
        return
    yield rows_of_array(as_array(value, component.path), component, value)


def _rows_on_disk(value: Any, component: Component) -> Rows:
    """Return an array that stays on disk: a slice is read when it is requested."""
    import numpy as np

    shape = tuple(map(int, value.shape)) or (1,)
    size = int(np.dtype(value.dtype).itemsize)
    for length in shape[1:]:
        size *= length
    read = (
        (lambda start, stop: np.asarray(value[start:stop]))
        if value.shape
        else (lambda *_: np.asarray(value[()])[None])
    )
    return Rows(component, shape[0], size, shape, str(value.dtype), read)


def as_array(value: Any, path: str) -> Any:
    """Return a NumPy array, without copying if possible.

    Raises:
        CannotScan: it is not an array.
    """
    import numpy as np

    root = type(value).__module__.split(".")[0]
    if isinstance(value, np.ndarray):
        array = value
    elif root in ("tensorflow", "tensorflow_core"):
        tensor: Any = value
        if type(value).__name__ in ("RaggedTensor", "SparseTensor"):
            tensor = getattr(value, "flat_values", getattr(value, "values", None))
        # `.numpy()` copies; the private twin shows the tensor's own memory.
        array = np.asarray(tensor._numpy() if hasattr(tensor, "_numpy") else tensor.numpy())
    elif root == "torch":
        array = value.detach().cpu().numpy()
    elif root == "scipy" and hasattr(value, "data"):
        array = np.asarray(value.data)
    elif isinstance(value, (list, tuple)) or hasattr(value, "__array__"):
        try:
            array = np.asarray(value)
        except ValueError as error:
            raise CannotScan(f"`{path}` is a list whose rows differ in length: {error}") from error
    else:
        raise CannotScan(f"`{path}` is a `{type_name(value)}`, which `fit` does not accept as data")
    return array.reshape(1) if array.ndim == 0 else array


def rows_of_array(array: Any, component: Component, value: Any = None) -> Rows:
    """Return an array as a component; `value` is the object it represents, if that is a different one."""
    rows = len(array)
    declared = rows_of(value) if value is not None else rows
    return Rows(
        component,
        rows,
        array.nbytes // rows if rows else 0,
        tuple(getattr(value, "shape", None) or array.shape),
        str(array.dtype),
        lambda start, stop: array[start:stop],
        _piece_bytes(array),
        stored=declared in (None, rows),
    )


def _piece_bytes(array: Any) -> int:
    """Return how many bytes of an array to process at a time; smaller pieces if they must be copied."""
    as_it_is = array.flags.c_contiguous and array.dtype.isnative and array.dtype.itemsize >= 4
    shared = min(max(array.nbytes // (2 * threads_by_default()) + 1, PIECE_BYTES), IN_MEMORY)
    return shared if as_it_is else PIECE_BYTES


# --- pandas -------------------------------------------------------------------------------------------------------


def _rows_of_pandas(value: Any, component: Component) -> Iterator[Rows]:
    if not hasattr(value, "columns"):
        yield _series(value, component)
        return
    kinds = {getattr(kind, "kind", "O") if isinstance(kind, _numpy_type()) else "O" for kind in value.dtypes}
    if kinds <= set("biuf"):
        named = Component(
            component.path, component.part, component.key, component.container, tuple(map(str, value.columns))
        )
        common = value.iloc[:0].to_numpy().dtype
        yield Rows(
            named,
            len(value),
            common.itemsize * len(value.columns),
            tuple(value.shape),
            str(common),
            lambda start, stop: value.iloc[start:stop].to_numpy(),
        )
        return
    for position, name in enumerate(value.columns):
        path = f"{component.path}[{name!r}]"
        yield _series(value.iloc[:, position], Component(path, component.part, str(name), "pandas.Series"))


def _numpy_type() -> Any:
    import numpy as np

    return np.dtype


def _series(series: Any, component: Component) -> Rows:
    return Rows(
        component,
        len(series),
        max(getattr(series.dtype, "itemsize", 8), 8),
        tuple(series.shape),
        str(series.dtype),
        lambda start, stop: column_values(series.iloc[start:stop]),
    )

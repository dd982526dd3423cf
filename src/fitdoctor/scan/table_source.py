"""Tables: CSV and Parquet files and pandas frames, whose columns are the components."""

from __future__ import annotations

import bisect
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

from fitdoctor.scan.pieces import TABLE, Component, Part, Piece, Problem

LABELS = ("y", "label", "labels", "target", "targets", "class", "classes")
"""Names of columns, keys and files that contain labels."""
WEIGHTS = ("sample_weight", "sample_weights")
TRAINING = ("train", "training", "trn")
VALIDATION = ("val", "valid", "validation", "test", "dev", "eval")


class Block(NamedTuple):
    """Some rows of a table."""

    rows: int
    file: str
    line: int | None
    """The line of the file with the first row, from 1; None if the file has no lines."""
    columns: Callable[[], list[Any]] | None
    """Returns their values, one NumPy array per column; None for rows that cannot be read."""
    exact: bool = True
    """Whether each row is one line; not if lines are blank, or quoted text spans several."""


class TableSource:
    """Blocks of rows, one after the other."""

    def __init__(
        self,
        name: str,
        components: tuple[Component, ...],
        blocks: Callable[[TableSource], Iterator[Block]],
        rows: int | None = None,
        form: str = "arrays",
        limit: int | None = None,
    ) -> None:
        self.name = name
        self.form = form
        self.one_by_one = False
        self.components = components
        self.problems: list[Problem] = []
        self.cut = False
        self.rows = rows if limit is None or rows is None else min(rows, limit)
        self._blocks = blocks
        self._limit = limit
        self._starts: list[int] = []
        self._places: list[tuple[str, int | None, bool]] = []
        self._features = [i for i, one in enumerate(components) if one.part == "x"]

    def pieces(self) -> Iterator[Piece]:
        """Yield the blocks as pieces, each with its columns and with all features side by side."""
        row = 0
        for block in self._blocks(self):
            rows = block.rows
            if self._limit is not None and row + rows > self._limit:
                rows = self._limit - row
                self.cut = True
            if rows and block.columns is not None:
                self._starts.append(row)
                self._places.append((block.file, block.line, block.exact))
                yield Piece(rows, partial(self._parts, block.columns, row, rows))
            row += rows
            if self.cut:
                return
        if not row:
            # So that the columns of a table without rows have their types.
            yield Piece(0, lambda: [Part(i, _nothing(), 0) for i in range(len(self.components))])

    def where(self, row: int) -> str:
        """Return the file and line of a row, for files."""
        at = bisect.bisect_right(self._starts, row) - 1
        if at < 0:
            return ""
        file, line, exact = self._places[at]
        if line is None:
            return file
        return f"{file}, {'line' if exact else 'near line'} {line + row - self._starts[at]}"

    def _parts(self, columns: Callable[[], list[Any]], row: int, rows: int) -> list[Part]:
        arrays = [array[:rows] for array in columns()]
        parts = [
            Part(index, array, row, seen=(((None,), kind_of(array), None, 1),) if row == 0 else ())
            for index, array in enumerate(arrays)
        ]
        words = words_of([arrays[index] for index in self._features])
        return [*parts, Part(TABLE, words, row)] if words is not None else parts


def _nothing() -> Any:
    import numpy as np

    return np.zeros(0)


def kind_of(array: Any) -> str:
    """Return the type of a column in one word."""
    if array.dtype.kind not in "OUST":
        return str(array.dtype)
    value = next((item for item in array if item is not None), "")
    return "text" if isinstance(value, (str, bytes)) else type(value).__name__


def words_of(columns: list[Any]) -> Any:
    """Return columns side by side as 64-bit words that are equal if the values are; None without columns."""
    import numpy as np

    if not columns or not len(columns[0]):
        return None
    words: Any = np.empty((len(columns[0]), len(columns)), np.uint64)
    for index, column in enumerate(columns):
        if column.dtype.kind in "biuf" and column.dtype.itemsize <= 8:
            words[:, index] = column.astype(np.float64).view(np.uint64)
        else:
            words[:, index] = np.fromiter(map(_hash, column), np.int64, len(column)).view(np.uint64)
    return words


def _hash(value: Any) -> int:
    try:
        return hash(value)
    except TypeError:  # a list or an array in a cell
        return hash(repr(value))


def column_values(series: Any) -> Any:
    """Return a pandas column as NumPy numbers, or as objects with None for missing values."""
    import numpy as np

    if isinstance(series.dtype, np.dtype) and series.dtype.kind in "biuf":
        return series.to_numpy()
    if getattr(series.dtype, "kind", "O") in "biuf":  # nullable numbers
        return series.to_numpy(dtype=np.float64, na_value=np.nan)
    values = np.array(series.astype(object), dtype=object)
    values[np.asarray(series.isna())] = None
    return values


def listed(names: tuple[str, ...]) -> str:
    """Return names as an enumeration, shortened if there are many."""
    shown = ", ".join(f"`{name}`" for name in names[:12])
    return f"{shown}, …" if len(names) > 12 else shown


def other_columns(path: str, names: tuple[str, ...]) -> str:
    """Return the message for a file whose columns differ from those of the first."""
    return f"`{path}` has different columns than the first file and was not read: {listed(names)}"


def part_named(name: str, labels: tuple[str, ...] = ()) -> str:
    """Return `y` for a column or key that is named like labels (or that the user lists), `sample_weight`, else `x`."""
    if labels:
        return "y" if name in labels else "x"
    words = set(name.lower().replace("-", "_").split("_")) - set(TRAINING) - set(VALIDATION)
    bare = "_".join(sorted(words))
    if bare in LABELS:
        return "y"
    return "sample_weight" if bare in WEIGHTS or name.lower() in WEIGHTS else "x"


def role_named(name: str) -> str:
    """Return `training` or `validation`, by the words of a name such as `x_val`."""
    words = set(name.lower().replace("-", "_").replace(".", "_").split("_"))
    return "validation" if words & set(VALIDATION) else "training"

"""Tables of pandas: their columns and rows, and what becomes of them."""

from __future__ import annotations

from fitdoctor.facts import Unknown
from fitdoctor.records import replace
from fitdoctor.source.data import arrays
from fitdoctor.source.interpreter import indexing
from fitdoctor.source.interpreter.values import UNTOLD, Array, Bounds, Items, Method, Plain, Ref, Span, Value
from fitdoctor.source.models.layer_settings import Dims

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from fitdoctor.source.interpreter.interpret import Interpreter


def category_codes(series: Value) -> Value:
    """`series.cat.codes`."""
    if not isinstance(series, Array) or series.container != "pandas.Series":
        return UNTOLD
    bounds = None if not series.kinds else Bounds(0, series.kinds - 1, True)
    return Array(series.dims, "int8", "pandas.Series", bounds=bounds, kinds=series.kinds)


def as_index(run: Interpreter, key: Value) -> Value:
    """A key with lists in it turned into the arrays that NumPy takes them for."""
    if isinstance(key, Items):
        return Items(tuple(as_index(run, item) for item in key.items))
    if isinstance(key, Ref):
        items = run.sequence(key)
        return UNTOLD if items is None else arrays.literal_array(items)
    return key


def with_column(table: Array, key: Value, value: Value) -> Array:
    """The table after `table[key] = value`."""
    dims = arrays.known_dims(table)
    rows = UNTOLD if dims is None else dims[0]
    if table.columns is None or not isinstance(key, Plain):
        return replace(table, dims=(rows, UNTOLD), columns=None, bounds=None, numbers=None, buffer=0)
    column = Array((rows,), UNTOLD, "pandas.Series")
    if isinstance(value, Array) and value.rank == 1:
        column = replace(column, dtype=value.dtype, bounds=arrays.bounds_of(value), kinds=value.kinds)
    columns = dict(table.columns)
    columns[str(key.value)] = column
    return table_of(tuple(columns.items()), rows)


def table_of(columns: tuple[tuple[str, Array], ...], rows: Any) -> Array:
    """A DataFrame of these columns."""
    kinds = arrays.common_dtype(column.dtype for _, column in columns) if columns else UNTOLD
    return Array((rows, len(columns)), kinds, "pandas.DataFrame", columns=columns)


def table_item(run: Interpreter, table: Array, key: Value) -> Value:
    """`table[key]` of a DataFrame or Series."""
    dims = arrays.known_dims(table)
    if table.container == "pandas.Series":
        return _series_item(table, key)
    rows = UNTOLD if dims is None else dims[0]
    known = None if table.columns is None else dict(table.columns)
    if isinstance(key, Plain) and isinstance(key.value, str):
        if known is not None and key.value in known:
            return known[key.value]
        return Array((rows,), UNTOLD, "pandas.Series", buffer=table.buffer)
    names = run.sequence(key)
    if names is not None:
        if known is not None and all(isinstance(name, Plain) and name.value in known for name in names):
            chosen = tuple((str(name.value), known[name.value]) for name in names if isinstance(name, Plain))
            return table_of(chosen, rows)
        if all(isinstance(name, Plain) and isinstance(name.value, str) for name in names):
            return Array((rows, len(names)), UNTOLD, "pandas.DataFrame")
        return Array(UNTOLD, UNTOLD, "pandas.DataFrame")
    if isinstance(key, Array) and key.dtype == "bool":
        columns = UNTOLD if dims is None else dims[1]
        return Array((UNTOLD, columns), table.dtype, "pandas.DataFrame", columns=_without_rows(table))
    return UNTOLD


def _series_item(series: Array, key: Value) -> Value:
    if isinstance(key, Array) and key.dtype == "bool":
        return Array((UNTOLD,), series.dtype, "pandas.Series")
    if isinstance(key, Span):
        dims = arrays.known_dims(series)
        walked = None if dims is None else indexing.index_dims(dims, key)
        return Array(UNTOLD if walked is None else walked[0], series.dtype, "pandas.Series")
    return UNTOLD


def _without_rows(table: Array) -> tuple[tuple[str, Array], ...] | None:
    if table.columns is None:
        return None
    return tuple((name, Array((UNTOLD,), column.dtype, "pandas.Series")) for name, column in table.columns)


def table_rows(run: Interpreter, place: Method, key: Value) -> Value:
    """`table.iloc[key]`; `loc` goes by labels, of which only the rank is told."""
    table = place.receiver
    if not isinstance(table, Array) or not table.container.startswith("pandas"):
        return UNTOLD
    dims = arrays.known_dims(table)
    if dims is None or place.name == "loc":
        return UNTOLD
    walked = indexing.index_dims(dims, as_index(run, key))
    if walked is None:
        return UNTOLD
    made: Dims = _with_width(walked[0], key)
    container = {2: "pandas.DataFrame", 1: "pandas.Series"}.get(len(made))
    if container is None:
        return UNTOLD
    return Array(made, table.dtype, container)


def _with_width(dims: Dims, key: Value) -> Dims:
    """As many columns as `iloc[:, :8]` names, of a table whose width is not told."""
    columns = key.items[1] if isinstance(key, Items) and len(key.items) == 2 else None
    if len(dims) != 2 or not isinstance(dims[1], Unknown) or not isinstance(columns, Span):
        return dims
    start = Plain(0) if columns.start == Plain(None) else columns.start
    return (dims[0], indexing.columns_named(replace(columns, start=start)))

"""pandas tables: their columns and rows, and operations on them."""

from __future__ import annotations

import ast
from typing import Any

from fitdoctor.facts import Unknown
from fitdoctor.records import replace
from fitdoctor.source.data import arrays
from fitdoctor.source.interpreter import indexing
from fitdoctor.source.interpreter.interpret import Interpreter
from fitdoctor.source.interpreter.row_history import with_set_column, without
from fitdoctor.source.interpreter.values import (
    UNTOLD,
    Arguments,
    Array,
    Bounds,
    Items,
    Method,
    Plain,
    Ref,
    Span,
    Value,
)
from fitdoctor.source.models.layer_settings import Dims


def category_codes(series: Value) -> Value:
    """`series.cat.codes`."""
    if not isinstance(series, Array) or series.container != "pandas.Series":
        return UNTOLD
    bounds = None if not series.kinds else Bounds(0, series.kinds - 1, True)
    return Array(series.dims, "int8", "pandas.Series", bounds=bounds, kinds=series.kinds)


def as_index(run: Interpreter, key: Value) -> Value:
    """Convert lists in a key to arrays, as NumPy does."""
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
    history = with_set_column(table, key, value)
    if table.columns is None or not isinstance(key, Plain):
        return Array((rows, UNTOLD), UNTOLD, "pandas.DataFrame", history=history)
    columns = dict(table.columns)
    columns[str(key.value)] = _column_of(value, rows)
    return replace(table_of(tuple(columns.items()), rows), history=history)


def _column_of(value: Value, rows: Any) -> Array:
    column = Array((rows,), UNTOLD, "pandas.Series")
    if isinstance(value, Array) and value.rank == 1:
        column = replace(
            column,
            dtype=value.dtype,
            bounds=arrays.bounds_of(value),
            kinds=value.kinds,
            fractions=value.fractions,
        )
    return column


def with_inserted(table: Array, arguments: Arguments) -> Array:
    """The table after `table.insert(place, name, value)`."""
    dims = arrays.known_dims(table)
    rows = UNTOLD if dims is None else dims[0]
    at, name = arrays.whole(arguments.get("loc", 0)), arguments.get("column", 1)
    if table.columns is None or at is None or at < 0 or not isinstance(name, Plain):
        return Array((rows, UNTOLD), UNTOLD, "pandas.DataFrame")
    new = (str(name.value), _column_of(arguments.get("value", 2) or UNTOLD, rows))
    return table_of((*table.columns[:at], new, *table.columns[at:]), rows)


def without_columns(table: Array, names: tuple[str, ...] | None) -> Array:
    """The table without some of its columns."""
    dims = arrays.known_dims(table)
    rows, width = (UNTOLD, UNTOLD) if dims is None or len(dims) != 2 else dims
    history = without(table, names)
    if table.columns is not None and names is not None:
        left = table_of(tuple((name, column) for name, column in table.columns if name not in names), rows)
        return replace(left, history=history)
    rest = width - len(names) if isinstance(width, int) and names is not None else UNTOLD
    return Array((rows, rest), UNTOLD, "pandas.DataFrame", history=history)


def renamed(run: Interpreter, table: Array, names: Value) -> Array:
    """The table after `table.columns = names`."""
    labels = run.sequence(names)
    old = table.columns
    if old is None or labels is None or len(labels) != len(old):
        return replace(table, columns=None)
    if not all(isinstance(label, Plain) for label in labels):
        return replace(table, columns=None)
    new = [str(label.value) for label in labels if isinstance(label, Plain)]
    return replace(table, columns=tuple(zip(new, (column for _, column in old), strict=True)))


def rebind(run: Interpreter, place: ast.expr, old: Array, new: Value) -> None:
    """Record an in-place change: all names of the table refer to the new value, and other views become unknown."""
    run.state.written.add(old.buffer)
    held = run.lookup(place.id) if isinstance(place, ast.Name) else None
    if not isinstance(held, Array) or held.buffer != old.buffer:
        return
    changed = run.settled(replace(new, buffer=0) if isinstance(new, Array) else new)
    for frame, names in list(run.state.frames.items()):
        same = {name: changed for name, value in names.items() if _is_same(value, held)}
        if same:
            run.state.names(frame).update(same)


def _is_same(value: Value, table: Array) -> bool:
    return isinstance(value, Array) and value.buffer == table.buffer and value == table


def table_of(columns: tuple[tuple[str, Array], ...], rows: Any) -> Array:
    """A DataFrame of these columns."""
    kinds = arrays.common_dtype(column.dtype for _, column in columns) if columns else UNTOLD
    drawn = bool(columns) and all(column.fractions for _, column in columns)
    return Array((rows, len(columns)), kinds, "pandas.DataFrame", columns=columns, fractions=drawn)


def table_item(run: Interpreter, table: Array, key: Value) -> Value:
    """`table[key]` of a DataFrame or Series."""
    dims = arrays.known_dims(table)
    if table.container == "pandas.Series":
        return _series_item(table, key)
    rows = UNTOLD if dims is None else dims[0]
    known = None if table.columns is None else dict(table.columns)
    if isinstance(key, Plain) and isinstance(key.value, (str, int)):
        if known is not None and str(key.value) in known:
            return known[str(key.value)]
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
    chosen = _chosen_columns(run, table, key)
    if chosen is None:
        return Array(made, table.dtype if table.columns is None else UNTOLD, container)
    rows = key.items[0] if isinstance(key, Items) else key
    if rows != _EVERY:
        chosen = tuple(
            (name, Array(made[:1], one.dtype, one.container, fractions=one.fractions)) for name, one in chosen
        )
    return chosen[0][1] if len(made) == 1 else table_of(chosen, made[0])


_EVERY = Span(Plain(None), Plain(None), Plain(None))


def _chosen_columns(run: Interpreter, table: Array, key: Value) -> tuple[tuple[str, Array], ...] | None:
    """Return the columns that `iloc[rows, key]` selects; None if unknown, or if it selects a row."""
    keys = key.items if isinstance(key, Items) else (key, _EVERY)
    if table.columns is None or len(keys) != 2 or arrays.is_whole(keys[0]):
        return None
    at = arrays.whole(keys[1])
    if at is not None:
        return table.columns[at : at + 1 or None]
    if isinstance(keys[1], Span):
        ends = [end.value for end in (keys[1].start, keys[1].stop, keys[1].step) if isinstance(end, Plain)]
        plain = len(ends) == 3 and all(end is None or isinstance(end, int) for end in ends)
        return table.columns[slice(*ends)] if plain else None
    places = [arrays.whole(item) for item in run.sequence(keys[1]) or ()]
    width = len(table.columns)
    told = [place for place in places if place is not None and -width <= place < width]
    return tuple(table.columns[place] for place in told) if told and len(told) == len(places) else None


def _with_width(dims: Dims, key: Value) -> Dims:
    """Return the number of columns that `iloc[:, :8]` names, for a table of unknown width."""
    columns = key.items[1] if isinstance(key, Items) and len(key.items) == 2 else None
    if len(dims) != 2 or not isinstance(dims[1], Unknown) or not isinstance(columns, Span):
        return dims
    start = Plain(0) if columns.start == Plain(None) else columns.start
    return (dims[0], indexing.columns_named(replace(columns, start=start)))

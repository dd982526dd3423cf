"""Methods of arrays, tensors and tables."""

from __future__ import annotations

import ast

from fitdoctor.records import replace
from fitdoctor.source.data import arrays, tables
from fitdoctor.source.data.array_arguments import dtype_of, order_of
from fitdoctor.source.data.array_math import reduction
from fitdoctor.source.interpreter import objects
from fitdoctor.source.interpreter.interpret import Interpreter
from fitdoctor.source.interpreter.values import (
    NONE,
    UNTOLD,
    Arguments,
    Array,
    Items,
    ListRecord,
    Plain,
    Ref,
    Value,
)
from fitdoctor.source.models.layer_settings import product

_IN_PLACE = frozenset("fill sort resize put itemset partition setflags update insert".split())
_REDUCTIONS = frozenset("sum mean std var max min prod any all argmax argmin median".split())
_SAME_SHAPE = frozenset(
    "copy clip round abs cumsum numpy fillna reset_index sort_values sort_index interpolate".split()
)
_OTHER_COLUMNS = frozenset("merge join assign set_index reset_index".split())
_ROWS_DROPPED = frozenset("dropna drop_duplicates query head tail sample".split())


def call(run: Interpreter, array: Array, name: str, arguments: Arguments) -> Value:
    """A method of an array or table."""
    in_place = objects.truth(run, arguments.get("inplace") or Plain(False))
    if in_place is not False:
        run.state.written.add(array.buffer)
        if in_place and array.container == "pandas.DataFrame":
            kept = tuple((key, value) for key, value in arguments.keywords if key != "inplace")
            made = call(run, array, name, replace(arguments, keywords=kept))
            if isinstance(made, Array):
                _changed(run, array, arguments, made)
        return NONE
    if name == "insert" and array.container == "pandas.DataFrame":
        _changed(run, array, arguments, tables.with_inserted(array, arguments))
        return NONE
    if name in _IN_PLACE:
        run.state.written.update((array.buffer, -array.buffer) if name == "resize" else (array.buffer,))
        return UNTOLD
    if array.container.startswith("pandas"):
        found = _table_method(run, array, name, arguments)
        if found is not None:
            return found
    return _array_method(run, array, name, arguments)


def _changed(run: Interpreter, table: Array, arguments: Arguments, made: Array) -> None:
    place = arguments.node.func
    run.state.written.add(table.buffer)
    if isinstance(place, ast.Attribute):
        tables.rebind(run, place.value, table, made)


def _array_method(run: Interpreter, array: Array, name: str, arguments: Arguments) -> Value:
    if name == "reshape":
        return _reshape(run, array, arguments)
    if name == "astype":
        dtype = dtype_of(arguments.get("dtype", 0))
        return arrays.cast(array, UNTOLD if dtype is None else dtype)
    if name in ("flatten", "ravel"):
        dims = arrays.known_dims(array)
        size = UNTOLD if dims is None else product(dims)
        flat = replace(array, dims=(size,), unit_rows=False, columns=None)
        return replace(flat, buffer=0) if name == "flatten" else flat
    if name == "transpose":
        given = arguments.positional
        axes = (
            given[0] if len(given) == 1 and not arrays.is_whole(given[0]) else Items(given) if given else None
        )
        return arrays.transpose(array, order_of(run, axes))
    if name == "squeeze":
        return arrays.squeeze(array, arguments.get("axis", 0))
    if name in _REDUCTIONS:
        if array.container == "pandas.DataFrame":
            return UNTOLD if arguments.positional or arguments.keywords else _per_column(array)
        if array.container == "pandas.Series":
            return Array((), UNTOLD)
        return reduction(run, array, name, arguments, 0)
    if name in _SAME_SHAPE:
        return _same_shape(array, name)
    if name in ("tolist", "to_list"):
        return run.allocate(ListRecord(_rows(array)))
    if name == "unique":
        return Array((UNTOLD if array.kinds is None else array.kinds,), array.dtype, kinds=array.kinds)
    if name == "nunique" and array.container == "pandas.Series":
        return UNTOLD if array.kinds is None else Plain(array.kinds)
    return UNTOLD


def _per_column(table: Array) -> Array:
    """A number per column, such as `frame.mean()`."""
    dims = arrays.known_dims(table)
    return Array((UNTOLD if dims is None else dims[1],), UNTOLD, "pandas.Series")


def _same_shape(array: Array, name: str) -> Value:
    if name in ("copy", "numpy", "reset_index", "sort_values", "sort_index"):
        container = "numpy.ndarray" if name == "numpy" else array.container
        keeps_order = name in ("copy", "numpy")
        return replace(array, container=container, buffer=0, numbers=array.numbers if keeps_order else None)
    if name == "cumsum" and array.rank != 1:
        return Array(dtype=array.dtype)
    return Array(array.dims, array.dtype if name != "fillna" else UNTOLD, array.container)


def _rows(array: Array) -> tuple[Value, ...] | None:
    if array.rank == 1 and array.numbers is not None:
        whole = isinstance(array.dtype, str) and array.dtype.startswith(("int", "uint"))
        return tuple(Plain(int(number) if whole else number) for number in array.numbers)
    return None


def _reshape(run: Interpreter, array: Array, arguments: Arguments) -> Value:
    given = arguments.positional or tuple(value for name, value in arguments.keywords if name == "shape")
    if len(given) == 1 and not arrays.is_whole(given[0]):
        items = run.sequence(given[0])
        if items is None:
            return Array(dtype=array.dtype) if not arrays.is_whole(given[0]) else UNTOLD
        given = items
    return arrays.reshape(array, given)


# --- tables -----------------------------------------------------------------------------------------------------------


def _table_method(run: Interpreter, table: Array, name: str, arguments: Arguments) -> Value | None:
    if name in ("to_numpy",):
        dtype = dtype_of(arguments.get("dtype", 0))
        plain = replace(table, container="numpy.ndarray", columns=None)
        return plain if dtype is None else arrays.cast(plain, dtype)
    if name == "drop":
        return _dropped(run, table, arguments)
    if name == "pop":
        item = arguments.get("item", 0)
        series = tables.table_item(run, table, item or UNTOLD)
        if table.container == "pandas.DataFrame":
            _changed(run, table, arguments, tables.without_columns(table, _labels(run, item)))
        else:
            run.state.written.add(table.buffer)
        # What is written into the table from now on does not reach the column that it no longer has.
        return replace(series, buffer=0) if isinstance(series, Array) else series
    if name in _ROWS_DROPPED:
        return _fewer_rows(table)
    if name in ("map", "apply", "replace") and table.container == "pandas.Series":
        dims = table.dims
        return Array(dims, UNTOLD, "pandas.Series") if name != "apply" else UNTOLD
    if name == "reset_index" and objects.truth(run, arguments.get("drop") or Plain(False)) is True:
        return None
    if table.container != "pandas.DataFrame" or name not in _OTHER_COLUMNS:
        return UNTOLD if name == "reset_index" else None
    sizes = arrays.known_dims(table)
    # A join may repeat rows: the other table can have several of one key.
    rows = UNTOLD if sizes is None or name in ("merge", "join") else sizes[0]
    return Array((rows, UNTOLD), UNTOLD, "pandas.DataFrame")


def _fewer_rows(table: Array) -> Value:
    dims = arrays.known_dims(table)
    if dims is None:
        return UNTOLD
    columns = None
    if table.columns is not None:
        columns = tuple((name, replace(column, dims=(UNTOLD,))) for name, column in table.columns)
    return Array((UNTOLD, *dims[1:]), table.dtype, table.container, columns=columns)


def _dropped(run: Interpreter, table: Array, arguments: Arguments) -> Value:
    dims = arrays.known_dims(table)
    named = arguments.get("columns")
    axis = arguments.get("axis", 1)
    by_column = named is not None or (isinstance(axis, Plain) and axis.value in (1, "columns"))
    if dims is None or len(dims) != 2 or not by_column:
        return UNTOLD
    labels = named if named is not None else arguments.get("labels", 0)
    return tables.without_columns(table, _labels(run, labels))


def _labels(run: Interpreter, value: Value | None) -> tuple[str, ...] | None:
    if isinstance(value, Plain) and isinstance(value.value, (str, int)):
        return (str(value.value),)
    items = run.sequence(value) if isinstance(value, (Ref, Items)) else None
    if items is None or not all(isinstance(item, Plain) for item in items):
        return None
    return tuple(str(item.value) for item in items if isinstance(item, Plain))

"""Functions that create pandas tables: from files, dicts of columns, arrays."""

from __future__ import annotations

from fitdoctor.facts import Unknown
from fitdoctor.records import replace
from fitdoctor.source.data import arrays, tables
from fitdoctor.source.data.array_arguments import array_argument, to_array
from fitdoctor.source.interpreter import objects
from fitdoctor.source.interpreter.interpret import Interpreter
from fitdoctor.source.interpreter.library import handles
from fitdoctor.source.interpreter.values import UNTOLD, Arguments, Array, ListRecord, Plain, Ref, Value
from fitdoctor.source.models.layer_settings import Dim


@handles(
    "pandas.read_csv", "pandas.read_excel", "pandas.read_parquet", "pandas.read_json", "pandas.read_table"
)
def _read_table(run: Interpreter, arguments: Arguments) -> Value:
    reshaping = {"index_col", "usecols", "names", "squeeze", "chunksize", "iterator", "sheet_name"}
    if reshaping & set(arguments.names()):
        return UNTOLD
    return Array((UNTOLD, UNTOLD), UNTOLD, "pandas.DataFrame")


@handles("pandas.DataFrame")
def _data_frame(run: Interpreter, arguments: Arguments) -> Value:
    data = arguments.get("data", 0)
    names = arguments.get("columns", 2)
    if arguments.get("index", 1) is not None or not arguments.complete:
        return Array((UNTOLD, UNTOLD), UNTOLD, "pandas.DataFrame")
    pairs = objects.pairs_of(run, data)
    if pairs is not None and names is None and pairs:
        return _frame_of_columns(run, pairs)
    if isinstance(data, Array) and data.rank == 2:
        return _frame_of_rows(run, data, names)
    if run.sequence(data) is not None or (isinstance(data, Ref) and isinstance(run.record(data), ListRecord)):
        rows = to_array(run, data)
        if not isinstance(rows, Array) or rows.rank != 2:
            return UNTOLD  # a cell may contain a list: no shape of a column says anything
    return Array((UNTOLD, UNTOLD), UNTOLD, "pandas.DataFrame")


def _frame_of_columns(run: Interpreter, pairs: tuple[tuple[object, Value], ...]) -> Value:
    columns: list[tuple[str, Array]] = []
    listed: set[str] = set()
    rows: Dim = UNTOLD
    for name, value in pairs:
        made = to_array(run, value)
        column = made if isinstance(made, Array) and made.rank == 1 else None
        if column is not None and not isinstance(column.dims, Unknown) and isinstance(column.dims[0], int):
            rows = column.dims[0]
        dtype = UNTOLD if column is None else column.dtype
        if isinstance(made, Array) and (made.rank or 0) > 1:
            listed.add(str(name))
            dtype = "object"
        bounds = None if column is None else arrays.bounds_of(column)
        kinds = None if column is None else column.kinds
        drawn = column is not None and column.fractions
        columns.append(
            (str(name), Array(UNTOLD, dtype, "pandas.Series", bounds=bounds, kinds=kinds, fractions=drawn))
        )
    # If each cell contains a list, the shape of the column is meaningless.
    sized = tuple(
        (name, column if name in listed else replace(column, dims=(rows,))) for name, column in columns
    )
    return tables.table_of(sized, rows)


_MOST_COLUMNS = 2000
"""How many columns without names are counted."""


def _frame_of_rows(run: Interpreter, data: Array, names: Value | None) -> Value:
    assert not isinstance(data.dims, Unknown)
    labels = run.sequence(names)
    width = data.dims[1]
    if names is None and isinstance(width, int) and width <= _MOST_COLUMNS:
        labels = tuple(Plain(number) for number in range(width))
    columns = None
    if labels is not None and all(isinstance(label, Plain) for label in labels):
        columns = tuple(
            (str(label.value), Array((data.dims[0],), data.dtype, "pandas.Series", fractions=data.fractions))
            for label in labels
            if isinstance(label, Plain)
        )
    return Array(data.dims, data.dtype, "pandas.DataFrame", columns=columns)


@handles("pandas.Series")
def _series(run: Interpreter, arguments: Arguments) -> Value:
    array = array_argument(run, arguments, "data")
    if array is None or array.rank != 1 or arguments.get("index", 1) is not None:
        return UNTOLD
    return replace(array, container="pandas.Series")

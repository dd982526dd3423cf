"""Facts about the arrays passed to `fit`: shape, dtype, values and origin, as far as the source shows."""

from __future__ import annotations

import ast
import math
from collections import Counter

from fitdoctor.facts import ArrayFacts, Code, Column, RowEvent, Shape, Statistics, Unknown
from fitdoctor.records import replace
from fitdoctor.source.data import arrays
from fitdoctor.source.data.array_arguments import frozen
from fitdoctor.source.interpreter import objects
from fitdoctor.source.interpreter.interpret import Interpreter
from fitdoctor.source.interpreter.values import (
    ELEMENT,
    Array,
    Dataset,
    History,
    Items,
    ListRecord,
    Made,
    Plain,
    Ref,
    Value,
)
from fitdoctor.source.origins import data_origin, origin

NOT_EVIDENT = Unknown("not evident from the source")
_MOST_COMPONENTS = 64
_MOST_PARTS = 32
_MOST_CLASSES = 64
_MANY = 8


def is_none(value: Value | None) -> bool:
    """Whether an argument is missing or None."""
    return value is None or value == Plain(None)


def components(
    run: Interpreter, value: Value | None, path: str, node: ast.expr | None
) -> tuple[ArrayFacts, ...] | None:
    """Return the arrays of a structure; None if unknown."""
    if value is None or is_none(value):
        return ()
    pairs = objects.pairs_of(run, value)
    if pairs is not None:
        inside = _dict_nodes(run, node)
        found: list[ArrayFacts] = []
        for key, item in pairs:
            part = components(run, item, f"{path}[{key!r}]", inside.get(key))
            if part is None:
                return None
            found.extend(replace(one, key=f"{key}/{one.key}" if one.key else str(key)) for one in part)
        return tuple(found)
    items = run.sequence(value) if isinstance(value, (Ref, Items)) else None
    if isinstance(value, (Ref, Items)) and items is None:
        return _grown_list(run, value, path, node)
    if items is not None:
        # None where data would be is a placeholder.
        return None if any(map(is_none, items)) else _listed(run, value, items, path, node)
    if isinstance(value, Array):
        return (_one(run, value, path, node),)
    return (untold(run, path, node),) if isinstance(value, (Unknown, Made)) else None


def untold(run: Interpreter, path: str, node: ast.expr | None) -> ArrayFacts:
    """Return an array of which only the origin is known."""
    return ArrayFacts(path, use=run.code(node), code=code_of(run, None, node))


def _dict_nodes(run: Interpreter, node: ast.expr | None) -> dict[object, ast.expr]:
    """Return the expressions in a literal dict, here or where it was created."""
    if node is not None and not isinstance(node, ast.Dict):
        module = run.owner(node)
        end = origin(module, node)
        node = end.node if end.module is module and not end.path else None
    if not isinstance(node, ast.Dict):
        return {}
    return {
        key.value: value
        for key, value in zip(node.keys, node.values, strict=True)
        if isinstance(key, ast.Constant)
    }


def _grown_list(
    run: Interpreter, value: Value, path: str, node: ast.expr | None
) -> tuple[ArrayFacts, ...] | None:
    """Return facts of a list that a loop fills with one item per sample; only numbers have a known shape."""
    record = run.record(value) if isinstance(value, Ref) else None
    if not isinstance(record, ListRecord) or not record.grows:
        return None
    element = record.element
    numbers = isinstance(element, Array) and element.dims == ()
    dtype = element.dtype if numbers and isinstance(element, Array) else NOT_EVIDENT
    facts = untold(run, path, node)
    ragged = isinstance(element, Ref) and isinstance(run.record(element), ListRecord)
    shape = (None,) if numbers else Unknown("rows may differ in length") if ragged else NOT_EVIDENT
    return (replace(facts, container="list", shape=shape, dtype=dtype),)


def _listed(
    run: Interpreter, value: Value, items: tuple[Value, ...], path: str, node: ast.expr | None
) -> tuple[ArrayFacts, ...] | None:
    """Split a list of arrays into components; a list of numbers, or of lists of numbers, is one."""
    numbers = all(isinstance(item, Array) and item.dims == () for item in items)
    if not numbers and any(isinstance(item, Array) for item in items):
        if not all(isinstance(item, Array) for item in items):
            return None
        elements = node.elts if isinstance(node, (ast.List, ast.Tuple)) else []
        parts = [elements[at] if len(elements) == len(items) else node for at in range(len(items))]
        return tuple(
            replace(_one(run, item, f"{path}[{at}]", parts[at]), key=str(at))
            for at, item in enumerate(items[:_MOST_COMPONENTS])
            if isinstance(item, Array)
        )
    plain = frozen(run, value)
    if not isinstance(plain, Items) or not _only_numbers(plain):
        # Too many items for inputs or outputs: there is one per sample.
        many = isinstance(value, Ref) and len(items) > _MOST_PARTS
        return (replace(untold(run, path, node), container="list"),) if many else None
    array = arrays.literal_array(plain.items)
    kind = "tuple" if isinstance(value, Items) else "list"
    record = run.record(value) if isinstance(value, Ref) else None
    made = record.node if isinstance(record, ListRecord) else None
    facts = _one(run, replace(array, node=made or array.node), path, node)
    return (replace(facts, container=kind, dtype=_element_type(plain)),)


def _only_numbers(value: Value) -> bool:
    if isinstance(value, Items):
        return all(_only_numbers(item) for item in value.items)
    return isinstance(value, Plain) or (isinstance(value, Array) and value.dims == ())


def _element_type(value: Value) -> str | Unknown:
    while isinstance(value, Items):
        if not value.items:
            return NOT_EVIDENT
        value = value.items[0]
    return type(value.value).__name__ if isinstance(value, Plain) else NOT_EVIDENT


def _one(run: Interpreter, array: Array, path: str, node: ast.expr | None) -> ArrayFacts:
    settled = run.settled(array)
    assert isinstance(settled, Array)
    columns = tuple(
        Column(name, column.dtype if isinstance(column.dtype, str) else "")
        for name, column in settled.columns or ()
        if isinstance(column.dtype, str)
    )
    return ArrayFacts(
        path=path,
        container=settled.container,
        shape=data_shape(settled),
        dtype=settled.dtype,
        statistics=statistics_of(settled),
        columns=columns,
        code=code_of(run, settled, node),
        use=run.code(node),
        history=_history(run, settled.history),
    )


def _history(run: Interpreter, history: History | None) -> tuple[RowEvent, ...] | Unknown:
    if history is None:
        return NOT_EVIDENT
    return tuple(RowEvent(one.kind, one.mark, one.time, one.text, run.code(one.node)) for one in history)


def code_of(run: Interpreter, value: Value | None, node: ast.expr | None) -> Code | Unknown:
    """Return the code that a value comes from, else the last expression on the way back."""
    end = data_origin(run.owner(node), node) if node is not None else None
    if end is not None and not end.path and not isinstance(end.node, ast.Name):
        return end.code
    made = value.node if isinstance(value, (Array, Dataset)) else None
    return run.code(made if made is not None else node)


def data_shape(array: Array) -> Shape | Unknown:
    """Return the shape of data: None for an unknown number of samples; the other axes are known or all Unknown."""
    if isinstance(array.dims, Unknown):
        return NOT_EVIDENT
    # One-hot labels differ from integer class labels by their axis, whatever its size.
    told = array.dims[1:-1] if array.unit_rows and len(array.dims) > 1 else array.dims[1:]
    if any(isinstance(dim, Unknown) for dim in told):
        return NOT_EVIDENT
    return tuple(dim if isinstance(dim, int) else None for dim in array.dims)


def statistics_of(array: Array) -> Statistics | Unknown:
    """Return value statistics, if the values are literal or drawn often enough to cover their range."""
    shape = data_shape(array)
    if isinstance(shape, Unknown):
        return NOT_EVIDENT
    count = shape[0] if shape and shape[0] is not None else 0
    if array.container == ELEMENT and (array.bounds is not None or array.fractions):
        # Bounds hold for all elements: a stage that drops some makes them unknown.
        count = max(count, 1)
    if array.numbers and all(isinstance(dim, int) for dim in shape):
        return _of_numbers(array, count)
    bounds = array.bounds
    if array.unit_rows and len(shape) > 1 and (bounds is None or not count):
        rows = count if count > 1 else _MANY
        return Statistics(rows, False, minimum=0.0, maximum=1.0, integral=True, row_sums=(1.0, 1.0))
    if bounds is None and array.fractions and len(shape) < 3:
        # Facts about elements, or about an unknown number of rows, hold for many.
        return Statistics(count=count if count > 1 else _MANY, complete=False)
    if bounds is None or not count:
        return NOT_EVIDENT
    return Statistics(
        count=count,
        complete=False,
        minimum=float(bounds.low),
        maximum=float(bounds.high),
        integral=bounds.integral,
        row_sums=(1.0, 1.0) if array.unit_rows and len(shape) > 1 else None,
    )


def _of_numbers(array: Array, count: int) -> Statistics:
    numbers = array.numbers or ()
    finite = [number for number in numbers if math.isfinite(number)]
    counts = Counter(finite)
    width = len(numbers) // count if count else 0
    sums = filled = None
    if isinstance(array.dims, tuple) and len(array.dims) > 1 and array.dims[-1] == width and width:
        rows = [numbers[at : at + width] for at in range(0, len(numbers), width)]
        sums = (min(map(sum, rows)), max(map(sum, rows)))
        filled = max(sum(number != 0 for number in row) for row in rows)
    return Statistics(
        count=count,
        complete=True,
        minimum=min(finite) if finite else None,
        maximum=max(finite) if finite else None,
        mean=sum(finite) / len(finite) if finite else None,
        nan=sum(number != number for number in numbers),
        inf=sum(math.isinf(number) for number in numbers),
        integral=all(number == int(number) for number in finite),
        histogram=tuple(sorted(counts.items())) if len(counts) <= _MOST_CLASSES else None,
        row_sums=sums,
        row_filled=filled,
    )

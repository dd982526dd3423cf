"""tf.data pipelines: their elements, cardinality and stages."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable

from fitdoctor.facts import Unknown
from fitdoctor.records import replace
from fitdoctor.source.data import arrays
from fitdoctor.source.data.array_arguments import dtype_of, size_of, to_array
from fitdoctor.source.interpreter import objects, row_history
from fitdoctor.source.interpreter.interpret import Interpreter
from fitdoctor.source.interpreter.library import handles
from fitdoctor.source.interpreter.values import (
    ELEMENT,
    UNTOLD,
    Arguments,
    Array,
    Dataset,
    DictRecord,
    Function,
    Items,
    Made,
    Mapping,
    Plain,
    Ref,
    Step,
    Value,
)
from fitdoctor.source.models.layer_settings import Dim


def structure(run: Interpreter, value: Value | None) -> Value:
    """Convert a structure as tf.data does: tuples and dicts stay, lists and numbers become tensors."""
    if isinstance(value, Items):
        return Items(tuple(structure(run, item) for item in value.items))
    pairs = objects.pairs_of(run, value)
    if pairs is not None:
        return Mapping(tuple((key, structure(run, item)) for key, item in pairs))
    if isinstance(value, Array):
        if value.container == "pandas.DataFrame":
            return replace(value, columns=None)
        return value
    if isinstance(value, (Ref, Plain)):
        made = to_array(run, value)
        return made if isinstance(made, Array) else UNTOLD
    return UNTOLD


def leaves(value: Value) -> tuple[Array, ...] | None:
    """Return the tensors of an element, flattened; None if one is unknown."""
    if isinstance(value, Array):
        return (value,)
    parts: tuple[Value, ...] | None = None
    if isinstance(value, Items):
        parts = value.items
    elif isinstance(value, Mapping):
        parts = tuple(item for _, item in value.items)
    if parts is None:
        return None
    found: list[Array] = []
    for part in parts:
        inside = leaves(part)
        if inside is None:
            return None
        found.extend(inside)
    return tuple(found)


def _changed(value: Value, change: Callable[[Array], Value]) -> Value:
    if isinstance(value, Array):
        return change(value)
    if isinstance(value, Items):
        return Items(tuple(_changed(item, change) for item in value.items))
    if isinstance(value, Mapping):
        return Mapping(tuple((key, _changed(item, change)) for key, item in value.items))
    return UNTOLD


def _row(array: Array) -> Value:
    dims = arrays.known_dims(array)
    made = UNTOLD if not dims else dims[1:]
    bounds = arrays.bounds_of(array)
    kept = bounds if bounds is not None and bounds.integral else None
    return Array(
        made,
        array.dtype,
        ELEMENT,
        bounds=kept,
        unit_rows=array.unit_rows,
        fractions=array.fractions,
        node=array.node,
        history=array.history,
    )


# --- where they start -------------------------------------------------------------------------------------------------


@handles("tensorflow.data.Dataset.from_tensor_slices")
def _slices(run: Interpreter, arguments: Arguments) -> Value:
    whole = structure(run, arguments.get("tensors", 0))
    parts = leaves(whole)
    counts = {part.dims[0] for part in parts or () if not isinstance(part.dims, Unknown) and part.dims}
    told = parts is not None and len(counts) == 1 and all(isinstance(count, int) for count in counts)
    rows = counts.pop() if told else UNTOLD
    count = rows if isinstance(rows, int) else UNTOLD
    element = _changed(whole, _row)
    step = Step("from_tensor_slices", element, (), arguments.node, count)
    return Dataset(element, count, None, (step,), node=arguments.node)


@handles("tensorflow.data.Dataset.from_tensors")
def _tensors(run: Interpreter, arguments: Arguments) -> Value:
    element = structure(run, arguments.get("tensors", 0))
    return Dataset(
        element, 1, UNTOLD, (Step("from_tensors", element, (), arguments.node),), node=arguments.node
    )


@handles("tensorflow.data.Dataset.range")
def _range(run: Interpreter, arguments: Arguments) -> Value:
    count = arrays.whole(arguments.positional[0]) if len(arguments.positional) == 1 else None
    element = Array((), "int64", ELEMENT)
    step = Step("range", element, (), arguments.node)
    return Dataset(element, UNTOLD if count is None else count, None, (step,), node=arguments.node)


@handles("tensorflow.data.Dataset.from_generator")
def _from_generator(run: Interpreter, arguments: Arguments) -> Value:
    signature = arguments.get("output_signature", 4)
    element = _signature(run, signature) if signature is not None else _older_signature(run, arguments)
    step = Step("from_generator", element, (), arguments.node)
    return Dataset(element, UNTOLD, UNTOLD, (step,), node=arguments.node)


def _signature(run: Interpreter, value: Value | None) -> Value:
    if isinstance(value, Items):
        return Items(tuple(_signature(run, item) for item in value.items))
    pairs = objects.pairs_of(run, value)
    if pairs is not None:
        return Mapping(tuple((key, _signature(run, item)) for key, item in pairs))
    if isinstance(value, Made) and value.name == "tensorflow.TensorSpec":
        return _spec(run, value.get("shape", 0), value.get("dtype", 1))
    return UNTOLD


def _spec(run: Interpreter, shape: Value | None, dtype: Value | None) -> Value:
    kind = dtype_of(dtype)
    if shape is None or shape == Plain(None):
        return Array(UNTOLD, UNTOLD if kind is None else kind, ELEMENT)
    items = run.sequence(shape)
    dims = size_of(run, shape) if items is None else tuple(arrays.dim_of(item) for item in items)
    return Array(dims, "float32" if kind is None else kind, ELEMENT)


def _older_signature(run: Interpreter, arguments: Arguments) -> Value:
    types, sizes = arguments.get("output_types", 1), arguments.get("output_shapes", 2)
    if sizes is None or not isinstance(types, Items) or not isinstance(sizes, Items):
        return UNTOLD
    if len(types.items) != len(sizes.items):
        return UNTOLD
    parts = zip(types.items, sizes.items, strict=True)
    return Items(tuple(_spec(run, size if isinstance(size, Items) else UNTOLD, kind) for kind, size in parts))


@handles("tensorflow.data.Dataset.zip")
def _zip(run: Interpreter, arguments: Arguments) -> Value:
    given = arguments.positional[0] if len(arguments.positional) == 1 else Items(arguments.positional)
    if not isinstance(given, Items) or not all(isinstance(part, Dataset) for part in given.items):
        return Dataset(known=False, node=arguments.node)
    parts = [part for part in given.items if isinstance(part, Dataset)]
    element = Items(tuple(part.element for part in parts))
    counts = [part.count for part in parts]
    batches = {part.batch for part in parts}
    steps = (*parts[0].steps, Step("zip", element, (), arguments.node))
    return Dataset(
        element,
        _least(counts),
        batches.pop() if len(batches) == 1 else UNTOLD,
        steps,
        all(part.known for part in parts),
        arguments.node,
    )


def _least(counts: list[int | Unknown | None]) -> int | Unknown | None:
    if any(isinstance(count, Unknown) for count in counts):
        return UNTOLD
    finite = [count for count in counts if isinstance(count, int)]
    return min(finite) if finite else None


@handles("keras.utils.timeseries_dataset_from_array", "keras.preprocessing.timeseries_dataset_from_array")
def _windows(run: Interpreter, arguments: Arguments) -> Value:
    """Return windows of a series, whose length is open in the element spec."""
    size = arguments.get("batch_size") or Plain(128)
    batch = arrays.whole(size)
    front: tuple[Dim, ...] = () if size == Plain(None) else (None,)
    element = _rows_behind((*front, None), to_array(run, arguments.get("data", 0)))
    if not arguments.complete or element == UNTOLD or (front and batch is None):
        return Dataset(known=False, node=arguments.node)
    targets = arguments.get("targets", 1)
    if targets != Plain(None):
        element = Items((element, _rows_behind(front, to_array(run, targets))))
    told = (("batch_size", str(batch)),)
    step = Step("timeseries_dataset_from_array", element, told, arguments.node)
    return Dataset(element, UNTOLD, batch, (step,), node=arguments.node)


@handles("tensorflow.data.experimental.make_csv_dataset")
def _csv(run: Interpreter, arguments: Arguments) -> Value:
    """Return batches of file rows, which repeat forever unless `num_epochs` is set."""
    size, times = arguments.get("batch_size", 1), arguments.get("num_epochs", 9)
    if not arguments.complete or isinstance(times, Unknown):
        return Dataset(known=False, node=arguments.node)
    batch = arrays.whole(size)
    count = None if times in (None, Plain(None)) else UNTOLD
    step = Step("make_csv_dataset", UNTOLD, (), arguments.node)
    return Dataset(UNTOLD, count, UNTOLD if batch is None else batch, (step,), node=arguments.node)


@handles("tensorflow.data.TextLineDataset")
def _lines(run: Interpreter, arguments: Arguments) -> Value:
    element = Array((), "string", ELEMENT)
    step = Step("TextLineDataset", element, (), arguments.node)
    return Dataset(element, UNTOLD, None, (step,), node=arguments.node)


@handles("tensorflow.data.experimental.CsvDataset")
def _csv_rows(run: Interpreter, arguments: Arguments) -> Value:
    """Return a number or a string per column with a default."""
    defaults = run.sequence(arguments.get("record_defaults", 1))
    if defaults is None or not arguments.complete:
        return Dataset(known=False, node=arguments.node)
    element = Items(tuple(Array((), UNTOLD, ELEMENT) for _ in defaults))
    step = Step("CsvDataset", element, (), arguments.node)
    return Dataset(element, UNTOLD, None, (step,), node=arguments.node)


@handles("tensorflow.io.decode_csv")
def _csv_fields(run: Interpreter, arguments: Arguments) -> Value:
    """One tensor for each default, as long as what was decoded."""
    records, defaults = arguments.get("records", 0), run.sequence(arguments.get("record_defaults", 1))
    if not isinstance(records, Array) or isinstance(records.dims, Unknown) or defaults is None:
        return UNTOLD
    if set(arguments.names()) - {"records", "record_defaults", "field_delim"}:
        return UNTOLD
    return run.new_list(Array(records.dims, UNTOLD, "tensorflow.Tensor") for _ in defaults)


def _rows_behind(front: tuple[Dim, ...], array: Value) -> Value:
    """Return the rows of an array after other axes."""
    dims = arrays.known_dims(array) if isinstance(array, Array) else None
    return Array((*front, *dims[1:]), array.dtype, ELEMENT) if isinstance(array, Array) and dims else UNTOLD


# --- steps ------------------------------------------------------------------------------------------------------------


def call(run: Interpreter, dataset: Dataset, name: str, arguments: Arguments) -> Value:
    """A method of a dataset."""
    step = _STEPS.get(name)
    if step is None:
        if name in ("cardinality", "element_spec", "as_numpy_iterator", "__iter__"):
            return UNTOLD
        run.touch(arguments)
        return Dataset(known=False, node=arguments.node)
    made = step(run, dataset, arguments)
    recorded = Step(name, made.element, _plain_arguments(arguments), arguments.node)
    return replace(made, steps=(*dataset.steps, recorded), node=arguments.node)


def _plain_arguments(arguments: Arguments) -> tuple[tuple[str, str], ...]:
    func = arguments.node.func
    names = _PARAMETERS.get(func.attr if isinstance(func, ast.Attribute) else "", ())
    given = [*zip(names, arguments.positional, strict=False), *arguments.keywords]
    return tuple((name, str(value.value)) for name, value in given if isinstance(value, Plain))


def _kept(run: Interpreter, dataset: Dataset, arguments: Arguments) -> Dataset:
    return dataset


def _shuffle(run: Interpreter, dataset: Dataset, arguments: Arguments) -> Dataset:
    order = row_history.new_order(run, "tf.data", arguments.node, arguments.get("seed", 1))
    return replace(dataset, element=row_history.extended(dataset.element, order))


def _batch(run: Interpreter, dataset: Dataset, arguments: Arguments) -> Dataset:
    size = arrays.whole(arguments.get("batch_size", 0))
    exact = objects.truth(run, arguments.get("drop_remainder", 1) or Plain(False))
    axis: Dim = UNTOLD if exact is None or (exact and size is None) else size if exact else None

    def grown(array: Array) -> Value:
        dims = array.dims if isinstance(array.dims, Unknown) else (axis, *array.dims)
        return replace(array, dims=dims)

    count: int | Unknown | None = dataset.count
    if isinstance(count, int):
        told = size and exact is not None
        count = (count // size if exact else math.ceil(count / size)) if told and size else UNTOLD
    already = dataset.batch is not None
    batch: int | Unknown = UNTOLD if size is None or already else size
    return replace(dataset, element=_changed(dataset.element, grown), count=count, batch=batch)


def _padded(run: Interpreter, dataset: Dataset, arguments: Arguments) -> Dataset:
    made = _batch(run, dataset, arguments)
    if arguments.get("padded_shapes", 1) is not None:
        return replace(made, element=UNTOLD)
    return made


def _unbatch(run: Interpreter, dataset: Dataset, arguments: Arguments) -> Dataset:
    return replace(dataset, element=_changed(dataset.element, _row), count=UNTOLD, batch=None)


def _repeat(run: Interpreter, dataset: Dataset, arguments: Arguments) -> Dataset:
    times = arguments.get("count", 0)
    if times is None or times in (Plain(None), Plain(-1)):
        return replace(dataset, count=None if dataset.count != 0 else 0)
    number = arrays.whole(times)
    count = dataset.count * number if isinstance(dataset.count, int) and number is not None else UNTOLD
    return replace(dataset, count=count)


def _take(run: Interpreter, dataset: Dataset, arguments: Arguments) -> Dataset:
    number = arrays.whole(arguments.get("count", 0))
    element = _changed(dataset.element, lambda array: replace(array, bounds=None))
    if number is None or number < 0 or isinstance(dataset.count, Unknown):
        return replace(dataset, element=element, count=UNTOLD)
    return replace(
        dataset, element=element, count=number if dataset.count is None else min(number, dataset.count)
    )


def _skip(run: Interpreter, dataset: Dataset, arguments: Arguments) -> Dataset:
    number = arrays.whole(arguments.get("count", 0))
    element = _changed(dataset.element, lambda array: replace(array, bounds=None))
    if number is None or number < 0 or not isinstance(dataset.count, int):
        return replace(dataset, element=element, count=dataset.count if dataset.count is None else UNTOLD)
    return replace(dataset, element=element, count=max(0, dataset.count - number))


def _filter(run: Interpreter, dataset: Dataset, arguments: Arguments) -> Dataset:
    element = _changed(dataset.element, lambda array: replace(array, bounds=None))
    return replace(dataset, element=element, count=UNTOLD)


def _map(run: Interpreter, dataset: Dataset, arguments: Arguments) -> Dataset:
    made = _given_each(run, dataset, arguments)
    return replace(dataset, element=UNTOLD if isinstance(made, Dataset) else made)


def _window(run: Interpreter, dataset: Dataset, arguments: Arguments) -> Dataset:
    """Return a dataset of datasets; structures of datasets are not followed."""
    size = arrays.whole(arguments.get("size", 0))
    if size is None or not isinstance(dataset.element, Array) or dataset.batch is not None:
        return replace(dataset, element=UNTOLD, count=UNTOLD)
    return replace(dataset, element=Dataset(dataset.element, size, None), count=UNTOLD)


def _flat_map(run: Interpreter, dataset: Dataset, arguments: Arguments) -> Dataset:
    """Handle `flat_map` and `interleave`: the elements of the datasets that the function returns."""
    made = _given_each(run, dataset, arguments)
    if not isinstance(made, Dataset):
        return replace(dataset, element=UNTOLD, count=UNTOLD, batch=UNTOLD)
    single = made.batch is None or made.steps[-1:] and made.steps[-1].operation == "from_tensors"
    if isinstance(dataset.element, Dataset) and made.batch == dataset.element.count:
        single = True  # a whole window is one sample
    return replace(dataset, element=made.element, count=UNTOLD, batch=None if single else UNTOLD)


def _given_each(run: Interpreter, dataset: Dataset, arguments: Arguments) -> Value:
    """Return the result of a function on an element of the dataset; Unknown if unclear."""
    function = arguments.get("map_func", 0)
    windows = isinstance(dataset.element, Dataset)
    if not isinstance(function, Function):
        return UNTOLD
    given = _parts(dataset.element, function)
    tensors = given if windows else tuple(_changed(part, _traced) for part in given)
    before = run.state.copy()
    run.trial += 1
    made = run.call(function, Arguments(tensors, (), arguments.node))
    made = _mapped(run, made) if not isinstance(made, Dataset) else made
    run.trial -= 1
    run.state = before
    return made


def _parts(element: Value, function: Function) -> tuple[Value, ...]:
    """Return what a function gets; of an unknown element, as many parts as the function has parameters."""
    if isinstance(element, Items):
        return element.items
    required = len(function.node.args.posonlyargs + function.node.args.args) - len(function.defaults)
    return (element,) if isinstance(element, (Array, Mapping, Dataset)) else (UNTOLD,) * max(1, required)


def _traced(array: Array) -> Value:
    return replace(array, container="tensorflow.Tensor", bounds=None)


def _mapped(run: Interpreter, value: Value) -> Value:
    """Convert the result of a map function for the next stage; a list counts as a tuple."""
    if isinstance(value, Ref) and not isinstance(run.record(value), DictRecord):
        items = run.sequence(value)
        return UNTOLD if items is None else Items(tuple(_mapped(run, item) for item in items))
    if isinstance(value, Items):
        return Items(tuple(_mapped(run, item) for item in value.items))
    pairs = objects.pairs_of(run, value)
    if pairs is not None:
        return Mapping(tuple((key, _mapped(run, item)) for key, item in pairs))
    if isinstance(value, Plain):
        made = to_array(run, value)
        return Array((), UNTOLD, ELEMENT) if isinstance(made, Array) else UNTOLD
    return replace(value, container=ELEMENT, bounds=None) if isinstance(value, Array) else UNTOLD


def _unknown_count(run: Interpreter, dataset: Dataset, arguments: Arguments) -> Dataset:
    return replace(dataset, count=UNTOLD)


_STEPS: dict[str, Callable[[Interpreter, Dataset, Arguments], Dataset]] = {
    "batch": _batch,
    "cache": _kept,
    "filter": _filter,
    "flat_map": _flat_map,
    "interleave": _flat_map,
    "map": _map,
    "padded_batch": _padded,
    "prefetch": _kept,
    "repeat": _repeat,
    "shard": _unknown_count,
    "shuffle": _shuffle,
    "skip": _skip,
    "take": _take,
    "unbatch": _unbatch,
    "window": _window,
    "with_options": _kept,
}

_PARAMETERS: dict[str, tuple[str, ...]] = {
    "batch": ("batch_size", "drop_remainder"),
    "padded_batch": ("batch_size",),
    "prefetch": ("buffer_size",),
    "repeat": ("count",),
    "shuffle": ("buffer_size", "seed", "reshuffle_each_iteration"),
    "skip": ("count",),
    "take": ("count",),
    "window": ("size", "shift", "stride", "drop_remainder"),
}

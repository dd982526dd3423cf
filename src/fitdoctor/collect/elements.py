"""Read the contents of a tf.data pipeline without iterating the user's dataset.

Iterating it would advance shuffle seeds, fill caches and run the user's Python code. Instead, each component is traced
back to the tensor it is sliced from, and pure functions in between are called directly on some elements.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

from fitdoctor.collect.budget import Budget, Deadline
from fitdoctor.collect.pipelines import chain, inputs_of, operation_of
from fitdoctor.collect.purity import callable_form
from fitdoctor.collect.statistics import statistics_of, statistics_of_batches
from fitdoctor.facts import Shape, Statistics, Unknown
from fitdoctor.records import dataclass

MOST_ELEMENTS = 512
PATIENCE = 4
"""The factor by which reading is extended if a pipeline yields nothing."""
PASSING = frozenset(
    ("prefetch", "options", "cache", "repeat", "shuffle", "batch", "ignore_errors", "model", "rebatch")
)
"""Operations that do not change the values of a component, only their order or grouping."""


@dataclass(frozen=True)
class Contents:
    """Statistics of the components, and the number of samples if known."""

    statistics: tuple[Statistics | Unknown, ...]
    """In the order in which TensorFlow flattens the element."""
    samples: int | Unknown = Unknown("a dataset does not report its number of samples")
    empty: bool = False
    """Whether every element was read and the pipeline yields none."""
    shapes: tuple[Shape | None, ...] = ()
    """The common shape of each component with an open first axis; None if shapes differ."""


@dataclass(frozen=True)
class _Source:
    """The tensor that a component is sliced from, and the rows used."""

    tensor: Any
    start: int
    stop: int


def contents_of(dataset: Any, budget: Budget, label_indices: frozenset[int]) -> Contents:
    """Return statistics of each flat component; labels get most of the time."""
    count = _width(dataset)
    features, labels = Deadline(budget.feature_seconds), Deadline(budget.label_seconds)
    found: list[Statistics | Unknown] = []
    sizes = set()
    for index in range(count):
        source = _trace(dataset, index)
        if isinstance(source, Unknown):
            found.append(source)
            continue
        rows = _array(source)
        is_label = index in label_indices
        found.append(statistics_of(rows, labels if is_label else features, is_label))
        sizes.add(len(rows))
    empty = False
    shapes: tuple[Shape | None, ...] = ()
    if any(isinstance(item, Unknown) for item in found):
        # Keep reading a pipeline that has yielded nothing yet: fit would train on nothing.
        patience = Deadline(PATIENCE * budget.dataset_seconds)
        columns, complete = _columns(dataset, Deadline(budget.dataset_seconds), patience)
        sampled = [_of_column(one, complete, at in label_indices) for at, one in enumerate(columns or ())]
        shapes = tuple(_shape_of(column) for column in columns or ())
        empty = columns == [] and not patience.over
        if len(sampled) == len(found):
            found = [
                ours if isinstance(ours, Statistics) else other
                for ours, other in zip(found, sampled, strict=True)
            ]
    if len(sizes) == 1:
        return Contents(tuple(found), sizes.pop(), empty, shapes)
    return Contents(tuple(found), empty=empty, shapes=shapes)


def first_samples(dataset: Any, seconds: float = 0.5) -> list[Any] | None:
    """Return the components of some samples of a batched dataset as arrays, None if it cannot be read."""
    import numpy as np

    columns, _complete = _columns(dataset, Deadline(seconds), Deadline(seconds))
    if not columns or any(value is None for column in columns for value in column):
        return None
    return [np.concatenate(column) for column in columns]


def source_rows(dataset: Any) -> Any:
    """Return the rows of the first component if no function changes them, else None."""
    source = _trace(dataset, 0)
    return None if isinstance(source, Unknown) else _array(source)


def _width(dataset: Any) -> int:
    import tensorflow as tf

    return len(tf.nest.flatten(dataset.element_spec))


def _array(source: _Source) -> Any:
    tensor = source.tensor
    # `.numpy()` copies; the private method shares the tensor's memory.
    whole = tensor._numpy() if hasattr(tensor, "_numpy") else tensor.numpy()
    return whole[source.start : source.stop]


# --- tracing a component back -------------------------------------------------------------------------------------


def _trace(dataset: Any, index: int, shuffled: bool = False) -> _Source | Unknown:
    """Return the source of a flat component if no operation changes or drops its values."""
    operation = operation_of(dataset)
    inputs = inputs_of(dataset)
    if operation == "from_tensor_slices":
        tensors = vars(dataset).get("_tensors", ())
        if index >= len(tensors) or not hasattr(tensors[index], "numpy"):
            return Unknown("its source is not in memory")
        return _Source(tensors[index], 0, int(tensors[index].shape[0]))
    if operation in PASSING and len(inputs) == 1:
        return _trace(inputs[0], index, shuffled)
    if operation in ("take", "skip") and len(inputs) == 1:
        return _part(dataset, operation, inputs[0], index)
    if operation == "map" and len(inputs) == 1:
        position = _passed_through(dataset, index)
        return Unknown("a function computes it") if position is None else _trace(inputs[0], position)
    if operation == "zip":
        for inner in inputs:
            width = _width(inner)
            if index < width:
                return _trace(inner, index)
            index -= width
    return Unknown(f"`{operation}` is between it and its source")


def _part(dataset: Any, operation: str, inner: Any, index: int) -> _Source | Unknown:
    """Return the rows that `take` and `skip` keep; unknown after a shuffle."""
    below = inner
    while True:
        step = operation_of(below)
        if step in ("shuffle", "batch", "repeat", "filter", "zip"):
            return Unknown(f"`{operation}` comes after `{step}`")
        inputs = inputs_of(below)
        if len(inputs) != 1:
            break
        below = inputs[0]
    source = _trace(inner, index)
    count = vars(dataset).get("_count")
    if isinstance(source, Unknown) or count is None:
        return Unknown(f"the rows that `{operation}` keeps are unknown")
    size = int(count.numpy())
    if size < 0:
        return source
    if operation == "take":
        return _Source(source.tensor, source.start, min(source.stop, source.start + size))
    return _Source(source.tensor, min(source.start + size, source.stop), source.stop)


def _passed_through(dataset: Any, index: int) -> int | None:
    """Return the input of a map function that becomes output `index` unchanged, None if computed."""
    function = getattr(vars(dataset).get("_map_func"), "function", None)
    graph = getattr(function, "graph", None)
    if graph is None or index >= len(graph.outputs):
        return None
    tensor = graph.outputs[index]
    while tensor.op.type in ("Identity", "EnsureShape"):
        tensor = tensor.op.inputs[0]
    for position, given in enumerate(graph.inputs):
        if given is tensor:
            captured = len(graph.inputs) - len(getattr(function, "captured_inputs", ()))
            return position if position < captured else None
    return None


# --- calling pure functions on elements ---------------------------------------------------------------------------


def _columns(dataset: Any, deadline: Deadline, patience: Deadline) -> tuple[list[list[Any]] | None, bool]:
    """Return the components of some elements, and whether these are all; empty if the pipeline yields nothing.

    The components are None if the pipeline cannot be read.
    """
    elements = _elements(dataset, patience)
    columns: list[list[Any]] = []
    for number, element in enumerate(elements or ()):
        columns = columns or [[] for _ in element]
        for column, value in zip(columns, element, strict=True):
            column.append(_as_array(value))
        if deadline.over or number >= MOST_ELEMENTS:
            return columns, False
    return (None if elements is None else columns), True


def _shape_of(column: list[Any]) -> Shape | None:
    shapes = {getattr(value, "shape", ())[1:] for value in column}
    whole = len(shapes) == 1 and bool(getattr(column[0], "ndim", None))
    return (None, *map(int, shapes.pop())) if whole else None


def _of_column(column: list[Any], complete: bool, label: bool) -> Statistics | Unknown:
    if any(value is None for value in column):
        return Unknown("it is not a dense tensor")
    if not getattr(column[0], "ndim", 0):
        import numpy as np

        return statistics_of_batches([np.asarray(column)], complete, label)
    return statistics_of_batches(column, complete, label)


def _as_array(value: Any) -> Any:
    try:
        return value.numpy()
    except (AttributeError, TypeError, ValueError):
        return None


def _elements(dataset: Any, deadline: Deadline, spread: bool = True) -> Iterator[tuple[Any, ...]] | None:
    """Return the flat elements, computed without the dataset object; None if that has side effects."""
    operation = operation_of(dataset)
    inputs = inputs_of(dataset)
    attributes = vars(dataset)
    if operation == "from_tensor_slices":
        return _slices(attributes.get("_tensors", ()), deadline, spread)
    if operation == "zip":
        constant = [_constant(inner) for inner in inputs]
        parts = [one or _elements(two, deadline, spread) for one, two in zip(constant, inputs, strict=True)]
        if any(part is None for part in parts) or all(constant):
            return None
        return (tuple(itertools.chain(*row)) for row in zip(*parts, strict=False))
    if operation == "range":
        return _numbers([attributes.get(name) for name in ("_start", "_stop", "_step")])
    if len(inputs) != 1:
        return None
    inner = _elements(inputs[0], deadline, spread and operation not in ("take", "skip"))
    if inner is None:
        return None
    if operation in ("prefetch", "options", "cache", "repeat", "shuffle", "model"):
        return inner
    if operation in ("take", "skip"):
        count = attributes.get("_count")
        if count is None or _is_shuffled(inputs[0]):
            return None
        size = int(count.numpy())
        return (
            inner
            if size < 0
            else itertools.islice(inner, *((size,) if operation == "take" else (size, None)))
        )
    if operation == "batch":
        return _batched(inner, attributes.get("_batch_size"), attributes.get("_drop_remainder"))
    if operation == "map":
        function = _callable(attributes.get("_map_func"))
        return None if function is None else (tuple(_flat(function(*element))) for element in inner)
    if operation == "filter":
        predicate = _callable(attributes.get("_predicate"))
        return (
            None
            if predicate is None
            else (element for element in inner if bool(_flat(predicate(*element))[0].numpy()))
        )
    return None


def _callable(wrapped: Any) -> Callable[..., Any] | None:
    function = getattr(wrapped, "function", None)
    return None if function is None else callable_form(function)


def _numbers(ends: list[Any]) -> Iterator[tuple[Any, ...]] | None:
    import tensorflow as tf

    if any(end is None for end in ends):
        return None
    return ((tf.constant(number, tf.int64),) for number in range(*(int(end) for end in ends)))


def _constant(dataset: Any) -> Iterator[tuple[Any, ...]] | None:
    """Yield the element of `from_tensors(…).repeat()` forever; zipped with others it has no end."""
    inner = inputs_of(dataset)
    if operation_of(dataset) != "repeat" or not inner or operation_of(inner[0]) != "from_tensors":
        return None
    tensors = vars(inner[0]).get("_tensors", ())
    return itertools.repeat(tuple(tensors)) if tensors else None


def _is_shuffled(dataset: Any) -> bool:
    return any(operation_of(item) == "shuffle" for item in chain(dataset))


def _flat(value: Any) -> list[Any]:
    return list(value) if isinstance(value, (list, tuple)) else [value]


def _slices(tensors: Any, deadline: Deadline, spread: bool) -> Iterator[tuple[Any, ...]] | None:
    if not tensors or any(not hasattr(tensor, "numpy") for tensor in tensors):
        return None
    count = int(tensors[0].shape[0])
    # For a shuffled pipeline, sample the whole source instead of its first rows.
    stride = max(count // MOST_ELEMENTS, 1) if spread else 1
    order = (row for start in range(stride) for row in range(start, count, stride))
    # A filter that rejects everything would read all rows: stop at the deadline.
    within = itertools.takewhile(lambda _row: not deadline.over, order)
    return (tuple(tensor[row] for tensor in tensors) for row in within)


def _batched(elements: Iterator[tuple[Any, ...]], size: Any, drop: Any) -> Iterator[tuple[Any, ...]] | None:
    import tensorflow as tf

    if size is None:
        return None
    rows = int(size.numpy())
    dropping = drop is not None and bool(drop.numpy())

    def batches() -> Iterator[tuple[Any, ...]]:
        while True:
            group = list(itertools.islice(elements, rows))
            if not group or (dropping and len(group) < rows):
                return
            yield tuple(tf.stack(column) for column in zip(*group, strict=True))

    return batches()

"""Collect tf.data pipelines: element spec, stages, and contents if reading has no side effects."""

from __future__ import annotations

from typing import Any

from fitdoctor.collect.arrays import Batch, Leaf, dtype_name, ordered_keys, structure_of
from fitdoctor.collect.budget import Budget
from fitdoctor.collect.codes import Codes
from fitdoctor.collect.data import Collected, Given, batch_specs
from fitdoctor.collect.generators import element_words
from fitdoctor.collect.pipelines import pipeline_of
from fitdoctor.collect.yielded import NO_GENERATOR, yielded
from fitdoctor.facts import ArrayFacts, Code, DataFacts, Shape, Statistics, Unknown
from fitdoctor.facts.data import Sharding, part_path

NESTED = "nested tf.data dataset"


def _is_nested(spec: Any) -> bool:
    return type(spec).__name__ == "DatasetSpec"


def collect_dataset(given: Given, role: str, budget: Budget, codes: Codes) -> Collected:
    """Return facts about a tf.data.Dataset from its spec; elements only if reading has no side effects."""
    dataset = given.x
    spec = getattr(dataset, "element_spec", None)
    argument = "x" if role == "training" else "validation_data"
    code, use = codes.of_argument(argument)
    parts = spec if isinstance(spec, tuple) else (spec,)
    batches, endless = _cardinality(dataset)
    pipeline = pipeline_of(dataset, codes, argument)
    operations = [step.operation for step in pipeline]
    contents = _contents(dataset, parts, budget)
    parts = _with_shapes(parts, contents.shapes)
    if contents.empty and isinstance(batches, Unknown):
        batches, endless = 0, False
    facts: dict[str, Any] = {}

    def origins(keys: tuple[Any, ...]) -> dict[str, Any]:
        """Return the array behind an unchanged component, else the pipeline itself."""
        made, given_as = codes.of_sliced(argument, operations, keys if isinstance(spec, tuple) else keys[1:])
        return {"code": made, "use": given_as} if isinstance(made, Code) else {"code": code, "use": use}

    for index, part in enumerate(("x", "y", "sample_weight")[: len(parts)]):
        facts[part] = tuple(
            ArrayFacts(
                path=path,
                key=key,
                container=NESTED if _is_nested(leaf) else "tf.data element",
                shape=_shape(leaf),
                dtype=dtype_name(leaf.dtype) if hasattr(leaf, "dtype") else Unknown("no type"),
                statistics=contents.get((index, *keys), Unknown("the pipeline was not read")),
                **origins((index, *keys)),
            )
            for path, key, keys, leaf in _leaves(parts[index], part_path(role, part))
        )
    batch = _batch(parts)
    size = _batch_size(parts)
    return Collected(
        DataFacts(
            role=role,
            form="dataset",
            **facts,
            x_structure=structure_of(parts[0]) if parts[0] is not None else "single",
            x_order=ordered_keys(parts[0]),
            y_structure=structure_of(parts[1]) if len(parts) > 1 else "none",
            element=element_words(spec),
            element_size=len(parts),
            samples=contents.samples,
            batch_size=size,
            batches=batches,
            endless=endless,
            first_batch=batch_specs(batch, size if isinstance(size, int) else None)
            if isinstance(batch, Batch)
            else (),
            pipeline=pipeline,
            sharding=_sharding(dataset),
            yielded=yielded(dataset) if operations[:1] == ["from_generator"] else NO_GENERATOR,
            code=code,
        ),
        _for_trial(batch, given),
        dataset,
    )


def _sharding(dataset: Any) -> Sharding | Unknown:
    """Return the sharding of a dataset, known only in a process that is part of a cluster."""
    from fitdoctor.collect.cluster import joined_already

    if not joined_already():
        return Unknown("it is not distributed among workers")
    from fitdoctor.collect.sharding import sharding_of

    return sharding_of(dataset)


class _Contents(dict[tuple[Any, ...], Statistics | Unknown]):
    """Statistics by the keys of a component, and the number of samples."""

    samples: int | Unknown = Unknown("a dataset does not report its number of samples")
    empty: bool = False
    shapes: tuple[Shape | None, ...] = ()


def _contents(dataset: Any, parts: tuple[Any, ...], budget: Budget) -> _Contents:
    """Return the contents by component; TensorFlow sorts dict keys, the facts keep the user's order."""
    from fitdoctor.collect.elements import contents_of

    order = [(index, *keys) for index, part in enumerate(parts) for keys in _flat_keys(part)]
    labels = frozenset(position for position, keys in enumerate(order) if keys[0] > 0)
    found = _Contents()
    try:
        contents = contents_of(dataset, budget, labels)
    # tf.data classes are private and may change between versions.
    except Exception as error:
        reason = Unknown(f"reading the pipeline raised {type(error).__name__}")
        found.update(dict.fromkeys(order, reason))
        return found
    if len(contents.statistics) == len(order):
        found.update(zip(order, contents.statistics, strict=True))
        found.samples = contents.samples
        found.empty = contents.empty
        found.shapes = contents.shapes
    return found


def _with_shapes(parts: tuple[Any, ...], shapes: tuple[Shape | None, ...]) -> tuple[Any, ...]:
    """Fill in open lengths of the spec that are equal in all elements read."""
    import tensorflow as tf

    flat = tf.nest.flatten(parts)
    if len(flat) != len(shapes):
        return parts
    told = [
        tf.TensorSpec(
            [own if own is not None else other for own, other in zip(spec.shape, seen, strict=True)],
            spec.dtype,
        )
        if type(spec) is tf.TensorSpec and seen is not None and spec.shape.rank == len(seen)
        else spec
        for spec, seen in zip(flat, shapes, strict=True)
    ]
    return tuple(tf.nest.pack_sequence_as(parts, told))


def _flat_keys(value: Any) -> list[tuple[Any, ...]]:
    if isinstance(value, dict):
        return [(key, *rest) for key in sorted(value) for rest in _flat_keys(value[key])]
    if isinstance(value, (list, tuple)):
        return [(i, *rest) for i, item in enumerate(value) for rest in _flat_keys(item)]
    return [()]


def _cardinality(dataset: Any) -> tuple[int | Unknown, bool | Unknown]:
    try:
        count = int(dataset.cardinality().numpy())
    # A distributed dataset has no cardinality of this kind.
    except Exception:
        return Unknown("its cardinality is unknown"), Unknown("its cardinality is unknown")
    if count == -1:
        return Unknown("it never ends"), True
    if count < 0:
        return Unknown("TensorFlow does not know its length"), Unknown("TensorFlow does not know its length")
    return count, False


def _shape(spec: Any) -> Shape | Unknown:
    shape = getattr(spec, "shape", None)
    if shape is None or getattr(shape, "rank", None) is None:
        return Unknown("its rank is unknown")
    return tuple(None if size is None else int(size) for size in shape)


def _leaves(
    value: Any, path: str, key: str = "", keys: tuple[Any, ...] = ()
) -> list[tuple[str, str, Any, Any]]:
    if isinstance(value, dict):
        items = [(f"{path}[{name!r}]", str(name), name, item) for name, item in value.items()]
    elif isinstance(value, (list, tuple)):
        items = [(f"{path}[{i}]", str(i), i, item) for i, item in enumerate(value)]
    else:
        return [] if value is None else [(path, key, keys, value)]
    return [
        found
        for inner, name, step, item in items
        for found in _leaves(item, inner, f"{key}/{name}" if key else name, (*keys, step))
    ]


def _batch(parts: tuple[Any, ...]) -> Batch | Unknown:
    if len(parts) > 3:
        return Unknown("the element has more than three parts")
    return Batch(*(_abstract(part) for part in parts))


def _abstract(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _abstract(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return (
            type(value)(_abstract(item) for item in value)
            if type(value) in (list, tuple)
            else tuple(_abstract(item) for item in value)
        )
    if value is None or not hasattr(value, "dtype"):
        return None
    shape = _shape(value)
    name = type(value).__name__
    return Leaf(
        None if isinstance(shape, Unknown) else shape,
        dtype_name(value.dtype),
        sparse=name.startswith("SparseTensor"),
        ragged=name.startswith("RaggedTensor"),
    )


def _batch_size(parts: tuple[Any, ...]) -> int | Unknown:
    for _path, _key, _keys, leaf in _leaves(parts[0], "x"):
        shape = _shape(leaf)
        if isinstance(shape, tuple) and shape and shape[0] is not None:
            return shape[0]
        break
    return Unknown("the batch axis is open")


def _for_trial(batch: Batch | Unknown, given: Given) -> Batch | Unknown:
    """Return the element for the trial; with class weights Keras adds sample weights."""
    if isinstance(batch, Batch) and given.class_weight is not None and batch.sample_weight is None:
        leaf = batch.y if isinstance(batch.y, Leaf) else None
        axis = leaf.shape[0] if leaf is not None and leaf.shape else None
        return Batch(batch.x, batch.y, Leaf((axis,), "float32"))
    return batch

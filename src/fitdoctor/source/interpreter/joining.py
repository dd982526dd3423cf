"""Joins values and mutable objects of two branches to what holds in both."""

from __future__ import annotations

import itertools
from typing import Any

from fitdoctor.facts import Unknown
from fitdoctor.records import replace
from fitdoctor.source.interpreter.values import (
    UNTOLD,
    Array,
    Dataset,
    DictRecord,
    InstanceRecord,
    Items,
    LayerRecord,
    ListRecord,
    Mapping,
    ModelRecord,
    Plain,
    Record,
    Symbolic,
    Value,
)
from fitdoctor.source.models.layer_settings import Dim, Dims

_buffers = itertools.count(10**12)
"""Ids for memory that is one of two; far above the interpreter's own."""


def join(one: Value, other: Value) -> Value:
    """What is true of both values."""
    if one is other or (one == other and same_history(one, other)):
        return one
    if isinstance(one, Mapping) and one == other and isinstance(other, Mapping):
        pairs = zip(one.items, other.items, strict=True)
        return Mapping(tuple((key, join(value, right)) for (key, value), (_, right) in pairs))
    if isinstance(one, Array) and isinstance(other, Array):
        return join_arrays(one, other)
    if isinstance(one, Items) and isinstance(other, Items) and len(one.items) == len(other.items):
        return Items(tuple(join(left, right) for left, right in zip(one.items, other.items, strict=True)))
    if isinstance(one, Symbolic) and isinstance(other, Symbolic):
        same = one.dims == other.dims and one.dtype == other.dtype
        return Symbolic(one.dims, one.dtype) if same else UNTOLD
    if isinstance(one, Dataset) and isinstance(other, Dataset):
        return replace(
            one,
            element=join(one.element, other.element),
            count=one.count if one.count == other.count else UNTOLD,
            batch=one.batch if one.batch == other.batch else UNTOLD,
            steps=one.steps if one.steps == other.steps else (),
            known=one.known and other.known and one.steps == other.steps,
        )
    return UNTOLD


def same_history(one: Value, other: Value) -> bool:
    """Whether the same happened to the rows of two equal values."""
    if one is other:
        return True
    if isinstance(one, Array) and isinstance(other, Array):
        return one.history == other.history
    if isinstance(one, Items) and isinstance(other, Items):
        return all(map(same_history, one.items, other.items))
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return all(
            same_history(left, right) for (_, left), (_, right) in zip(one.items, other.items, strict=True)
        )
    if isinstance(one, Dataset) and isinstance(other, Dataset):
        return same_history(one.element, other.element)
    return True


def join_arrays(one: Array, other: Array) -> Array:
    """What is true of both arrays: the rank and the axes that agree."""
    same_columns = one.columns == other.columns
    return Array(
        dims=join_dims(one.dims, other.dims),
        dtype=one.dtype if one.dtype == other.dtype else UNTOLD,
        container=one.container if one.container == other.container else "",
        bounds=one.bounds if one.bounds == other.bounds else None,
        numbers=one.numbers if one.numbers == other.numbers else None,
        unit_rows=one.unit_rows and other.unit_rows,
        columns=one.columns if same_columns else None,
        kinds=one.kinds if one.kinds == other.kinds else None,
        fractions=one.fractions and other.fractions,
        buffer=one.buffer if one.buffer == other.buffer else next(_buffers),
        node=one.node if one.node is other.node else None,
        history=one.history if one.history == other.history else None,
    )


def join_dims(one: Dims | Unknown, other: Dims | Unknown) -> Dims | Unknown:
    """The axes that agree; Unknown where the ranks differ."""
    if isinstance(one, Unknown) or isinstance(other, Unknown) or len(one) != len(other):
        return UNTOLD
    return tuple(join_dim(left, right) for left, right in zip(one, other, strict=True))


def join_dim(one: Dim, other: Dim) -> Dim:
    """The length if both agree."""
    return one if one == other and not isinstance(one, Unknown) else UNTOLD


def join_records(one: Record, other: Record) -> Record:
    """What is true of a mutable thing after either branch."""
    if one is other:
        return one
    if one == other:
        if isinstance(one, InstanceRecord) and isinstance(other, InstanceRecord):
            return replace(one, attributes=_join_attributes(one.attributes, other.attributes))
        return one
    if isinstance(one, ListRecord) and isinstance(other, ListRecord):
        items = _join_items(one.items, other.items)
        element = None if items is not None else join_elements(every_item(one), every_item(other))
        return ListRecord(items, one.node, element, one.grows or other.grows)
    if isinstance(one, DictRecord) and isinstance(other, DictRecord):
        return DictRecord(_join_pairs(one.items, other.items), one.node)
    if isinstance(one, InstanceRecord) and isinstance(other, InstanceRecord):
        merged = _join_attributes(one.attributes, other.attributes)
        return replace(one, attributes=merged, open=one.open or other.open)
    if isinstance(one, LayerRecord) and isinstance(other, LayerRecord):
        return _join_layers(one, other)
    if isinstance(one, ModelRecord) and isinstance(other, ModelRecord):
        return _join_models(one, other)
    return ListRecord(None)


def every_item(record: ListRecord) -> tuple[Value, ...] | None:
    """Return the distinct items of a list; None if not all were seen."""
    if record.items is not None:
        return record.items
    return None if record.element is None else (record.element,)


def samples_in_a_list(record: ListRecord) -> ListRecord:
    """Return a list of an unknown number of items, one per sample."""
    return ListRecord(None, record.node, join_elements(every_item(record)), grows=True)


def join_elements(*parts: tuple[Value, ...] | None) -> Value | None:
    """What is true of every item of several lists together; None when not all were seen, or there are none."""
    merged: Value | None = None
    for items in parts:
        if items is None:
            return None
        for item in items:
            single = _as_scalar(item)
            merged = single if merged is None else join(merged, single)
    return merged


def _as_scalar(value: Value) -> Value:
    """Generalize a number to its dtype."""
    kind = _SCALARS.get(type(value.value)) if isinstance(value, Plain) else None
    return value if kind is None else Array((), kind, "")


_SCALARS = {bool: "bool", int: "int64", float: "float64"}


def _join_items(one: tuple[Value, ...] | None, other: tuple[Value, ...] | None) -> tuple[Value, ...] | None:
    if one is None or other is None or len(one) != len(other):
        return None
    return tuple(join(left, right) for left, right in zip(one, other, strict=True))


def _join_pairs(
    one: tuple[tuple[Any, Value], ...] | None, other: tuple[tuple[Any, Value], ...] | None
) -> tuple[tuple[Any, Value], ...] | None:
    if one is None or other is None or [key for key, _ in one] != [key for key, _ in other]:
        return None
    return tuple((key, join(left, right)) for (key, left), (_, right) in zip(one, other, strict=True))


def _join_attributes(
    one: tuple[tuple[str, Value], ...], other: tuple[tuple[str, Value], ...]
) -> tuple[tuple[str, Value], ...]:
    right = dict(other)
    merged = [(name, join(value, right[name]) if name in right else UNTOLD) for name, value in one]
    seen = dict(one)
    return (*merged, *((name, UNTOLD) for name in right if name not in seen))


def _join_layers(one: LayerRecord, other: LayerRecord) -> LayerRecord:
    built, unbuilt = (other, one) if one.built_on is None else (one, other)
    if built.built_on is not None and unbuilt.built_on is None and unbuilt.inputs is None:
        # As in a loop whose first iteration builds the layers of a model.
        as_built = replace(
            unbuilt,
            built_on=built.built_on,
            inputs=built.inputs,
            outputs=built.outputs,
            parameters=built.parameters,
            trainable_parameters=built.trainable_parameters,
        )
        return replace(_join_layers(built, as_built), perhaps=True)
    same_shapes = one.inputs == other.inputs and one.outputs == other.outputs
    return replace(
        one,
        attributes=_join_attributes(one.attributes, other.attributes),
        built_on=one.built_on if one.built_on == other.built_on else None,
        inputs=one.inputs if same_shapes else None,
        outputs=one.outputs if same_shapes else None,
        parameters=one.parameters if one.parameters == other.parameters else UNTOLD,
        trainable_parameters=one.trainable_parameters
        if one.trainable_parameters == other.trainable_parameters
        else UNTOLD,
        trainable=one.trainable if one.trainable == other.trainable else UNTOLD,
        open=one.open or other.open or one.built_on != other.built_on,
        perhaps=one.perhaps or other.perhaps,
    )


def _join_models(one: ModelRecord, other: ModelRecord) -> ModelRecord:
    if one.kind != other.kind:
        return replace(one, kind="opaque", layers=None, compiled=UNTOLD, open=True)
    return replace(
        one,
        layers=one.layers if one.layers == other.layers else None,
        shapes=one.shapes if one.shapes == other.shapes else (),
        input_dims=one.input_dims if one.input_dims == other.input_dims else None,
        inputs=join(one.inputs, other.inputs),
        outputs=join(one.outputs, other.outputs),
        attributes=_join_attributes(one.attributes, other.attributes),
        compiled=one.compiled if one.compiled == other.compiled else UNTOLD,
        traced=one.traced if one.traced == other.traced else None,
        open=one.open or other.open,
        broken=one.broken or other.broken,
        trainable=one.trainable if one.trainable == other.trainable else UNTOLD,
    )

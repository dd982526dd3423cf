"""Shapes of models: what their inputs are, and what comes out on inputs of given shapes."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from fitdoctor.facts import Unknown
from fitdoctor.source.interpreter.values import Arguments, LayerRecord, ModelRecord, Ref, Symbolic
from fitdoctor.source.models.layer_rules import Applied, apply_layer
from fitdoctor.source.models.layer_settings import Dims
from fitdoctor.source.models.static_layers import call_layer, tensors_in

if TYPE_CHECKING:
    from fitdoctor.source.interpreter.interpret import Interpreter


def input_shapes(run: Interpreter, record: ModelRecord) -> tuple[Dims | Unknown, ...] | None:
    """The shapes of a model's inputs; None where they are not told."""
    if record.kind == "sequential":
        return None if record.input_dims is None else (record.input_dims,)
    if record.kind == "functional":
        tensors = tensors_in(run, record.inputs)
        return None if tensors is None else tuple(tensor.dims for tensor in tensors)
    return None


def model_outputs(
    run: Interpreter, ref: Ref, shapes: tuple[Dims | Unknown, ...] | None
) -> tuple[Dims | Unknown, ...] | None:
    """The output shapes of a model on inputs of these shapes, its own by default; None where they are not told."""
    record = run.model(ref)
    if record is None or record.broken:
        return None
    own = input_shapes(run, record)
    if record.kind == "functional":
        outputs = tensors_in(run, record.outputs)
        if outputs is None or own is None:
            return None if outputs is None or shapes is not None else tuple(tensor.dims for tensor in outputs)
        if shapes is None or shapes == own:
            return tuple(tensor.dims for tensor in outputs)
        from fitdoctor.source.models.graphs import chain_of

        return _through(run, chain_of(run, record), shapes)
    if record.kind != "sequential" or record.layers is None:
        return None
    if shapes is None or shapes == own:
        if own is None:
            return None
        return (record.shapes[-1],) if record.shapes else own
    return _through(run, record.layers, shapes)


def _through(
    run: Interpreter, layers: tuple[Ref, ...] | None, shapes: tuple[Dims | Unknown, ...]
) -> tuple[Dims | Unknown, ...] | None:
    if len(shapes) != 1 or layers is None:
        return None
    dims = shapes[0]
    for layer in layers:
        applied = applied_to(run, layer, dims)
        if isinstance(applied.outputs, Unknown) or len(applied.outputs) != 1:
            return None
        dims = applied.outputs[0]
    return (dims,)


def applied_to(run: Interpreter, layer: Ref, dims: Dims | Unknown) -> Applied:
    """A layer or nested model applied to a shape, with nothing remembered."""
    record = run.record(layer)
    if isinstance(record, ModelRecord):
        outputs = model_outputs(run, layer, (dims,))
        told = tuple(one for one in outputs or () if not isinstance(one, Unknown))
        return Applied(told) if outputs and len(told) == len(outputs) else Applied()
    assert isinstance(record, LayerRecord)
    if record.open or record.owner is not None:
        if record.owner is not None and not record.open:
            return _applied_of_the_user(run, layer, dims)
        return Applied()
    return apply_layer(record.plan, (dims,))


def _applied_of_the_user(run: Interpreter, layer: Ref, dims: Dims | Unknown) -> Applied:
    before = run.state.copy()
    run.trial += 1
    node = ast.Call(ast.Name("layer", ast.Load()), [], [])
    made = call_layer(run, layer, Arguments((Symbolic(dims, "float32"),), (), node))
    run.trial -= 1
    run.state = before
    if isinstance(made, Symbolic) and not isinstance(made.dims, Unknown):
        return Applied((made.dims,))
    return Applied()

"""Sequential models as the source builds them: from a list, by `add`, with and without an Input."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from fitdoctor.facts import Unknown
from fitdoctor.records import replace
from fitdoctor.source.data import arrays
from fitdoctor.source.interpreter.values import (
    NONE,
    UNTOLD,
    Arguments,
    Items,
    LayerCall,
    LayerRecord,
    ModelRecord,
    Plain,
    Ref,
    Symbolic,
    Value,
)
from fitdoctor.source.models.layer_rules import apply_layer
from fitdoctor.source.models.layer_settings import Dims
from fitdoctor.source.models.model_shapes import input_shapes, model_outputs
from fitdoctor.source.models.static_layers import (
    call_layer,
    counted_name,
    finish_call,
    first_input_of,
    make_input,
    untold_input,
)

if TYPE_CHECKING:
    from fitdoctor.source.interpreter.interpret import Interpreter


def make_sequential(run: Interpreter, arguments: Arguments) -> Value:
    """`keras.Sequential(…)`."""
    given = arguments.get("layers", 0)
    ref = run.allocate(
        ModelRecord(
            "sequential",
            name=name_of(run, arguments, "sequential", 1),
            class_name="Sequential",
            node=arguments.node,
            strategy=run.strategy,
        )
    )
    if given is None or given == NONE:
        return ref
    items = run.sequence(given)
    if items is None or not arguments.complete:
        lose_layers(run, ref)
        run.state.touch(given)
        return ref
    for item in items:
        add_layer(run, ref, item, arguments.node)
    return ref


def lose_layers(run: Interpreter, ref: Ref) -> None:
    """The layers of a sequential model are not known any more."""
    record = run.record(ref)
    assert isinstance(record, ModelRecord)
    run.update(ref, replace(record, layers=None, shapes=(), open=True))


def add_layer(run: Interpreter, ref: Ref, value: Value, node: ast.Call) -> None:
    """`model.add(layer)`."""
    model = run.model(ref)
    if model is None or model.layers is None:
        run.state.touch(value)
        return
    if isinstance(value, Symbolic) and value.call is not None and not value.call.inputs:
        _set_input(run, ref, value)
        return
    layer = run.record(value) if isinstance(value, Ref) else None
    if isinstance(layer, LayerRecord) and layer.plan.class_name == "InputLayer":
        made = make_input(run, _arguments_of(layer))
        if isinstance(made, Symbolic):
            _set_input(run, ref, made)
        return
    if not isinstance(value, Ref) or not isinstance(layer, (LayerRecord, ModelRecord)):
        lose_layers(run, ref)
        run.state.touch(value)
        return
    _append(run, ref, value, node)


def _arguments_of(layer: LayerRecord) -> Arguments:
    node = (
        layer.node
        if isinstance(layer.node, ast.Call)
        else ast.Call(ast.Name("InputLayer", ast.Load()), [], [])
    )
    keywords: list[tuple[str, Value]] = []
    for name, value in layer.plan.settings.items():
        if isinstance(value, Unknown):
            keywords.append((name, UNTOLD))
        elif isinstance(value, tuple):
            lengths = (UNTOLD if isinstance(item, Unknown) else Plain(item) for item in value)
            keywords.append((name, Items(tuple(lengths))))
        else:
            keywords.append((name, Plain(value)))
    return Arguments((), tuple(keywords), node, layer.plan.certain)


def _set_input(run: Interpreter, ref: Ref, tensor: Symbolic) -> None:
    model = run.model(ref)
    assert model is not None
    assert tensor.call is not None
    source = run.record(tensor.call.layer) if tensor.call.layer is not None else None
    name = source.name if isinstance(source, LayerRecord) and source.named else ""
    node = source.node if isinstance(source, LayerRecord) else None
    if model.layers:
        lose_layers(run, ref)
        return
    dims = None if isinstance(tensor.dims, Unknown) else tensor.dims
    changed = replace(model, input_dims=dims, input_dtype=tensor.dtype, input_name=name, input_node=node)
    run.update(ref, changed if dims is not None else replace(changed, shapes=(UNTOLD,)))


def _append(run: Interpreter, ref: Ref, layer: Ref, node: ast.Call) -> None:
    model = run.model(ref)
    assert model is not None
    assert model.layers is not None
    untold = model.shapes == (UNTOLD,) and not model.layers
    if not model.layers and model.input_dims is None and not untold:
        model = _with_first_input(run, model, layer)
        untold = model.shapes == (UNTOLD,)
    before_it: tuple[Ref, ...] = model.layers or ()
    layers = (*before_it, layer)
    if model.input_dims is None:
        shapes = (UNTOLD,) if untold or model.shapes == (UNTOLD,) else ()
        run.update(ref, replace(model, layers=layers, shapes=shapes))
        return
    before = model.shapes[-1] if model.shapes else model.input_dims
    after = _through(run, ref, layer, before, model, node)
    changed = run.model(ref) or model
    run.update(
        ref,
        replace(
            changed,
            layers=layers,
            shapes=(*model.shapes, UNTOLD if after is None else after),
            input_dims=model.input_dims,
            input_node=model.input_node,
            broken=changed.broken or after is None,
        ),
    )


def _with_first_input(run: Interpreter, model: ModelRecord, layer: Ref) -> ModelRecord:
    """The first layer may fix the input by its own settings; a functional model in first place does as well."""
    record = run.record(layer)
    if isinstance(record, LayerRecord):
        dims = first_input_of(record)
        if dims is not None:
            return replace(model, input_dims=dims, input_node=record.node)
        return replace(model, shapes=(UNTOLD,), input_node=record.node) if untold_input(record) else model
    if isinstance(record, ModelRecord):
        inputs = input_shapes(run, record)
        if inputs is not None and len(inputs) == 1 and not isinstance(inputs[0], Unknown):
            return replace(model, input_dims=inputs[0], input_node=record.node)
        return replace(model, shapes=(UNTOLD,))
    return model


def _through(
    run: Interpreter, ref: Ref, layer: Ref, dims: Dims | Unknown, model: ModelRecord, node: ast.Call
) -> Dims | Unknown | None:
    """What a layer makes of the shape before it; None when Keras refuses."""
    record = run.record(layer)
    if isinstance(record, ModelRecord):
        outputs = model_outputs(run, layer, (dims,))
        return outputs[0] if outputs is not None and len(outputs) == 1 else UNTOLD
    assert isinstance(record, LayerRecord)
    previous = model.layers[-1] if model.layers else None
    tensor = Symbolic(dims, "float32", LayerCall(previous, (), run.fresh(), node))
    if record.owner is not None:
        made = call_layer(run, layer, Arguments((tensor,), (), node))
        return made.dims if isinstance(made, Symbolic) else UNTOLD
    if record.open:
        return UNTOLD
    applied = apply_layer(record.plan, (dims,))
    made = finish_call(run, layer, applied, (tensor,), record.node or node, model=ref)
    if applied.refusal is not None:
        return None
    return made.dims if isinstance(made, Symbolic) else UNTOLD


def name_of(run: Interpreter, arguments: Arguments, kind: str, position: int | None = None) -> str:
    """The name that a model is given, or the one that Keras counts."""
    given = arguments.get("name", position)
    if isinstance(given, Plain) and isinstance(given.value, str):
        return given.value
    return counted_name(run, kind)


def build_model(run: Interpreter, ref: Ref, record: ModelRecord, arguments: Arguments) -> None:
    """`model.build(input_shape)`: fixes the input of a model that has none."""
    items = run.sequence(arguments.get("input_shape", 0))
    if record.kind != "sequential" or record.input_dims is not None or not record.layers:
        return
    if items is None:
        run.update(ref, replace(record, shapes=(UNTOLD,)))
        return
    dims = tuple(arrays.dim_of(item) for item in items)
    layers = record.layers
    node = arguments.expression("input_shape", 0) or arguments.node
    run.update(ref, replace(record, layers=(), shapes=(), input_dims=dims, input_node=node))
    for layer in layers:
        _append(run, ref, layer, arguments.node)

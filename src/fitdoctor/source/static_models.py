"""Models as the source makes them: sequential, functional, subclassed; compile, fit, and use as a layer."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import TYPE_CHECKING

from fitdoctor.facts import Unknown
from fitdoctor.source import arrays, objects
from fitdoctor.source.graphs import graph_layers, rerun
from fitdoctor.source.layer_rules import Applied, apply_layer
from fitdoctor.source.layer_settings import Dims, LayerPlan
from fitdoctor.source.static_layers import (
    call_layer,
    counted_name,
    finish_call,
    first_input_of,
    follow_call,
    make_input,
    make_layer,
    tensors_in,
    untold_input,
)
from fitdoctor.source.values import (
    NONE,
    UNTOLD,
    Arguments,
    Array,
    Class,
    Compiled,
    Items,
    LayerCall,
    LayerRecord,
    Made,
    ModelRecord,
    Plain,
    Ref,
    Symbolic,
    Value,
)

if TYPE_CHECKING:
    from fitdoctor.source.interpret import Interpreter

_FUNCTIONAL_MERGES = {
    "add": "Add",
    "subtract": "Subtract",
    "multiply": "Multiply",
    "average": "Average",
    "maximum": "Maximum",
    "minimum": "Minimum",
    "concatenate": "Concatenate",
    "dot": "Dot",
}
_FITS = frozenset("fit evaluate predict train_on_batch test_on_batch predict_on_batch fit_generator".split())
_HARMLESS = frozenset(
    "summary save save_weights load_weights count_params get_config to_json get_weights set_weights reset_states "
    "reset_metrics export get_metrics_result reset_state make_predict_function make_train_function".split()
)
_SETTINGS = frozenset(
    "keras.backend.set_image_data_format keras.config.set_image_data_format keras.backend.set_floatx "
    "keras.config.set_floatx keras.mixed_precision.set_global_policy keras.mixed_precision.set_dtype_policy "
    "keras.config.set_dtype_policy keras.mixed_precision.experimental.set_policy".split()
)
_POOLED = {
    "VGG16": 512,
    "VGG19": 512,
    "ResNet50": 2048,
    "ResNet101": 2048,
    "ResNet152": 2048,
    "ResNet50V2": 2048,
    "ResNet101V2": 2048,
    "ResNet152V2": 2048,
    "MobileNetV2": 1280,
    "InceptionV3": 2048,
    "Xception": 2048,
    "DenseNet121": 1024,
    "DenseNet169": 1664,
    "DenseNet201": 1920,
    "EfficientNetB0": 1280,
    "EfficientNetV2B0": 1280,
    "InceptionResNetV2": 1536,
}
"""Channels of the last feature map of keras.applications, with the default width."""


def call_keras(run: Interpreter, name: str, arguments: Arguments) -> Value | None:
    """Call something of Keras that makes layers or models; None when the name is not such a thing."""
    if not name.startswith("keras."):
        return None
    if name == "keras.Input":
        return make_input(run, arguments)
    if name == "keras.Sequential":
        return _sequential(run, arguments)
    if name == "keras.Model":
        return _functional(run, arguments)
    if name in _SETTINGS:
        run.plain_defaults = False
        return NONE
    if name == "keras.Layer":
        return make_layer(run, "Layer", arguments)
    if name.startswith("keras.applications."):
        return _application(run, name, arguments)
    if name in ("keras.models.load_model", "keras.saving.load_model", "keras.models.clone_model"):
        return _loaded(run, name, arguments)
    return _layer(run, name, arguments)


def _layer(run: Interpreter, name: str, arguments: Arguments) -> Value | None:
    if not name.startswith("keras.layers."):
        return None
    last = name.rpartition(".")[2]
    if last in _FUNCTIONAL_MERGES:
        ref = make_layer(run, _FUNCTIONAL_MERGES[last], replace(arguments, positional=()))
        record = run.record(ref)
        assert isinstance(record, LayerRecord)
        if "inputs" in record.plan.settings:
            rest = {key: value for key, value in record.plan.settings.items() if key != "inputs"}
            run.update(ref, replace(record, plan=replace(record.plan, settings=rest)))
        inputs = arguments.get("inputs", 0)
        return call_layer(run, ref, Arguments((UNTOLD if inputs is None else inputs,), (), arguments.node))
    return make_layer(run, last, arguments) if last[:1].isupper() else None


def strategy(run: Interpreter) -> str:
    """The strategy in whose scope the program is now."""
    return run.strategies[-1] if run.strategies else ""


# --- sequential -------------------------------------------------------------------------------------------------------


def _sequential(run: Interpreter, arguments: Arguments) -> Value:
    given = arguments.get("layers", 0)
    ref = run.allocate(
        ModelRecord(
            "sequential",
            name=_name_of(run, arguments, "sequential", 1),
            class_name="Sequential",
            node=arguments.node,
            strategy=strategy(run),
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


def _name_of(run: Interpreter, arguments: Arguments, kind: str, position: int | None = None) -> str:
    given = arguments.get("name", position)
    if isinstance(given, Plain) and isinstance(given.value, str):
        return given.value
    return counted_name(run, kind)


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
    node = layer.node if isinstance(layer.node, ast.Call) else ast.Call(ast.Name("InputLayer", ast.Load()), [], [])
    keywords: list[tuple[str, Value]] = []
    for name, value in layer.plan.settings.items():
        if isinstance(value, Unknown):
            keywords.append((name, UNTOLD))
        elif isinstance(value, tuple):
            keywords.append((name, Items(tuple(Plain(item) for item in value))))
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
    layers = (*model.layers, layer)
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
        dims = first_input_of(run, record)
        if dims is not None:
            return replace(model, input_dims=dims, input_node=record.node)
        return replace(model, shapes=(UNTOLD,)) if untold_input(record) else model
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


# --- functional -------------------------------------------------------------------------------------------------------


def _functional(run: Interpreter, arguments: Arguments) -> Value:
    inputs, outputs = arguments.get("inputs", 0), arguments.get("outputs", 1)
    if inputs is None or outputs is None or not arguments.complete:
        return UNTOLD if not arguments.complete else opaque(run, arguments, "Model")
    return run.allocate(
        ModelRecord(
            "functional",
            name=_name_of(run, arguments, "functional", 2),
            class_name="Functional",
            node=arguments.node,
            inputs=_fixed(run, inputs),
            outputs=_fixed(run, outputs),
            strategy=strategy(run),
        )
    )


def _fixed(run: Interpreter, value: Value) -> Value:
    """A structure of tensors as it is now: lists may change later, the model does not."""
    pairs = objects.pairs_of(run, value)
    if pairs is not None:
        from fitdoctor.source.values import Mapping

        return Mapping(tuple((key, _fixed(run, item)) for key, item in pairs))
    items = run.sequence(value)
    if items is not None:
        return Items(tuple(_fixed(run, item) for item in items))
    return value


def opaque(run: Interpreter, arguments: Arguments, class_name: str) -> Ref:
    """A model of which nothing is known but that it is one."""
    return run.allocate(
        ModelRecord(
            "opaque",
            class_name=class_name,
            node=arguments.node,
            layers=None,
            compiled=UNTOLD,
            open=True,
            strategy=strategy(run),
        )
    )


def _loaded(run: Interpreter, name: str, arguments: Arguments) -> Value:
    source = run.model(arguments.get("model", 0) or UNTOLD)
    if name.endswith("clone_model") and source is not None and source.kind in ("sequential", "functional"):
        return run.allocate(replace(source, compiled=None, node=arguments.node))
    return opaque(run, arguments, "Model")


def _application(run: Interpreter, name: str, arguments: Arguments) -> Value | None:
    last = name.rpartition(".")[2]
    if not last[:1].isupper():
        return None
    top = objects.truth(run, arguments.get("include_top", 0) or Plain(True))
    pooling = arguments.get("pooling") or NONE
    shape = arguments.get("input_shape")
    channels = _POOLED.get(last)
    given = run.sequence(shape)
    dims: Dims | Unknown = (None, *(arrays.dim_of(axis) for axis in given)) if given is not None else UNTOLD
    if arguments.get("input_tensor") is not None or arguments.get("alpha") is not None or channels is None:
        return opaque(run, arguments, last)
    inputs = make_input(run, Arguments((), (("shape", shape),) if shape is not None else (), arguments.node))
    output: Dims | Unknown = UNTOLD
    if top is False and isinstance(pooling, Plain) and run.plain_defaults:
        output = (None, UNTOLD, UNTOLD, channels) if pooling.value is None else (None, channels)
    plan = LayerPlan(last, certain=False)
    inside = run.allocate(LayerRecord(plan, last.lower(), False, arguments.node, open=True))
    tensor = Symbolic(output, "float32", LayerCall(inside, (inputs,) if isinstance(inputs, Symbolic) else (), run.fresh(), arguments.node))
    return run.allocate(
        ModelRecord(
            "functional",
            name=last.lower(),
            class_name="Functional",
            node=arguments.node,
            layers=None,
            inputs=inputs if not isinstance(dims, Unknown) else UNTOLD,
            outputs=tensor,
            compiled=None,
            strategy=strategy(run),
        )
    )


# --- of the user's ----------------------------------------------------------------------------------------------------


def new_of_the_user(run: Interpreter, owner: Class, kind: str, node: ast.Call) -> Ref:
    """An instance of a layer or model class of the file, before its `__init__`."""
    name = owner.node.name
    if kind == "Layer":
        plan = LayerPlan(name, certain=False)
        return run.allocate(LayerRecord(plan, counted_name(run, name), False, node, owner=owner))
    bases = {base for one in run.module.ancestry(run.module.class_info(owner.node)) for base in one.bases}
    sequential = any(base.endswith("keras.Sequential") for base in bases)
    return run.allocate(
        ModelRecord(
            "sequential" if sequential else "subclassed",
            name=counted_name(run, name),
            class_name=name,
            node=node,
            owner=owner,
            strategy=strategy(run),
        )
    )


def base_init(run: Interpreter, ref: Ref, arguments: Arguments) -> None:
    """`super().__init__(…)` of Keras' own classes."""
    record = run.record(ref)
    given = arguments.get("name")
    name = given.value if isinstance(given, Plain) and isinstance(given.value, str) else ""
    if isinstance(record, LayerRecord):
        if name:
            run.update(ref, replace(record, name=name, named=True))
        return
    assert isinstance(record, ModelRecord)
    inputs, outputs = arguments.get("inputs", 0), arguments.get("outputs", 1)
    if record.kind == "subclassed" and isinstance(inputs, (Symbolic, Items, Ref)) and outputs is not None:
        record = replace(record, kind="functional", inputs=_fixed(run, inputs), outputs=_fixed(run, outputs))
    elif record.kind == "sequential" and inputs is not None:
        run.update(ref, record)
        for item in run.sequence(inputs) or (UNTOLD,):
            add_layer(run, ref, item, arguments.node)
        return
    run.update(ref, replace(record, name=name or record.name))


# --- attributes and methods -------------------------------------------------------------------------------------------


def layers_of(run: Interpreter, record: ModelRecord) -> tuple[Ref, ...] | None:
    """The layers of a model in Keras' order; None where they are not told."""
    if record.kind == "sequential":
        return record.layers
    if record.kind == "functional":
        return None if record.layers is None else graph_layers(run, record)
    if record.kind == "subclassed" and not record.open:
        return _tracked(run, record)
    return None


def _tracked(run: Interpreter, record: ModelRecord) -> tuple[Ref, ...]:
    """Layers that a subclassed model keeps on attributes, lists and dicts of them too, in order."""
    found: list[Ref] = []
    for _, value in record.attributes:
        for item in (value, *(run.sequence(value) or ()), *(one for _, one in objects.pairs_of(run, value) or ())):
            if isinstance(item, Ref) and isinstance(run.record(item), (LayerRecord, ModelRecord)) and item not in found:
                found.append(item)
    return tuple(found)


def input_shapes(run: Interpreter, record: ModelRecord) -> tuple[Dims | Unknown, ...] | None:
    """The shapes of a model's inputs; None where they are not told."""
    if record.kind == "sequential":
        return None if record.input_dims is None else (record.input_dims,)
    if record.kind == "functional":
        tensors = tensors_in(run, record.inputs)
        return None if tensors is None else tuple(tensor.dims for tensor in tensors)
    return None


def model_attribute(run: Interpreter, ref: Ref, record: ModelRecord, name: str) -> Value | None:
    """An attribute of a model; None when it is to be called, or not told here."""
    if name == "layers":
        layers = layers_of(run, record)
        return UNTOLD if layers is None else run.new_list(layers)
    if name in ("input", "inputs", "output", "outputs") and record.kind == "functional":
        value = record.inputs if name.startswith("input") else record.outputs
        if name.endswith("s") and isinstance(value, Symbolic):
            return run.new_list((value,))
        return value
    if name in ("input", "inputs", "output", "outputs", "optimizer", "loss", "metrics", "history", "weights"):
        return UNTOLD
    if name in ("input_shape", "output_shape"):
        shapes = input_shapes(run, record) if name == "input_shape" else model_outputs(run, ref, None)
        if shapes is not None and len(shapes) == 1 and not isinstance(shapes[0], Unknown):
            return Items(tuple(arrays.value_of(dim) for dim in shapes[0]))
        return UNTOLD
    if name in ("trainable_weights", "trainable_variables", "non_trainable_weights", "trainable", "variables"):
        return UNTOLD
    return None


def call_on_model(run: Interpreter, ref: Ref, name: str, arguments: Arguments) -> Value:
    """A method of Keras' own models."""
    record = run.model(ref)
    assert record is not None
    if name in _FITS:
        run.listener.fit(run, ref, name, arguments)
        return Made("keras.callbacks.History") if name == "fit" else UNTOLD
    if name == "add" and record.kind == "sequential":
        add_layer(run, ref, arguments.get("layer", 0) or UNTOLD, arguments.node)
        return NONE
    if name == "pop" and record.kind == "sequential" and record.layers:
        run.update(ref, replace(record, layers=record.layers[:-1], shapes=record.shapes[:-1]))
        return NONE
    if name == "compile":
        _compile(run, ref, record, arguments)
        return NONE
    if name == "build":
        _build(run, ref, record, arguments)
        return NONE
    if name == "get_layer":
        return _get_layer(run, record, arguments)
    if name in _HARMLESS:
        return UNTOLD
    run.state.touch(ref)
    run.touch(arguments)
    return UNTOLD


def _compile(run: Interpreter, ref: Ref, record: ModelRecord, arguments: Arguments) -> None:
    run.update(ref, replace(record, compiled=Compiled(arguments), traced=None))


def trainable_now(run: Interpreter, record: ModelRecord) -> tuple[tuple[Ref, bool], ...]:
    """Which layers of a model are trainable, as far as that is told."""
    found: list[tuple[Ref, bool]] = []
    for layer in layers_of(run, record) or ():
        inside = run.record(layer)
        if isinstance(inside, (LayerRecord, ModelRecord)) and isinstance(inside.trainable, bool):
            found.append((layer, inside.trainable))
    return tuple(found)


def _build(run: Interpreter, ref: Ref, record: ModelRecord, arguments: Arguments) -> None:
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


def _get_layer(run: Interpreter, record: ModelRecord, arguments: Arguments) -> Value:
    layers = layers_of(run, record)
    name, at = arguments.get("name", 0), arguments.get("index", 1)
    if layers is None:
        return UNTOLD
    number = arrays.whole(at)
    if number is not None and -len(layers) <= number < len(layers):
        return layers[number]
    for layer in layers:
        inside = run.record(layer)
        if isinstance(inside, LayerRecord) and inside.named and Plain(inside.name) == name:
            return layer
    return UNTOLD


def call_on_layer(run: Interpreter, ref: Ref, name: str, arguments: Arguments) -> Value:
    """A method of a layer: reading is harmless, everything else may change it."""
    if name in ("get_weights", "get_config", "count_params", "set_weights", "adapt", "get_vocabulary", "vocabulary_size"):
        return UNTOLD
    if name == "add_weight":
        return Symbolic(UNTOLD, "float32")
    if name in ("add_loss", "add_metric"):
        return NONE
    run.state.touch(ref)
    run.touch(arguments)
    return UNTOLD


# --- models on tensors ------------------------------------------------------------------------------------------------


def call_as_layer(run: Interpreter, ref: Ref, arguments: Arguments) -> Value:
    """A layer or a model called on tensors."""
    record = run.record(ref)
    if isinstance(record, LayerRecord):
        return call_layer(run, ref, arguments)
    assert isinstance(record, ModelRecord)
    given = arguments.positional[0] if arguments.positional else arguments.get("inputs") or UNTOLD
    tensors = tensors_in(run, given)
    if tensors is None:
        run.touch(arguments)
        return UNTOLD
    if record.kind == "subclassed" and record.owner is not None:
        made = follow_call(run, ref, record.owner, arguments)
        if isinstance(made, (Symbolic, Array)):
            call = LayerCall(ref, tensors, run.fresh(), arguments.node)
            return Symbolic(made.dims, made.dtype if isinstance(made.dtype, str) else "", call)
        return UNTOLD
    outputs = model_outputs(run, ref, tuple(tensor.dims for tensor in tensors))
    call = LayerCall(ref, tensors, run.fresh(), arguments.node)
    if outputs is None:
        single = record.kind == "sequential" or isinstance(record.outputs, Symbolic)
        return Symbolic(UNTOLD, "float32", call) if single else UNTOLD
    made_of = tuple(Symbolic(dims, "float32", call, at) for at, dims in enumerate(outputs))
    if record.kind == "functional" and not isinstance(record.outputs, Symbolic):
        return run.new_list(made_of) if isinstance(record.outputs, Items) else UNTOLD
    return made_of[0]


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
        return rerun(run, record, shapes)
    if record.kind != "sequential" or record.layers is None:
        return None
    if shapes is None or shapes == own:
        if own is None:
            return None
        return (record.shapes[-1],) if record.shapes else own
    return _sequential_outputs(run, record, shapes)


def _sequential_outputs(
    run: Interpreter, record: ModelRecord, shapes: tuple[Dims | Unknown, ...]
) -> tuple[Dims | Unknown, ...] | None:
    if len(shapes) != 1:
        return None
    dims = shapes[0]
    for layer in record.layers or ():
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

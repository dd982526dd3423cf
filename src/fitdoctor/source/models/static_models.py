"""Models as the source creates them: sequential, functional, subclassed; compile, fit, and use as a layer."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from fitdoctor.facts import Unknown
from fitdoctor.records import replace
from fitdoctor.source.data import arrays
from fitdoctor.source.data.array_arguments import size_of
from fitdoctor.source.interpreter import objects
from fitdoctor.source.interpreter.values import (
    NONE,
    UNTOLD,
    Arguments,
    Class,
    Compiled,
    Items,
    LayerCall,
    LayerRecord,
    Made,
    Mapping,
    ModelRecord,
    Plain,
    Ref,
    Symbolic,
    Value,
)
from fitdoctor.source.models.layer_settings import Dim, Dims, LayerPlan, Refused
from fitdoctor.source.models.model_shapes import input_shapes, model_outputs
from fitdoctor.source.models.refusals import Failure
from fitdoctor.source.models.sequential_models import add_layer, build_model, make_sequential, name_of
from fitdoctor.source.models.static_layers import call_layer, counted_name, make_input, make_layer

if TYPE_CHECKING:
    from fitdoctor.source.interpreter.interpret import Interpreter

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
    "keras.backend.set_image_dim_ordering keras.backend.set_image_data_format "
    "keras.config.set_image_data_format keras.backend.set_floatx "
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
    """Evaluate a Keras call that creates layers or models; None if the name is not such a call."""
    if not name.startswith("keras."):
        return None
    if name == "keras.Input":
        return make_input(run, arguments)
    if name == "keras.Sequential":
        return make_sequential(run, arguments)
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


# --- functional -------------------------------------------------------------------------------------------------------


def _functional(run: Interpreter, arguments: Arguments) -> Value:
    inputs, outputs = arguments.get("inputs", 0), arguments.get("outputs", 1)
    if inputs is None or outputs is None or not arguments.complete:
        return UNTOLD if not arguments.complete else opaque(run, arguments, "Model")
    _refuse_layers(run, outputs, arguments)
    connected = not _refuse_disconnected(run, inputs, outputs, arguments)
    return run.allocate(
        ModelRecord(
            "functional",
            broken=not connected,
            name=name_of(run, arguments, "functional", 2),
            class_name="Functional",
            node=arguments.node,
            inputs=_fixed(run, inputs),
            outputs=_fixed(run, outputs),
            strategy=run.strategy,
        )
    )


def _refuse_layers(run: Interpreter, outputs: Value, arguments: Arguments) -> None:
    """Report a layer that is passed as an output instead of its output tensor."""
    for item in run.sequence(outputs) or (outputs,):
        record = run.record(item) if isinstance(item, Ref) else None
        if isinstance(record, LayerRecord) and isinstance(item, Ref) and run.reporting:
            words = f"All `outputs` values must be KerasTensors. Received: outputs={record.name}"
            failure = Failure(Refused("ValueError", words), item, record, (), item, arguments.node)
            run.listener.refusal(run, failure)


def _refuse_disconnected(run: Interpreter, inputs: Value, outputs: Value, arguments: Arguments) -> bool:
    """Report outputs that depend on an `Input` which is not among the model's inputs."""
    from fitdoctor.source.models.graphs import input_left_out

    layer = input_left_out(run, inputs, outputs)
    record = run.record(layer) if layer is not None else None
    if layer is None or not isinstance(record, LayerRecord):
        return False
    if run.reporting:
        words = "`outputs` with name 'outputs' is not connected to `inputs`"
        run.listener.refusal(
            run, Failure(Refused("ValueError", words), layer, record, (), None, arguments.node)
        )
    return True


def _fixed(run: Interpreter, value: Value) -> Value:
    """Return a copy of a structure of tensors: lists may change later, the model does not."""
    pairs = objects.pairs_of(run, value)
    if pairs is not None:
        # Keras flattens dicts by their sorted keys
        return Mapping(
            tuple((key, _fixed(run, item)) for key, item in sorted(pairs, key=lambda pair: str(pair[0])))
        )
    items = run.sequence(value)
    if items is not None:
        return Items(tuple(_fixed(run, item) for item in items))
    return value


def opaque(run: Interpreter, arguments: Arguments, class_name: str) -> Ref:
    """Return a model about which nothing else is known."""
    return run.allocate(
        ModelRecord(
            "opaque",
            class_name=class_name,
            node=arguments.node,
            layers=None,
            compiled=UNTOLD,
            open=True,
            strategy=run.strategy,
        )
    )


def _loaded(run: Interpreter, name: str, arguments: Arguments) -> Value:
    source = run.model(arguments.get("model", 0) or UNTOLD)
    if name.endswith("clone_model") and source is not None and source.kind in ("sequential", "functional"):
        # whether the clone is compiled like its source depends on the version of Keras
        return run.allocate(replace(source, compiled=UNTOLD, traced=None, node=arguments.node))
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
    if arguments.get("input_tensor") is not None or _widened(arguments.get("alpha")) or channels is None:
        return opaque(run, arguments, last)
    inputs = make_input(run, Arguments((), (("shape", shape),) if shape is not None else (), arguments.node))
    output: Dims | Unknown = UNTOLD
    if top is False and isinstance(pooling, Plain) and run.plain_defaults:
        output = (None, *_last_map(last, dims), channels) if pooling.value is None else (None, channels)
    plan = LayerPlan(last, certain=False)
    inside = run.allocate(LayerRecord(plan, last.lower(), False, arguments.node, open=True))
    tensor = Symbolic(
        output,
        "float32",
        LayerCall(inside, (inputs,) if isinstance(inputs, Symbolic) else (), run.fresh(), arguments.node),
    )
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
            strategy=run.strategy,
        )
    )


def _widened(alpha: Value | None) -> bool:
    """Whether a width argument may change the last channels: only a width above 1 does."""
    value = alpha.value if isinstance(alpha, Plain) else None
    return alpha is not None and not (isinstance(value, (int, float)) and value <= 1)


def _last_map(name: str, dims: Dims | Unknown) -> tuple[Dim, Dim]:
    """Return height and width of the last feature map: 1/32, if that is an integer (true for all but two families)."""
    if isinstance(dims, Unknown) or len(dims) != 4 or name.startswith(("Inception", "Xception")):
        return UNTOLD, UNTOLD
    sides = [side // 32 if isinstance(side, int) and side % 32 == 0 else UNTOLD for side in dims[1:3]]
    return sides[0], sides[1]


# --- of the user's ----------------------------------------------------------------------------------------------------


def new_of_the_user(run: Interpreter, owner: Class, kind: str, node: ast.Call) -> Ref:
    """Return an instance of a layer or model class of the file, before its `__init__`."""
    name = owner.node.name
    if kind == "Layer":
        plan = LayerPlan(name, certain=False)
        return run.allocate(LayerRecord(plan, counted_name(run, name), False, node, owner=owner))
    bases = {base for one in run.ancestry(owner.node) for base in one.bases}
    sequential = any(base.endswith("keras.Sequential") for base in bases)
    return run.allocate(
        ModelRecord(
            "sequential" if sequential else "subclassed",
            name=counted_name(run, name),
            class_name=name,
            node=node,
            owner=owner,
            strategy=run.strategy,
        )
    )


def base_init(run: Interpreter, ref: Ref, arguments: Arguments) -> None:
    """Evaluate `super().__init__(…)` of a Keras base class."""
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
    """Return the layers of a model in Keras's order; None if they are unknown."""
    if record.kind == "sequential":
        return record.layers
    if record.kind == "functional":
        from fitdoctor.source.models.graphs import graph_layers

        return None if record.layers is None else graph_layers(run, record)
    if record.kind == "subclassed" and not record.open:
        return _tracked(run, record)
    return None


def _tracked(run: Interpreter, record: ModelRecord) -> tuple[Ref, ...]:
    """Return the layers that a subclassed model keeps in attributes, including lists and dicts, in order."""
    found: dict[Ref, None] = {}
    for _, value in record.attributes:
        for item in (
            value,
            *(run.sequence(value) or ()),
            *(one for _, one in objects.pairs_of(run, value) or ()),
        ):
            if isinstance(item, Ref) and isinstance(run.record(item), (LayerRecord, ModelRecord)):
                found[item] = None
    return tuple(found)


def model_attribute(run: Interpreter, ref: Ref, record: ModelRecord, name: str) -> Value | None:
    """Return an attribute of a model; None if it is a method or unknown."""
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
    if name in (
        "trainable_weights",
        "trainable_variables",
        "non_trainable_weights",
        "trainable",
        "variables",
    ):
        return UNTOLD
    return None


def call_on_model(run: Interpreter, ref: Ref, name: str, arguments: Arguments) -> Value:
    """Evaluate a method of a Keras model."""
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
        build_model(run, ref, record, arguments)
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
    """Return which layers of a model are trainable, as far as known; layers of nested models follow their model."""
    found: list[tuple[Ref, bool]] = []
    for layer in layers_of(run, record) or ():
        inside = run.record(layer)
        if isinstance(inside, (LayerRecord, ModelRecord)) and isinstance(inside.trainable, bool):
            found.append((layer, inside.trainable))
        if isinstance(inside, ModelRecord):
            found.extend(trainable_now(run, inside))
    return tuple(found)


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
    """Evaluate a method of a layer: reading is harmless, everything else may change the layer."""
    if name in (
        "get_weights",
        "get_config",
        "count_params",
        "set_weights",
        "adapt",
        "get_vocabulary",
        "vocabulary_size",
    ):
        return UNTOLD
    if name == "add_weight":
        return _weight(run, arguments)
    if name in ("add_loss", "add_metric"):
        return NONE
    run.state.touch(ref)
    run.touch(arguments)
    return UNTOLD


def _weight(run: Interpreter, arguments: Arguments) -> Value:
    """Evaluate `self.add_weight(…)`: the first argument is the shape in Keras 3 and the name in Keras 2."""
    shape = arguments.get("shape")
    if shape is None and arguments.positional and run.sequence(arguments.positional[0]) is not None:
        shape = arguments.positional[0]
    if shape is None:
        return Symbolic(() if not arguments.positional else UNTOLD, "float32")
    return Symbolic(size_of(run, shape), "float32")

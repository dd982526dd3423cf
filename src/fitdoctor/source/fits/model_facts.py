"""Facts about a model in the source: the same as the runtime collectors return, Unknown if unclear."""

from __future__ import annotations

import ast
import functools
from typing import Any

from fitdoctor.facts import Code, LossFacts, ModelFacts, Shape, Spec, Unknown
from fitdoctor.records import replace
from fitdoctor.source.fits.compile_facts import (
    OPAQUE_LOSS,
    flag,
    losses_of,
    metrics_of,
    optimizer_of,
    schedule_of,
)
from fitdoctor.source.fits.layer_facts import layers_facts, shape_fact, total_of
from fitdoctor.source.interpreter import objects
from fitdoctor.source.interpreter.interpret import Interpreter
from fitdoctor.source.interpreter.values import (
    Arguments,
    Array,
    Compiled,
    Items,
    LayerRecord,
    Mapping,
    ModelRecord,
    Ref,
    Symbolic,
    Value,
)
from fitdoctor.source.models.layer_settings import Dims
from fitdoctor.source.models.model_shapes import model_outputs
from fitdoctor.source.models.static_layers import follow_call, regularised, tensors_in
from fitdoctor.source.models.static_models import layers_of, trainable_now
from fitdoctor.source.origins import shape_of_input

_OVERRIDES = (
    "call build train_step test_step predict_step compute_loss compute_metrics compile fit evaluate predict "
    "make_train_function make_test_function make_predict_function metrics reset_metrics get_metrics_result "
    "compiled_loss get_config loss __call__"
).split()
_UNKNOWN = Unknown("not evident from the source")
Paths = tuple[tuple[str, ...], ...]


def model_facts(run: Interpreter, ref: Ref, x: Value | None = None) -> tuple[ModelFacts, bool]:
    """Return the model's facts, and whether its metrics are known."""
    record = run.model(ref)
    assert record is not None
    outputs, tensors, paths = _outputs(run, ref, record, x)
    names = _output_names(run, record)
    layers = layers_facts(run, record, x)
    facts = ModelFacts(
        name=record.name,
        class_name=record.class_name,
        kind="functional" if record.kind == "opaque" else record.kind,
        keras=run.module.keras,
        built=_built(record),
        compiled=record.compiled is not None,
        inputs=_inputs(run, record),
        input_layers=_input_layers(run, record),
        input_structure=structure_name(record.inputs) if record.kind == "functional" else "single",
        outputs=outputs,
        output_names=names,
        output_structure=structure_name(record.outputs) if record.kind == "functional" else tensors,
        output_paths=paths,
        layers=layers,
        losses=(),
        loss_structure="none",
        overrides=overrides_of(run, record),
        added_losses=_adds_losses(run, record),
        parameters=total_of(layers, "parameters"),
        trainable_parameters=_trainable(run, record),
        trainable_changed=_trainable_changed(run, record),
        strategy=record.strategy,
        code=run.code(record.node),
        input_code=_input_code(run, record),
        shape_code=_shape_code(run, record),
    )
    count = len(outputs) if isinstance(outputs, tuple) else None
    return _with_compile(run, record, facts, count)


def structure_name(value: Value) -> str:
    """`single`, `list` or `dict`."""
    if isinstance(value, Mapping):
        return "dict"
    if isinstance(value, Items):
        return "list" if len(value.items) > 1 else "single"
    return "single"


def _built(record: ModelRecord) -> bool:
    if record.kind == "sequential":
        return record.input_dims is not None or record.shapes != () or record.layers is None
    return record.kind != "subclassed"


# --- inputs and outputs -----------------------------------------------------------------------------------------------


def _inputs(run: Interpreter, record: ModelRecord) -> tuple[Spec, ...] | Unknown:
    if record.kind == "sequential" and record.input_dims is not None:
        shape = shape_fact(record.input_dims)
        return (
            _UNKNOWN if isinstance(shape, Unknown) else (Spec(shape, record.input_dtype, record.input_name),)
        )
    if record.kind != "functional":
        return _UNKNOWN
    tensors = tensors_in(run, record.inputs)
    if tensors is None:
        return _UNKNOWN
    return _specs(tensors, [_name_of_tensor(run, tensor) for tensor in tensors])


def _input_layers(run: Interpreter, record: ModelRecord) -> tuple[str, ...]:
    """Return the names of the input layers of a functional model, in the order of its inputs."""
    tensors = tensors_in(run, record.inputs) if record.kind == "functional" else None
    layers = [
        run.record(each.call.layer) if each.call is not None and each.call.layer is not None else None
        for each in tensors or ()
    ]
    return tuple(layer.name for layer in layers if isinstance(layer, LayerRecord))


def _specs(
    tensors: tuple[Symbolic, ...], names: list[str], run: Interpreter | None = None
) -> tuple[Spec, ...] | Unknown:
    """The shapes of inputs, or with `run` of outputs."""
    specs: list[Spec] = []
    for tensor, name in zip(tensors, names, strict=True):
        shape = shape_fact(tensor.dims)
        if run is not None and tensor.call is not None and isinstance(shape, Unknown):
            shape = _of_classes(run, tensor.dims, tensor.call.layer)
        if isinstance(shape, Unknown):
            return _UNKNOWN
        specs.append(Spec(shape, tensor.dtype, name))
    return tuple(specs)


def _of_classes(run: Interpreter, dims: Dims | Unknown, layer: Ref | None) -> Shape | Unknown:
    """Return the shape of a softmax over an unknown number of classes, `Dense(len(classes))`, with that axis open."""
    record = run.record(layer) if layer is not None else None
    if isinstance(dims, Unknown) or len(dims) < 2 or not isinstance(record, LayerRecord):
        return _UNKNOWN
    if record.plan.settings.get("activation") != "softmax":
        return _UNKNOWN
    rest = shape_fact(dims[:-1])
    return _UNKNOWN if isinstance(rest, Unknown) else (*rest, None)


def _name_of_tensor(run: Interpreter, tensor: Symbolic) -> str:
    """Return the explicit name of the layer that produced a tensor."""
    if tensor.call is None or tensor.call.layer is None:
        return ""
    layer = run.record(tensor.call.layer)
    if isinstance(layer, LayerRecord):
        return layer.name if layer.named else ""
    return ""


def _paths(run: Interpreter, tensors: tuple[Symbolic, ...]) -> Paths:
    from fitdoctor.source.models.graphs import path_to

    return tuple(path_to(run, tensor) for tensor in tensors)


def _outputs(
    run: Interpreter, ref: Ref, record: ModelRecord, x: Value | None
) -> tuple[tuple[Spec, ...] | Unknown, str, Paths]:
    """Return outputs, structure and output layers; without a fixed input, computed from the data's shapes."""
    if record.kind == "functional":
        tensors = tensors_in(run, record.outputs)
        if tensors is None:
            return _UNKNOWN, "single", ()
        paths = _paths(run, tensors)
        return _specs(tensors, [_name_of_tensor(run, tensor) for tensor in tensors], run), "single", paths
    if record.kind == "sequential":
        return _sequential_outputs(run, ref, record, x), "single", ()
    if record.kind == "subclassed" and x is not None:
        return _subclassed_outputs(run, ref, record, x)
    return _UNKNOWN, "single", ()


def _sequential_outputs(
    run: Interpreter, ref: Ref, record: ModelRecord, x: Value | None
) -> tuple[Spec, ...] | Unknown:
    if record.layers is None or record.broken or record.open or not record.layers:
        return _UNKNOWN
    if record.input_dims is not None:
        other = _other_lengths(record.input_dims, x)
        outputs = model_outputs(run, ref, None if other is None else (other,))
    elif record.shapes == () and isinstance(x, Array) and not isinstance(x.dims, Unknown) and x.dims:
        outputs = model_outputs(run, ref, ((None, *x.dims[1:]),))
    else:
        return _UNKNOWN
    if outputs is None or len(outputs) != 1:
        return _UNKNOWN
    shape = shape_fact(outputs[0])
    if isinstance(shape, Unknown):
        shape = _of_classes(run, outputs[0], record.layers[-1])
    return _UNKNOWN if isinstance(shape, Unknown) else (Spec(shape, "float32" if run.plain_defaults else ""),)


def _other_lengths(declared: Dims | Unknown, x: Value | None) -> Dims | None:
    """Return the shape of data that a Sequential accepts despite its `Input`: it checks only the last axis."""
    if isinstance(declared, Unknown) or not isinstance(x, Array) or isinstance(x.dims, Unknown):
        return None
    given = (None, *x.dims[1:])
    same = len(given) == len(declared) > 2 and given[-1] == declared[-1]
    return given if same and given[1:] != declared[1:] else None


def _subclassed_outputs(
    run: Interpreter, ref: Ref, record: ModelRecord, x: Value
) -> tuple[tuple[Spec, ...] | Unknown, str, Paths]:
    if record.owner is None or record.open or "train_step" in overrides_of(run, record):
        return _UNKNOWN, "single", ()
    given = _symbolic_batch(run, x)
    if given is None:
        return _UNKNOWN, "single", ()
    before = run.state.copy()
    node = (
        record.node if isinstance(record.node, ast.Call) else ast.Call(ast.Name("model", ast.Load()), [], [])
    )
    made = follow_call(run, ref, record.owner, Arguments((given,), (), node))
    fixed = _frozen(run, made)
    tensors = tensors_in(run, fixed) if not isinstance(fixed, Unknown) else None
    paths = _paths(run, tensors or ())
    run.state = before
    if tensors is None:
        return _UNKNOWN, "single", ()
    return _specs(tensors, [""] * len(tensors)), structure_name(fixed), paths


def _frozen(run: Interpreter, value: Value) -> Value:
    pairs = objects.pairs_of(run, value)
    if pairs is not None:
        return Mapping(tuple((key, _frozen(run, item)) for key, item in pairs))
    items = run.sequence(value)
    return value if items is None else Items(tuple(_frozen(run, item) for item in items))


def _symbolic_batch(run: Interpreter, x: Value) -> Value | None:
    """One batch of the data as symbolic tensors."""
    if isinstance(x, Array):
        if isinstance(x.dims, Unknown) or not x.dims:
            return None
        dtype = x.dtype if isinstance(x.dtype, str) else ""
        return Symbolic((None, *x.dims[1:]), "float32" if dtype.startswith("float") else dtype)
    items = run.sequence(x)
    pairs = objects.pairs_of(run, x)
    if pairs is not None:
        parts = [(key, _symbolic_batch(run, item)) for key, item in pairs]
        told = tuple((key, part) for key, part in parts if part is not None)
        return Mapping(told) if len(told) == len(parts) else None
    if items is not None:
        inside = [_symbolic_batch(run, item) for item in items]
        parts_told = tuple(part for part in inside if part is not None)
        return Items(parts_told) if parts_told and len(parts_told) == len(inside) else None
    return None


def _output_names(run: Interpreter, record: ModelRecord) -> tuple[str, ...]:
    """Return the output names if the source sets all of them; keys of a dict of outputs do not count."""
    if record.kind != "functional":
        return ()
    tensors = tensors_in(run, record.outputs)
    names = tuple(_name_of_tensor(run, tensor) for tensor in tensors or ())
    if isinstance(record.outputs, Mapping):
        return tuple(str(key) for key, _ in record.outputs.items)
    return names if all(names) else ()


# --- layers -----------------------------------------------------------------------------------------------------------


def _trainable(run: Interpreter, record: ModelRecord) -> int | Unknown:
    """Return the number of trainable weights; Unknown unless known for every layer."""
    refs = layers_of(run, record)
    if refs is None or record.open or record.kind == "subclassed" or isinstance(record.trainable, Unknown):
        return _UNKNOWN
    total = 0
    for ref in refs:
        layer = run.record(ref)
        if isinstance(layer, ModelRecord):
            inside = _trainable(run, layer)
            if isinstance(inside, Unknown):
                return _UNKNOWN
            total += inside
        elif isinstance(layer, LayerRecord):
            number = layer.trainable_parameters
            if layer.open or layer.owner is not None or isinstance(layer.trainable, Unknown):
                return _UNKNOWN
            if isinstance(number, Unknown):
                return _UNKNOWN
            total += number if layer.trainable else 0
    return total if record.trainable else 0


def _trainable_changed(run: Interpreter, record: ModelRecord) -> tuple[str, ...]:
    """Return layers whose `trainable` changed after the step was traced, which has no effect."""
    if record.traced is None or not isinstance(record.compiled, Compiled) or record.open:
        return ()
    now = dict(trainable_now(run, record))
    changed = [ref for ref, before in record.traced if now.get(ref, before) is not before]
    outer = set(layers_of(run, record) or ())
    # A nested model passes `trainable` on to its layers.
    shown = [ref for ref in changed if ref in outer] or changed
    layers = (run.record(ref) for ref in shown)
    return tuple(layer.name for layer in layers if isinstance(layer, (LayerRecord, ModelRecord)))


# --- compile and the rest ---------------------------------------------------------------------------------------------


def overrides_of(run: Interpreter, record: ModelRecord) -> tuple[str, ...]:
    """Return the methods that the user's classes override."""
    if record.owner is None:
        return ()
    defined = {name for one in run.ancestry(record.owner.node) for name in one.methods}
    return tuple(name for name in _OVERRIDES if name in defined)


def _adds_losses(run: Interpreter, record: ModelRecord) -> bool:
    """Whether losses may come from elsewhere than `compile`."""
    refs = layers_of(run, record)
    if refs is None or record.open:
        return True
    if record.owner is not None and _calls_add_loss(run, record.owner.node):
        return True
    return any(_layer_adds_loss(run, ref) for ref in refs)


def _layer_adds_loss(run: Interpreter, ref: Ref) -> bool:
    layer = run.record(ref)
    if isinstance(layer, ModelRecord):
        return _adds_losses(run, layer)
    if not isinstance(layer, LayerRecord):
        return True
    if layer.owner is not None:
        inside = any(
            _layer_adds_loss(run, value)
            for _, value in layer.attributes
            if isinstance(value, Ref) and isinstance(run.record(value), (LayerRecord, ModelRecord))
        )
        return inside or layer.open or _calls_add_loss(run, layer.owner.node)
    return (
        layer.open
        or regularised(layer.plan)
        or (layer.plan.inner is not None and regularised(layer.plan.inner))
    )


def _calls_add_loss(run: Interpreter, node: ast.ClassDef) -> bool:
    return any(_mentions_loss(one.node) for one in run.ancestry(node))


@functools.lru_cache(maxsize=1024)
def _mentions_loss(node: ast.ClassDef) -> bool:
    """Whether a class adds losses or has a regularizer; models ask for each of their many layers."""
    return any(
        isinstance(part, ast.Attribute)
        and part.attr in ("add_loss", "losses")
        or isinstance(part, ast.keyword)
        and part.arg is not None
        and part.arg.endswith("regularizer")
        for part in ast.walk(node)
    )


def _with_compile(
    run: Interpreter, record: ModelRecord, facts: ModelFacts, outputs: int | None
) -> tuple[ModelFacts, bool]:
    compiled = record.compiled
    overridden = "compile" in facts.overrides
    if compiled is None:
        return facts, True
    if isinstance(compiled, Unknown) or not compiled.call.complete or overridden:
        code = run.code(compiled.call.node) if isinstance(compiled, Compiled) else _UNKNOWN
        opaque: tuple[LossFacts, ...] = (OPAQUE_LOSS,)
        return replace(facts, losses=opaque, loss_structure="single", compile_code=code), False
    call = compiled.call
    losses, structure, keys = losses_of(run, call, facts.output_names, outputs)
    metrics = metrics_of(run, call, facts.output_names)
    optimizer, settings = optimizer_of(run, call)
    changed = replace(
        facts,
        losses=losses,
        loss_structure=structure,
        loss_keys=keys,
        metrics=() if metrics is None else metrics[0],
        metric_keys=() if metrics is None else metrics[1],
        optimizer=optimizer,
        optimizer_settings=settings,
        schedule=schedule_of(run, call),
        jit_compile=flag(run, call, "jit_compile"),
        run_eagerly=flag(run, call, "run_eagerly"),
        compile_code=run.code(call.node),
    )
    return changed, metrics is not None


def _input_node(run: Interpreter, record: ModelRecord) -> ast.AST | None:
    if record.kind == "sequential":
        return record.input_node
    tensors = tensors_in(run, record.inputs) if record.kind == "functional" else None
    return tensors[0].call.node if tensors and len(tensors) == 1 and tensors[0].call is not None else None


def _input_code(run: Interpreter, record: ModelRecord) -> Any:
    return run.code(_input_node(run, record))


def _shape_code(run: Interpreter, record: ModelRecord) -> Code | Unknown:
    node = _input_node(run, record)
    return (shape_of_input(run.owner(node), node) if node is not None else None) or _UNKNOWN

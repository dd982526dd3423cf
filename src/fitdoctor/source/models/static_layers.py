"""Layers as the source creates and calls them: their settings, their output tensors, and what Keras rejects."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from fitdoctor.facts import Unknown
from fitdoctor.records import replace
from fitdoctor.source.data import arrays
from fitdoctor.source.data.array_arguments import dtype_of
from fitdoctor.source.interpreter import objects
from fitdoctor.source.interpreter.values import (
    UNTOLD,
    Arguments,
    Array,
    Class,
    Function,
    Items,
    LayerCall,
    LayerRecord,
    Method,
    ModelRecord,
    Named,
    Plain,
    Ref,
    Symbolic,
    Value,
)
from fitdoctor.source.keras_names import snake_case
from fitdoctor.source.models.layer_rules import KEEPS_DTYPE, Applied, apply_layer, fixed_axis
from fitdoctor.source.models.layer_settings import (
    KERAS_1_SETTINGS,
    POSITIONAL,
    Dims,
    LayerPlan,
    Refused,
    class_of_layer,
    shown,
)
from fitdoctor.source.models.refusals import Failure, refuse_layers, refuse_numpy_units

if TYPE_CHECKING:
    from fitdoctor.source.interpreter.interpret import Interpreter


def setting(run: Interpreter, value: Value) -> Any:
    """Return a setting as a plain Python value; Unknown if it is not one."""
    if isinstance(value, Plain):
        return value.value
    if isinstance(value, Items):
        inside = tuple(setting(run, item) for item in value.items)
        return UNTOLD if any(isinstance(item, Unknown) for item in inside) else inside
    if isinstance(value, Ref):
        items = run.sequence(value)
        return UNTOLD if items is None else setting(run, Items(items))
    if isinstance(value, Named):
        return value.name.rpartition(".")[2] if _is_function_name(value.name) else UNTOLD
    if isinstance(value, Method) and isinstance(value.receiver, Named):
        return value.name
    return UNTOLD


SHAPES = ("input_shape", "batch_input_shape", "shape", "batch_shape")


def _shape(run: Interpreter, value: Value) -> tuple[Any, ...] | Unknown:
    """Return a shape in which some lengths may be unknown; its number of axes is known even so."""
    items = run.sequence(value)
    return UNTOLD if items is None else tuple(setting(run, item) for item in items)


def _is_function_name(name: str) -> bool:
    return name.startswith(("keras.activations.", "tensorflow.nn.", "tensorflow.tanh", "tensorflow.sigmoid"))


def make_layer(run: Interpreter, class_name: str, arguments: Arguments) -> Ref:
    """`keras.layers.Something(…)`."""
    name = class_of_layer(class_name)
    settings: dict[str, Any] = {}
    known = POSITIONAL.get(name, ())
    certain = arguments.complete and len(arguments.positional) <= len(known)
    certain = certain and KERAS_1_SETTINGS.isdisjoint(arguments.names())
    # Keras before 2.4 still read `Conv2D(32, 3, 3)` as Keras 1 did: a window of 3 by 3.
    spatial = "kernel_size" in known or "pool_size" in known
    if spatial and len(arguments.positional) > 2:
        certain = certain and not run.module.facts.tensorflow_1 and "nb_epoch" not in run.module.text
    inner: LayerPlan | None = None
    attributes: list[tuple[str, Value]] = []
    for parameter, value in (*zip(known, arguments.positional, strict=False), *arguments.keywords):
        settings[parameter] = _shape(run, value) if parameter in SHAPES else setting(run, value)
        if parameter in ("layer", "cell", "backward_layer") and isinstance(value, Ref):
            record = run.record(value)
            if (
                isinstance(record, LayerRecord)
                and parameter == "layer"
                and record.owner is None
                and not record.open
            ):
                inner = record.plan
            attributes.append((parameter, value))
        if parameter == "function" and isinstance(value, Function):
            attributes.append((parameter, value))
    refuse_numpy_units(run, name, arguments)
    if not run.plain_defaults and "data_format" not in settings:
        settings["data_format"] = UNTOLD
    given = settings.get("name")
    named = isinstance(given, str)
    plan = LayerPlan(name, settings, inner, certain, run.module.keras)
    trainable = settings.get("trainable", True)
    return run.allocate(
        LayerRecord(
            plan,
            given if isinstance(given, str) else counted_name(run, name),
            named,
            arguments.node,
            attributes=tuple(attributes),
            trainable=trainable if isinstance(trainable, bool) else UNTOLD,
        )
    )


def counted_name(run: Interpreter, class_name: str) -> str:
    """Return the name that Keras gives a layer without one: `dense`, then `dense_1`."""
    snake = snake_case(class_name)
    count = run.layer_names.get(snake, 0)
    if not run.trial:
        run.layer_names[snake] = count + 1
    return f"{snake}_{count}" if count else snake


def make_input(run: Interpreter, arguments: Arguments) -> Value:
    """`keras.Input(…)`."""
    dims = input_dims(run, arguments)
    kind = dtype_of(arguments.get("dtype", 2))
    dtype = "float32" if kind is None else kind if isinstance(kind, str) else ""
    given = arguments.get("name")
    name = given.value if isinstance(given, Plain) and isinstance(given.value, str) else ""
    plan = LayerPlan("InputLayer", {"name": name} if name else {}, certain=arguments.complete)
    shapes = None if isinstance(dims, Unknown) else (dims,)
    ref = run.allocate(
        LayerRecord(
            plan,
            name or counted_name(run, "InputLayer"),
            bool(name),
            arguments.node,
            inputs=shapes,
            outputs=shapes,
            parameters=0,
            trainable_parameters=0,
        )
    )
    return Symbolic(dims, dtype, LayerCall(ref, (), run.fresh(), arguments.node))


def input_dims(run: Interpreter, arguments: Arguments) -> Dims | Unknown:
    """The shape of an Input, batch axis first."""
    if (
        not arguments.complete
        or arguments.get("tensor") is not None
        or arguments.get("input_tensor") is not None
    ):
        return UNTOLD
    whole = arguments.get("batch_shape", 5) or arguments.get("batch_input_shape")
    if whole is not None:
        items = run.sequence(whole)
        return UNTOLD if items is None else tuple(arrays.dim_of(item) for item in items)
    shape = arguments.get("shape", 0) or arguments.get("input_shape")
    items = run.sequence(shape)
    if items is None:
        return UNTOLD
    batch = arguments.get("batch_size", 1)
    first = None if batch is None else arrays.dim_of(batch)
    return (first, *(arrays.dim_of(item) for item in items))


# --- calling a layer --------------------------------------------------------------------------------------------------

_TENSOR_ARGUMENTS = ("inputs", "sequences", "x", "query", "value", "key")


def tensors_in(run: Interpreter, value: Value) -> tuple[Symbolic, ...] | None:
    """Return the tensors of a structure, flattened; None if it contains anything else."""
    if isinstance(value, Symbolic):
        return (value,)
    if isinstance(value, Array):
        return (Symbolic(value.dims, value.dtype if isinstance(value.dtype, str) else ""),)
    items = run.sequence(value)
    if items is None:
        pairs = objects.pairs_of(run, value)
        items = None if pairs is None else tuple(item for _, item in pairs)
    if items is None:
        return None
    found: list[Symbolic] = []
    for item in items:
        inside = tensors_in(run, item)
        if inside is None:
            return None
        found.extend(inside)
    return tuple(found)


def call_layer(run: Interpreter, ref: Ref, arguments: Arguments) -> Value:
    """A layer called on tensors."""
    record = run.record(ref)
    assert isinstance(record, LayerRecord)
    tensors, further = _call_inputs(run, arguments)
    if tensors is None:
        refuse_layers(run, ref, arguments)
        run.update(ref, replace(record, open=True))
        run.touch(arguments)
        return UNTOLD
    if record.owner is not None:
        return _call_of_the_user(run, ref, record, tensors, arguments)
    if record.plan.class_name == "Lambda":
        return _call_function(run, ref, record, tensors, arguments)
    made = applied(record, tensors, further)
    given = [value for value in _flat(run, arguments) if isinstance(value, Symbolic)]
    beside = tuple(value for value in given if value not in tensors)
    return finish_call(run, ref, made, tensors, arguments.node, not given, beside=beside)


def _call_function(
    run: Interpreter, ref: Ref, record: LayerRecord, tensors: tuple[Symbolic, ...], arguments: Arguments
) -> Value:
    """Follow the function of a Lambda layer if it is defined in the file and takes only the input."""
    function = dict(record.attributes).get("function")
    plain = record.plan.certain and set(record.plan.settings) <= {"function", "name"}
    made: Value = UNTOLD
    if isinstance(function, Function) and plain and len(arguments.positional) == 1:
        made = run.call(function, replace(arguments, keywords=()))
    followed = _with_history(run, made, LayerCall(ref, tensors, run.fresh(), arguments.node))
    if isinstance(followed, Symbolic) and not isinstance(followed.dims, Unknown):
        applied = Applied((followed.dims,), parameters=0, trainable_parameters=0)
        return finish_call(run, ref, applied, tensors, arguments.node)
    return finish_call(run, ref, Applied(), tensors, arguments.node)


def _flat(run: Interpreter, arguments: Arguments) -> list[Value]:
    found: list[Value] = []
    for value in (*arguments.positional, *(value for _, value in arguments.keywords)):
        found.extend(run.sequence(value) or (value,))
    return found


def _call_inputs(
    run: Interpreter, arguments: Arguments
) -> tuple[tuple[Symbolic, ...] | None, frozenset[str]]:
    """Return the tensors that a layer is called on, and the names of the other arguments."""
    if not arguments.complete:
        return None, frozenset()
    found: list[Symbolic] = []
    further: set[str] = set()
    for at, value in enumerate(arguments.positional):
        inside = tensors_in(run, value)
        if inside is None:
            if at == 0:
                return None, frozenset()
            further.add("training" if isinstance(value, Plain) else "more")
        else:
            found.extend(inside)
    for name, value in arguments.keywords:
        inside = tensors_in(run, value) if name in _TENSOR_ARGUMENTS else None
        if inside is not None:
            found.extend(inside)
        elif name == "return_attention_scores" and value == Plain(False):
            continue
        else:
            further.add(name)
    return (tuple(found) or None), frozenset(further)


def applied(record: LayerRecord, tensors: tuple[Symbolic, ...], further: frozenset[str]) -> Applied:
    """Return the output of a layer for tensors; a layer called before rejects a different length of its fixed axis."""
    if record.open:
        return Applied()
    shapes = tuple(tensor.dims for tensor in tensors)
    axis = fixed_axis(record.plan)
    first = shapes[0]
    if record.built_on is not None and not isinstance(first, Unknown) and first != record.built_on:
        if record.perhaps:
            return Applied()
        if axis is None or len(first) != len(record.built_on):
            weightless = record.parameters == 0
            return apply_layer(record.plan, shapes, further) if weightless else Applied()
        fixed, found = record.built_on[axis], first[axis]
        if isinstance(fixed, int) and isinstance(found, int) and fixed != found:
            message = (
                f"expected axis {axis} of input shape to have value {fixed}, but received input with shape "
                f"{shown(first)}"
            )
            return Applied(refusal=Refused("ValueError", message))
    return apply_layer(record.plan, shapes, further - {"initial_state"})


def finish_call(
    run: Interpreter,
    ref: Ref,
    applied: Applied,
    tensors: tuple[Symbolic, ...],
    node: ast.AST,
    eager: bool = False,
    model: Ref | None = None,
    beside: tuple[Symbolic, ...] = (),
) -> Value:
    """Return the result of a call, record the layer's first shapes, and report a rejection."""
    record = run.record(ref)
    assert isinstance(record, LayerRecord)
    shapes = tuple(tensor.dims for tensor in tensors if not isinstance(tensor.dims, Unknown))
    if applied.refusal is not None:
        if run.reporting:
            previous = tensors[0].call.layer if tensors[0].call is not None else None
            run.listener.refusal(
                run, Failure(applied.refusal, ref, record, shapes, previous, node, model, tensors)
            )
        run.update(ref, replace(record, open=True))
        return UNTOLD
    if len(shapes) == len(tensors) and record.inputs is None:
        outputs = None if isinstance(applied.outputs, Unknown) else applied.outputs
        run.update(
            ref,
            replace(
                record,
                built_on=shapes[0],
                inputs=shapes,
                outputs=outputs,
                parameters=applied.parameters,
                trainable_parameters=applied.trainable_parameters,
            ),
        )
    elif record.inputs is None:
        run.update(ref, replace(record, open=record.open or _weighs(record)))
    return _outputs(run, record, applied, LayerCall(ref, tensors + beside, run.fresh(), node), eager)


def _weighs(record: LayerRecord) -> bool:
    """Whether a call on an unknown shape fixes something that later calls depend on."""
    return fixed_axis(record.plan) is not None


def _outputs(run: Interpreter, record: LayerRecord, applied: Applied, call: LayerCall, eager: bool) -> Value:
    dtype = output_dtype(run, record.plan, call.inputs)
    if isinstance(applied.outputs, Unknown):
        if returns_several(record.plan):
            return UNTOLD
        return Symbolic(UNTOLD, dtype, call)
    made: tuple[Value, ...] = tuple(
        Array(dims, dtype or UNTOLD, "tensorflow.Tensor") if eager else Symbolic(dims, dtype, call, at)
        for at, dims in enumerate(applied.outputs)
    )
    return made[0] if len(made) == 1 else run.new_list(made)


def returns_several(plan: LayerPlan) -> bool:
    """Whether a call may return several tensors."""
    return plan.get("return_state", False) is not False or plan.class_name in (
        "Lambda",
        "Bidirectional",
        "MultiHeadAttention",
        "Attention",
        "AdditiveAttention",
        "RNN",
    )


def output_dtype(run: Interpreter, plan: LayerPlan, tensors: tuple[Symbolic, ...]) -> str:
    """Return the dtype of the output; "" if it is unknown."""
    given = plan.get("dtype", None)
    if given is not None or not run.plain_defaults:
        return given if isinstance(given, str) else ""
    if plan.class_name in KEEPS_DTYPE:
        kept = tensors[0].dtype
        return "float32" if kept in ("float16", "float64") else kept
    return "float32"


# --- layers of the user's ---------------------------------------------------------------------------------------------


def _call_of_the_user(
    run: Interpreter, ref: Ref, record: LayerRecord, tensors: tuple[Symbolic, ...], arguments: Arguments
) -> Value:
    """Follow `build` and `call` of a layer class that the file defines."""
    owner = record.owner
    assert owner is not None
    made = follow_call(run, ref, owner, arguments)
    call = LayerCall(ref, tensors, run.fresh(), arguments.node, inside_of(run, ref, made))
    changed = run.record(ref)
    if isinstance(changed, LayerRecord) and changed.inputs is None:
        shapes = tuple(tensor.dims for tensor in tensors if not isinstance(tensor.dims, Unknown))
        outputs = (
            (made.dims,)
            if isinstance(made, (Symbolic, Array)) and not isinstance(made.dims, Unknown)
            else None
        )
        told = len(shapes) == len(tensors)
        run.update(ref, replace(changed, inputs=shapes if told else None, outputs=outputs))
    return _with_history(run, made, call)


def inside_of(run: Interpreter, ref: Ref, made: Value) -> Symbolic | None:
    """The output of a custom layer or model with its own history, if it holds layers."""
    record = run.record(ref)
    if not isinstance(made, Symbolic) or not isinstance(record, (LayerRecord, ModelRecord)):
        return None
    held = (run.record(value) for _, value in record.attributes if isinstance(value, Ref))
    return made if any(isinstance(one, (LayerRecord, ModelRecord)) for one in held) else None


def _with_history(run: Interpreter, value: Value, call: LayerCall) -> Value:
    """Mark the tensors that a custom layer returns as its outputs, whatever is inside."""
    if isinstance(value, (Symbolic, Array)):
        return Symbolic(value.dims, value.dtype if isinstance(value.dtype, str) else "", call)
    items = run.sequence(value)
    if items is not None and all(isinstance(item, (Symbolic, Array)) for item in items):
        made = tuple(
            Symbolic(item.dims, item.dtype if isinstance(item.dtype, str) else "", call, at)
            for at, item in enumerate(items)
            if isinstance(item, (Symbolic, Array))
        )
        return Items(made) if isinstance(value, Items) else run.new_list(made)
    return UNTOLD


def follow_call(run: Interpreter, ref: Ref, owner: Class, arguments: Arguments) -> Value:
    """Follow `build`, then `call`, of a layer or model class that the file defines."""
    build, call = objects.method_of(run, owner, "build"), objects.method_of(run, owner, "call")
    if call is None or run.active.count(call.node) >= 2:
        return UNTOLD
    record = run.record(ref)
    if build is not None and build.node not in run.active and getattr(record, "inputs", None) is None:
        first = arguments.positional[0] if arguments.positional else UNTOLD
        shape = _shape_structure(run, first)
        run.call(build, Arguments((ref, shape), (), arguments.node))
    taken = call.node.args
    names = {each.arg for each in (*taken.posonlyargs, *taken.args, *taken.kwonlyargs)}
    # Keras passes `training` only to a `call` that has it.
    kept = taken.kwarg is not None or "training" in names
    keywords = tuple(pair for pair in arguments.keywords if kept or pair[0] != "training")
    return run.call(call, replace(arguments, positional=(ref, *arguments.positional), keywords=keywords))


def _shape_structure(run: Interpreter, value: Value) -> Value:
    if isinstance(value, (Symbolic, Array)):
        return arrays.shape_value(value)
    items = run.sequence(value)
    if items is not None:
        return run.new_list(_shape_structure(run, item) for item in items)
    return UNTOLD


def first_input_of(record: LayerRecord) -> Dims | None:
    """Return the input shape that a layer's settings fix (`input_shape=`, `input_dim=`), batch axis first."""
    settings = record.plan.settings
    whole = settings.get("batch_input_shape")
    if isinstance(whole, tuple):
        return whole
    shape = settings.get("input_shape")
    if isinstance(shape, tuple) and all(axis is None or isinstance(axis, (int, Unknown)) for axis in shape):
        return (None, *shape)
    number = settings.get("input_dim")
    if record.plan.class_name != "Embedding" and isinstance(number, (int, Unknown)):
        return (None, number)
    return None


def untold_input(record: LayerRecord) -> bool:
    """Whether the settings fix an input shape that the source does not show."""
    settings = record.plan.settings
    named = {"input_shape", "batch_input_shape", "batch_shape"}
    if record.plan.class_name != "Embedding":
        named.add("input_dim")
    return any(name in settings for name in named)


def regularised(plan: LayerPlan) -> bool:
    """Whether the layer adds, or may add, a penalty to the loss."""
    names = [name for name in plan.settings if name.endswith("regularizer")]
    return (
        not plan.certain
        or plan.class_name == "ActivityRegularization"
        or any(plan.settings[name] is not None for name in names)
    )

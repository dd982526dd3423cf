"""The model tried on abstract batches: forward pass, loss and metrics on shapes alone, and everything taken back.

The pass runs in a scratch graph, in Keras's own stateless scope: no operation is executed, no variable gets a value,
and what calling the model leaves on Python objects (built layers, tracked weights, automatic names, random states,
the user's attributes and lists) is restored from a snapshot.
"""

from __future__ import annotations

import sys
import traceback
import types
from collections.abc import Iterator
from typing import Any

from fitdoctor.collect.arrays import Batch, Leaf, map_leaves
from fitdoctor.collect.batch_size import minds_batch_size
from fitdoctor.collect.effects import effects_of
from fitdoctor.collect.layers import every_layer, is_library_class
from fitdoctor.collect.losses import given_loss
from fitdoctor.collect.model import (
    functional_part,
    is_compiled,
    keras_version,
    overrides_of,
)
from fitdoctor.collect.own_steps import STEPS, Stopped, packed, placed, stopped_at_gradient
from fitdoctor.collect.scratch import NotTriable, scratch, silence
from fitdoctor.collect.snapshot import Snapshot
from fitdoctor.diagnosis import Location
from fitdoctor.facts import FailureSummary, Outcome, Spec, Trial, Unknown
from fitdoctor.records import dataclass, replace

OWN_CALLS = ("make_train_function", "fit", "__call__")


@dataclass(frozen=True)
class _Plan:
    model: Any
    batch: Batch
    training: bool
    with_loss: bool
    with_metrics: bool
    short_rows: int = 0
    output_known: bool = False
    """The graph of layers tells the output for such a batch: loss and metrics alone are called."""
    step: str = ""
    """The model's own step, where it has one: `train_step`, `test_step` or `predict_step`."""
    method: str = "fit"
    element: str = ""


def try_model(
    model: Any, batch: Batch | Unknown, method: str = "fit", short_rows: int = 0, element: str = ""
) -> Trial:
    """Try the forward pass, the loss and the metrics on an abstract batch, without a trace of it left.

    Args:
        model: the living model.
        batch: what it gets.
        method: the call that is under way.
        short_rows: the rows of a last batch that is shorter than the others; 0 for none.
        element: an element of the dataset or generator in words; "" for arrays.
    """
    reason = _reason_against(model, batch, method)
    if reason or isinstance(batch, Unknown):
        unknown = Unknown(reason or getattr(batch, "reason", ""))
        return Trial(unknown, unknown, unknown)
    predicts = method in ("predict", "predict_on_batch")
    compiled = is_compiled(model)
    step = STEPS.get(method, "")
    step = step if step in overrides_of(model) else ""
    plan = _Plan(
        model,
        batch,
        training=method in ("fit", "train_on_batch"),
        with_loss=compiled and not predicts,
        with_metrics=compiled and not predicts and "compute_metrics" not in overrides_of(model),
        short_rows=short_rows if short_rows and minds_batch_size(model) else 0,
        output_known=not step and _output_is_known(model, batch),
        step=step,
        method=method,
        element=element,
    )
    if is_distributed(model):
        if step:
            unknown = Unknown(f"its own `{step}` runs in a replica of a distribution strategy")
            return Trial(unknown, unknown, unknown)
        plan = replace(plan, batch=_with_open_batch_axis(batch), short_rows=0)
    if plan.output_known:
        roots = [vars(model).get("_compile_loss"), vars(model).get("_compile_metrics")]
        effects = effects_of(*_losses_and_metrics(model))
    else:
        roots = [model]
        effects = effects_of(*code_carriers(model), *([getattr(model, step)] if step else []))
    if effects.lasting:
        unknown = Unknown(f"its code has lasting effects: {effects.lasting}")
        return Trial(unknown, unknown, unknown)
    snapshot = Snapshot(
        *roots,
        *effects.closures,
        bindings=effects.globals,
        untouched=every_layer(model) if plan.output_known else (),
    )
    if not snapshot.complete:
        unknown = Unknown("the model reaches too many objects to restore them all")
        return Trial(unknown, unknown, unknown)
    try:
        with silence():
            return _try(plan)
    finally:
        snapshot.restore()


def is_distributed(model: Any) -> bool:
    """Whether the model was made under a strategy of `tf.distribute`."""
    return vars(model).get("_distribute_strategy") is not None


def _reason_against(model: Any, batch: Batch | Unknown, method: str) -> str:
    if isinstance(batch, Unknown):
        return batch.reason
    if keras_version(model) != 3:
        return "the model is of Keras 2"
    if (
        "keras.src.backend.tensorflow" not in sys.modules
        or sys.modules["keras"].backend.backend() != "tensorflow"
    ):
        return "the backend is not TensorFlow"
    own_calls = OWN_CALLS if method in ("fit", "train_on_batch") else ("__call__",)
    for name in overrides_of(model):
        if name in own_calls:
            return f"the model defines its own `{name}`"
    if any(leaf.sparse or leaf.ragged for leaf in _flat_leaves(batch)):
        return "the data is sparse or ragged"
    if not list(_flat_leaves(Batch(batch.x))):
        return "there is no x"
    return ""


def _with_open_batch_axis(batch: Batch) -> Batch:
    """A strategy shares each batch among its replicas: nobody knows the size of a share."""

    def opened(leaf: Leaf) -> Leaf:
        return replace(leaf, shape=(None, *leaf.shape[1:])) if leaf.shape else leaf

    return Batch(*(map_leaves(opened, part) for part in (batch.x, batch.y, batch.sample_weight)))


def _flat_leaves(value: Any) -> Iterator[Leaf]:
    if isinstance(value, Leaf):
        yield value
    elif isinstance(value, Batch):
        for part in (value.x, value.y, value.sample_weight):
            yield from _flat_leaves(part)
    elif isinstance(value, dict):
        for item in value.values():
            yield from _flat_leaves(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _flat_leaves(item)


def code_carriers(model: Any) -> list[Any]:
    """Everything whose code the forward pass, the loss and the metrics run."""
    return [*every_layer(model), *_losses_and_metrics(model)]


def _losses_and_metrics(model: Any) -> list[Any]:
    found: list[Any] = []
    given = given_loss(model)
    losses = list(given.values()) if isinstance(given, dict) else given
    found.extend(losses if isinstance(losses, (list, tuple)) else [losses])
    metrics = vars(model).get("_compile_metrics")
    for group in (getattr(metrics, "_user_metrics", None), getattr(metrics, "_user_weighted_metrics", None)):
        found.extend(_flattened(group))
    return [item for item in found if item is not None and not isinstance(item, str)]


def _flattened(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        for item in value:
            yield from _flattened(item)
    elif value is not None:
        yield value


# --- the scratch graph --------------------------------------------------------------------------------------------


def _try(plan: _Plan) -> Trial:
    unknown = Unknown("the forward pass did not go through")
    with scratch() as placeholder:
        x = map_leaves(placeholder, plan.batch.x)
        y = map_leaves(placeholder, plan.batch.y)
        weight = map_leaves(placeholder, plan.batch.sample_weight)
        if plan.step:
            return _own_step(plan, Batch(x, y, weight))
        forward, y_pred, free = _forward(plan, x, placeholder)
        if isinstance(forward, Unknown) or not forward.ok:
            return Trial(forward, unknown, unknown)
        loss = _loss(plan, x, y, y_pred, weight, free)
        metrics = _metrics(plan, y, y_pred, weight, loss)
        short = _short(plan, placeholder)
    if short is None:
        return Trial(forward, loss, metrics)
    return Trial(forward, loss, metrics, short, plan.short_rows)


def _own_step(plan: _Plan, batch: Batch) -> Trial:
    """The model's own step on a batch of placeholders, up to its first gradient."""
    _build_in_one_pass(plan.model)
    unknown = Unknown(f"the model defines its own `{plan.step}`")
    try:
        with stopped_at_gradient():
            given = getattr(plan.model, plan.step)(packed(batch, plan.method, plan.element))
    except Stopped:
        return Trial(Outcome(), Outcome(), unknown)
    except Exception as error:
        failed = _failed(plan, error)
        where = placed(list(traceback.walk_tb(error.__traceback__)), plan.model, batch)
        if isinstance(failed, Unknown) or where == "forward":
            return Trial(failed, unknown, unknown)
        if where == "loss":
            return Trial(Outcome(), failed, unknown)
        return Trial(unknown, unknown, unknown, step=failed)
    return Trial(Outcome(_specs(given) if plan.step == "predict_step" else ()), Outcome(), unknown)


def _short(plan: _Plan, placeholder: Any) -> Outcome | Unknown | None:
    """The forward pass once more, with as many rows as the last batch has."""
    if not plan.short_rows or plan.output_known:
        return None

    def cut(leaf: Leaf) -> Leaf:
        return replace(leaf, shape=(plan.short_rows, *leaf.shape[1:])) if leaf.shape else leaf

    shorter = replace(plan, batch=Batch(map_leaves(cut, plan.batch.x)))
    return _forward(shorter, map_leaves(placeholder, shorter.batch.x), placeholder)[0]


def _forward(plan: _Plan, x: Any, placeholder: Any) -> tuple[Outcome | Unknown, Any, bool]:
    if plan.output_known:
        y_pred = _known_output(plan, placeholder)
        return Outcome(_specs(y_pred)), y_pred, True
    options = {"training": plan.training} if plan.model._call_has_training_arg else {}
    _build_in_one_pass(plan.model)
    try:
        y_pred = plan.model(x, **options)
    except Exception as error:
        return _failed(plan, error), None, False
    return Outcome(_specs(y_pred)), y_pred, False


def _build_in_one_pass(model: Any) -> None:
    """Spare the calls that Keras makes only to build a layer without a `build`, one inside another.

    The scratch graph's own call builds the same layers, and the snapshot takes the mark away again.
    """
    is_default = getattr(sys.modules["keras"].src.utils, "is_default", None)
    if is_default is None:
        return
    for layer in every_layer(model):
        if not layer.built and is_default(layer.build):
            vars(layer)["built"] = True


def _loss(plan: _Plan, x: Any, y: Any, y_pred: Any, weight: Any, free: bool) -> Outcome | Unknown:
    if not plan.with_loss:
        return Unknown("the model is not compiled")
    model = plan.model
    try:
        if not free or "compute_loss" in overrides_of(model):
            if free:
                return Unknown("its `compute_loss` may need what the layers add")
            value = model._compute_loss(x=x, y=y, y_pred=y_pred, sample_weight=weight, training=plan.training)
        elif model._compile_loss is None:
            return Unknown("the model has no loss")
        else:
            value = model._compile_loss(y, y_pred, weight)
    except Exception as error:
        return _failed(plan, error)
    return Outcome(_specs(value))


def _metrics(plan: _Plan, y: Any, y_pred: Any, weight: Any, loss: Outcome | Unknown) -> Outcome | Unknown:
    if not plan.with_metrics:
        return Unknown("the metrics are not compiled, or the model's own")
    if isinstance(loss, Outcome) and not loss.ok:
        return Unknown("the loss did not go through")
    compiled = plan.model._compile_metrics
    if compiled is None:
        return Outcome()
    if y is None:
        return Unknown("there is no y")
    try:
        compiled.update_state(y, y_pred, sample_weight=weight)
        values = compiled.result()
    except Exception as error:
        return _failed(plan, error)
    return Outcome(_specs(values))


def _output_is_known(model: Any, batch: Batch) -> bool:
    """Whether the model's graph of layers already tells the output for such a batch."""
    functional = functional_part(model)
    if functional is None or not hasattr(functional, "_inputs_struct"):
        return False
    if any(
        not is_library_class(type(layer)) or type(layer).__name__ == "Lambda" for layer in every_layer(model)
    ):
        return False
    leaves = list(_flat_leaves(Batch(batch.x)))
    inputs = functional._inputs
    if len(leaves) != len(inputs) or isinstance(batch.x, dict) or isinstance(functional._inputs_struct, dict):
        return False
    return all(_fits(leaf, tensor) for leaf, tensor in zip(leaves, inputs, strict=True))


def _fits(leaf: Leaf, tensor: Any) -> bool:
    if leaf.shape is None or len(leaf.shape) != len(tensor.shape) or leaf.dtype in ("string", "str"):
        return False
    if tensor.sparse or str(tensor.dtype) == "string" or tensor.shape[0] is not None:
        return False
    return all(
        expected is None or size == expected
        for size, expected in zip(leaf.shape[1:], tensor.shape[1:], strict=True)
    )


def _known_output(plan: _Plan, placeholder: Any) -> Any:
    import keras

    functional = functional_part(plan.model)
    first = next(iter(_flat_leaves(Batch(plan.batch.x))))
    axis = first.shape[0] if first.shape else None

    def output(tensor: Any) -> Any:
        shape = tuple(tensor.shape)
        if shape and shape[0] is None:
            shape = (axis, *shape[1:])
        return placeholder(Leaf(shape, str(tensor.dtype)))

    outputs = keras.tree.map_structure(output, functional._outputs_struct)
    if isinstance(outputs, (list, tuple)) and len(outputs) == 1:
        return outputs[0]
    return outputs


# --- results ------------------------------------------------------------------------------------------------------


def _specs(value: Any, path: str = "") -> tuple[Spec, ...]:
    if value is None:
        return ()
    if isinstance(value, dict):
        return tuple(spec for key, item in value.items() for spec in _specs(item, str(key)))
    if isinstance(value, (list, tuple)):
        return tuple(
            spec for index, item in enumerate(value) for spec in _specs(item, f"{path or ''}{index}")
        )
    shape = getattr(value, "shape", None)
    if shape is None:
        return ()
    try:
        known = tuple(None if size is None else int(size) for size in shape)
    except (TypeError, ValueError):
        return (Spec(Unknown("unknown rank"), _dtype(value), path),)
    return (Spec(known, _dtype(value), path),)


def _dtype(value: Any) -> str:
    dtype = getattr(value, "dtype", "")
    return str(getattr(dtype, "name", dtype))


def _failed(plan: _Plan, error: Exception) -> Outcome | Unknown:
    """The failure as fit would meet it; Unknown where the scratch graph itself may be the reason."""
    frames = list(traceback.walk_tb(error.__traceback__))
    reason = _doubt(plan, error, frames)
    if reason:
        return Unknown(reason)
    from fitdoctor.failure.living import message_of
    from fitdoctor.failure.messages import read_message

    layer, inputs = _failing_layer(frames)
    return Outcome(
        failure=FailureSummary(
            type(error).__name__,
            read_message(message_of(error)).text,
            layer=str(getattr(layer, "name", "")) if layer is not None else "",
            layer_class=type(layer).__name__ if layer is not None else "",
            inputs=inputs,
            place=_place(frames),
        )
    )


def _doubt(plan: _Plan, error: Exception, frames: list[tuple[types.FrameType, int]]) -> str:
    if isinstance(error, NotTriable):
        return str(error)
    if vars(plan.model).get("_run_eagerly") or getattr(plan.model, "run_eagerly", False):
        return "the model runs eagerly, the trial does not"
    if "stateless scope" in str(error) or "larger than 2GB" in str(error):
        return "the trial's own scope does not allow it"
    for frame, _line in frames:
        path = frame.f_code.co_filename
        name = frame.f_code.co_name
        if "/tensorflow/python/distribute/" in path.replace("\\", "/") and is_distributed(plan.model):
            return "the distribution strategy has a part in it"
        if path.endswith("polymorphic_function.py") and name == "__call__":
            return "a tf.function of the user's is part of it"
        # A variable that has no value yet can be computed with here, but not read.
        if path.endswith(("common/variables.py", "tensorflow/core.py")) and name in ("numpy", "__array__"):
            return "the value of a variable is read while the model is called"
    return ""


def _failing_layer(frames: list[tuple[types.FrameType, int]]) -> tuple[Any, tuple[Spec, ...]]:
    """The innermost layer that was being called, and what it was given."""
    for frame, _line in reversed(frames):
        if frame.f_code.co_name == "__call__" and frame.f_code.co_filename.endswith("layers/layer.py"):
            layer = frame.f_locals.get("self")
            given = frame.f_locals.get("original_args", frame.f_locals.get("args", ()))
            return layer, _specs(given)
    return None, ()


def _place(frames: list[tuple[types.FrameType, int]]) -> Location | None:
    from fitdoctor.failure.frames import frame_of, is_library

    for frame, line in reversed(frames):
        path = frame.f_code.co_filename
        if not is_library(path):
            return frame_of(path, line, "").location
    return None

"""Try a model on abstract batches: forward pass, loss and metrics on shapes only, then restore everything.

The pass runs in a scratch graph: no operation is executed, no variable gets a value, and what calling the model leaves
on Python objects (built layers, tracked weights, automatic names, random states, the user's attributes and lists) is
restored from a snapshot.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

from fitdoctor.collect.arrays import Batch, Leaf, map_leaves
from fitdoctor.collect.batch_size import minds_batch_size
from fitdoctor.collect.effects import effects_of
from fitdoctor.collect.layers import every_layer, is_library_class
from fitdoctor.collect.losses import given_loss
from fitdoctor.collect.model import functional_part, is_compiled, keras_version, overrides_of
from fitdoctor.collect.own_steps import STEPS, Stopped, packed, placed, stopped_at_gradient
from fitdoctor.collect.scratch import Placeholder, scratch, silence
from fitdoctor.collect.snapshot import Snapshot
from fitdoctor.collect.strategies import strategy_of
from fitdoctor.collect.trial_outcome import dtype_of, failed, frames_of, specs_of
from fitdoctor.facts import Outcome, Trial, Unknown
from fitdoctor.records import dataclass, replace

OWN_CALLS = ("make_train_function", "fit", "__call__")


@dataclass(frozen=True)
class _Plan:
    model: Any
    keras: int
    batch: Batch
    training: bool
    eager: bool
    with_loss: bool
    with_metrics: bool
    short_rows: int = 0
    output_known: bool = False
    """Whether the functional graph already gives the output, so that only loss and metrics are called."""
    rows: int = 0
    """The rows of the first batch for trying the loss; 0 for an open batch axis."""
    step: str = ""
    """The custom step, if any: `train_step`, `test_step` or `predict_step`."""
    method: str = "fit"
    element: str = ""


def try_model(
    model: Any,
    batch: Batch | Unknown,
    method: str = "fit",
    short_rows: int = 0,
    element: str = "",
    rows: int = 0,
) -> Trial:
    """Try the forward pass, the loss and the metrics on an abstract batch, without side effects.

    Args:
        model: the live model.
        batch: the abstract batch.
        method: the method being called.
        short_rows: the rows of a last batch that is shorter than the others; 0 for none.
        element: an element of the dataset or generator in words; "" for arrays.
        rows: the rows of the first batch; 0 if unknown.
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
        keras_version(model),
        batch,
        eager=bool(vars(model).get("_run_eagerly") or getattr(model, "run_eagerly", False)),
        training=method in ("fit", "train_on_batch"),
        with_loss=compiled and not predicts,
        with_metrics=compiled and not predicts and "compute_metrics" not in overrides_of(model),
        short_rows=short_rows if short_rows and minds_batch_size(model, rows, step) else 0,
        output_known=not step and _output_is_known(model, batch),
        step=step,
        method=method,
        element=element,
        # The losses of Keras 2 compare only known sizes and leave the rest to the operation.
        rows=rows if keras_version(model) == 2 and _keeps_rows(model) else 0,
    )
    if strategy_of(model) is not None:
        plan = replace(plan, batch=_share_of(batch, model), short_rows=0, rows=0)
    if plan.output_known:
        names = ("_compile_loss", "_compile_metrics", "compiled_loss", "compiled_metrics")
        roots = [vars(model).get(name) for name in names]
        effects = effects_of(*_losses_and_metrics(model))
    else:
        roots = [model]
        effects = effects_of(*code_carriers(model), *([getattr(model, step)] if step else []))
    if effects.lasting:
        unknown = Unknown(f"its code has side effects: it {effects.lasting}")
        return Trial(unknown, unknown, unknown)
    snapshot = Snapshot(
        *roots,
        *effects.closures,
        bindings=effects.globals,
        untouched=every_layer(model) if plan.output_known else (),
    )
    if not snapshot.complete:
        unknown = Unknown("the model references too many objects to restore")
        return Trial(unknown, unknown, unknown)
    try:
        with silence():
            return _try(plan)
    finally:
        snapshot.restore()


def _reason_against(model: Any, batch: Batch | Unknown, method: str) -> str:
    if isinstance(batch, Unknown):
        return batch.reason
    if not runs_on_eager_tensorflow(model):
        return "its Keras does not use TensorFlow with eager execution"
    own_calls = OWN_CALLS if method in ("fit", "train_on_batch") else ("__call__",)
    for name in overrides_of(model):
        if name in own_calls:
            return f"the model defines its own `{name}`"
    if any(leaf.sparse or leaf.ragged for leaf in _flat_leaves(batch)):
        return "the data is sparse or ragged"
    if not list(_flat_leaves(Batch(batch.x))):
        return "there is no x"
    return ""


def runs_on_eager_tensorflow(model: Any) -> bool:
    """Whether the model's Keras uses TensorFlow with eager execution."""
    tensorflow = sys.modules.get("tensorflow")
    if tensorflow is None or not tensorflow.executing_eagerly():
        return False
    if keras_version(model) == 2:
        # A snapshot does not reach the Keras bundled with TensorFlow.
        return any(base.__module__.startswith("tf_keras.") for base in type(model).__mro__)
    if "keras.src.backend.tensorflow" not in sys.modules:
        return False
    return bool(sys.modules["keras"].backend.backend() == "tensorflow")


def _keeps_rows(model: Any) -> bool:
    """Whether the first output axis is the batch: built-in layers keep it, other operations may not."""
    return all(
        is_library_class(type(layer)) and "Lambda" not in type(layer).__name__ for layer in every_layer(model)
    )


def _share_of(batch: Batch, model: Any) -> Batch:
    """Return the batch per replica if it divides evenly, else its size is unknown."""
    replicas = int(strategy_of(model).num_replicas_in_sync)

    def shared(leaf: Leaf) -> Leaf:
        if not leaf.shape:
            return leaf
        rows = leaf.shape[0]
        share = rows // replicas if rows is not None and rows % replicas == 0 else None
        return replace(leaf, shape=(share, *leaf.shape[1:]))

    return Batch(*(map_leaves(shared, part) for part in (batch.x, batch.y, batch.sample_weight)))


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
    """Return everything whose code runs in the forward pass, the loss and the metrics."""
    return [*every_layer(model), *_losses_and_metrics(model)]


def _losses_and_metrics(model: Any) -> list[Any]:
    found: list[Any] = []
    given = given_loss(model)
    losses = list(given.values()) if isinstance(given, dict) else given
    found.extend(losses if isinstance(losses, (list, tuple)) else [losses])
    metrics = vars(model).get("_compile_metrics") or vars(model).get("compiled_metrics")
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
    unknown = Unknown("the forward pass failed")
    with scratch(plan.keras) as placeholder:
        x = map_leaves(placeholder, plan.batch.x)
        y = map_leaves(placeholder, _with_rows(plan.batch.y, plan.rows))
        weight = map_leaves(placeholder, _with_rows(plan.batch.sample_weight, plan.rows))
        if plan.step:
            trial = _own_step(plan, Batch(x, y, weight))
            passed = _is_ok(trial.forward) and _is_ok(trial.loss)
            return _with_short_step(plan, trial, placeholder) if passed and plan.short_rows else trial
        forward, y_pred, free = _forward(plan, x, placeholder)
        if isinstance(forward, Unknown) or not forward.ok:
            return Trial(forward, unknown, unknown)
        if plan.rows:
            y_pred = map_leaves(lambda tensor: _of_rows(tensor, plan.rows), y_pred)
        loss = _loss(plan, x, y, y_pred, weight, free)
        metrics = _metrics(plan, y, y_pred, weight, loss)
        short = _short(plan, placeholder)
    if short is None:
        return Trial(forward, loss, metrics)
    return Trial(forward, loss, metrics, short, plan.short_rows)


def _failed(plan: _Plan, error: Exception) -> Outcome | Unknown:
    return failed(error, eager=plan.eager, distributed=strategy_of(plan.model) is not None)


def _own_step(plan: _Plan, batch: Batch) -> Trial:
    """Run the custom step on a batch of placeholders, up to its first gradient."""
    if plan.keras == 3:
        _build_in_one_pass(plan.model)
    unknown = Unknown(f"the model defines its own `{plan.step}`")
    try:
        with stopped_at_gradient():
            given = getattr(plan.model, plan.step)(packed(batch, plan.method, plan.element))
    except Stopped:
        return Trial(Outcome(), Outcome(), unknown)
    except Exception as error:
        outcome = _failed(plan, error)
        where = placed(frames_of(error), plan.model, batch)
        if isinstance(outcome, Unknown) or where == "forward":
            return Trial(outcome, unknown, unknown)
        if where == "loss":
            return Trial(Outcome(), outcome, unknown)
        return Trial(unknown, unknown, unknown, step=outcome)
    return Trial(Outcome(specs_of(given) if plan.step == "predict_step" else ()), Outcome(), unknown)


def _is_ok(outcome: Outcome | Unknown) -> bool:
    return isinstance(outcome, Outcome) and outcome.ok


def _with_short_step(plan: _Plan, trial: Trial, placeholder: Placeholder) -> Trial:
    """Run the custom step again with the number of rows of the last batch."""
    parts = (plan.batch.x, plan.batch.y, plan.batch.sample_weight)
    shorter = [map_leaves(placeholder, map_leaves(lambda leaf: _cut(leaf, plan), part)) for part in parts]
    again = _own_step(plan, Batch(*shorter))
    raised = (each for each in (again.forward, again.loss, again.step) if isinstance(each, Outcome))
    short = next((each for each in raised if not each.ok), Outcome())
    return replace(trial, short=short, short_rows=plan.short_rows)


def _cut(leaf: Leaf, plan: _Plan) -> Leaf:
    return replace(leaf, shape=(plan.short_rows, *leaf.shape[1:])) if leaf.shape else leaf


def _with_rows(part: Any, rows: int) -> Any:
    def known(leaf: Leaf) -> Leaf:
        return replace(leaf, shape=(rows, *leaf.shape[1:])) if leaf.shape and leaf.shape[0] is None else leaf

    return map_leaves(known, part) if rows else part


def _of_rows(tensor: Any, rows: int) -> Any:
    import tensorflow as tf

    if tensor.shape.rank and tensor.shape[0] is None:
        tensor = tf.identity(tensor)
        tensor.set_shape((rows, *tensor.shape[1:]))
    return tensor


def _short(plan: _Plan, placeholder: Placeholder) -> Outcome | Unknown | None:
    """Run the forward pass again with the number of rows of the last batch."""
    if not plan.short_rows or plan.output_known:
        return None

    shorter = replace(plan, batch=Batch(map_leaves(lambda leaf: _cut(leaf, plan), plan.batch.x)))
    return _forward(shorter, map_leaves(placeholder, shorter.batch.x), placeholder)[0]


def _forward(plan: _Plan, x: Any, placeholder: Placeholder) -> tuple[Outcome | Unknown, Any, bool]:
    if plan.output_known:
        y_pred = _known_output(plan, placeholder)
        return Outcome(specs_of(y_pred)), y_pred, True
    options = {"training": plan.training}
    if plan.keras == 3:
        options = options if plan.model._call_has_training_arg else {}
        _build_in_one_pass(plan.model)
    try:
        y_pred = plan.model(x, **options)
    except Exception as error:
        return _failed(plan, error), None, False
    return Outcome(specs_of(y_pred)), y_pred, False


def _build_in_one_pass(model: Any) -> None:
    """Skip the calls that Keras makes only to build layers without a `build` method.

    The call in the scratch graph builds the same layers, and the snapshot resets the flag.
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
    if free and "compute_loss" in overrides_of(plan.model):
        return Unknown("its `compute_loss` may depend on losses that layers add")
    if free and given_loss(plan.model) is None:
        return Unknown("the model has no loss")
    try:
        value = (_loss_of_keras_3 if plan.keras == 3 else _loss_of_keras_2)(plan, x, y, y_pred, weight, free)
    except Exception as error:
        return _failed(plan, error)
    return Outcome(specs_of(value))


def _loss_of_keras_3(plan: _Plan, x: Any, y: Any, y_pred: Any, weight: Any, free: bool) -> Any:
    if free:
        return plan.model._compile_loss(y, y_pred, weight)
    given = {"x": x, "y": y, "y_pred": y_pred, "sample_weight": weight}
    if not hasattr(plan.model, "_compute_loss"):
        # Keras 3.3 and earlier.
        return plan.model.compute_loss(**given)
    return plan.model._compute_loss(**given, training=plan.training)


def _loss_of_keras_2(plan: _Plan, x: Any, y: Any, y_pred: Any, weight: Any, free: bool) -> Any:
    model = plan.model
    value = model.compiled_loss(y, y_pred, weight) if free else model.compute_loss(x, y, y_pred, weight)
    if plan.training:
        model._validate_target_and_loss(y, value)
    return value


def _metrics(plan: _Plan, y: Any, y_pred: Any, weight: Any, loss: Outcome | Unknown) -> Outcome | Unknown:
    if not plan.with_metrics:
        return Unknown("the metrics are not compiled, or are custom")
    if isinstance(loss, Outcome) and not loss.ok:
        return Unknown("computing the loss failed")
    compiled = plan.model._compile_metrics if plan.keras == 3 else plan.model.compiled_metrics
    if compiled is None:
        return Outcome()
    if y is None:
        return Unknown("there is no y")
    try:
        compiled.update_state(y, y_pred, sample_weight=weight)
        if plan.keras == 3:
            return Outcome(specs_of(compiled.result()))
        return Outcome(specs_of({metric.name: metric.result() for metric in compiled.metrics}))
    except Exception as error:
        return _failed(plan, error)


def _output_is_known(model: Any, batch: Batch) -> bool:
    """Whether the functional graph already gives the output for such a batch."""
    functional = functional_part(model)
    if functional is None:
        return False
    if any(
        not is_library_class(type(layer)) or type(layer).__name__ == "Lambda" for layer in every_layer(model)
    ):
        return False
    leaves = list(_flat_leaves(Batch(batch.x)))
    inputs, struct = _inputs_of(functional)
    if len(leaves) != len(inputs) or isinstance(batch.x, dict) or isinstance(struct, dict):
        return False
    return all(_fits(leaf, tensor) for leaf, tensor in zip(leaves, inputs, strict=True))


def _inputs_of(functional: Any) -> tuple[list[Any], Any]:
    """Return the input tensors of a functional graph and their structure, in Keras 2 or 3."""
    if keras_version(functional) == 3:
        return list(getattr(functional, "_inputs", ())), getattr(functional, "_inputs_struct", {})
    return list(functional.inputs), vars(functional).get("_nested_inputs", {})


def _fits(leaf: Leaf, tensor: Any) -> bool:
    dtype = dtype_of(tensor)
    if leaf.shape is None or len(leaf.shape) != len(tensor.shape) or leaf.dtype in ("string", "str"):
        return False
    if getattr(tensor, "sparse", False) or dtype == "string" or tensor.shape[0] is not None:
        return False
    return all(
        expected is None or size == expected
        for size, expected in zip(leaf.shape[1:], tensor.shape[1:], strict=True)
    )


def _known_output(plan: _Plan, placeholder: Placeholder) -> Any:
    functional = functional_part(plan.model)
    first = next(iter(_flat_leaves(Batch(plan.batch.x))))
    axis = first.shape[0] if first.shape else None

    def output(tensor: Any) -> Any:
        shape = tuple(tensor.shape)
        if shape and shape[0] is None:
            shape = (axis, *shape[1:])
        return placeholder(Leaf(shape, dtype_of(tensor)))

    if plan.keras == 3:
        import keras

        outputs = keras.tree.map_structure(output, functional._outputs_struct)
        return outputs[0] if isinstance(outputs, (list, tuple)) and len(outputs) == 1 else outputs
    import tensorflow as tf

    return tf.nest.map_structure(
        lambda tensor: _activated(tensor, output(tensor)), functional._nested_outputs
    )


def _activated(tensor: Any, values: Any) -> Any:
    """Return a Keras 2 output marked with its last activation, so that losses use its logits."""
    layer = tensor._keras_history.layer
    activation = getattr(layer, "activation", None)
    named = getattr(activation, "__name__", "") in ("sigmoid", "softmax")
    ours = str(getattr(activation, "__module__", "")).startswith("tf_keras.")
    return activation(values) if activation is not None and named and ours else values

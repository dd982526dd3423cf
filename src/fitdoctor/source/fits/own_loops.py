"""Treats model and loss calls in custom training loops like `fit` calls."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from fitdoctor.facts import CALL, TRAINING_CALL, Unknown
from fitdoctor.records import replace
from fitdoctor.source.interpreter import objects
from fitdoctor.source.interpreter.library import handles
from fitdoctor.source.interpreter.values import (
    NONE,
    UNTOLD,
    Arguments,
    Array,
    Compiled,
    Dataset,
    Items,
    Made,
    ModelRecord,
    Named,
    Ref,
    Symbolic,
    Value,
)
from fitdoctor.source.loss_functions import WITH_LOGITS

if TYPE_CHECKING:
    from fitdoctor.source.interpreter.interpret import Interpreter

_LIKE = ("tensorflow.ones_like", "tensorflow.zeros_like", "keras.ops.ones_like", "keras.ops.zeros_like")
"""Labels of the predictions' shape, as in a GAN."""
_LOSSES = ("keras.losses.", *WITH_LOGITS)


def tell_call(run: Interpreter, model: Ref, given: Value, arguments: Arguments) -> None:
    """Record a top-level model call on data, so that rejections are reported there."""
    if isinstance(given, Array) and not _inside_a_model(run):
        run.listener.fit(run, model, _method(run), replace(arguments, positional=(given,), keywords=()))


def _method(run: Interpreter) -> str:
    return TRAINING_CALL if run.tapes else CALL


def _inside_a_model(run: Interpreter) -> bool:
    """Whether the `call` of a layer or model is being followed; its input is reported at the outer call."""
    return any(getattr(node, "name", "") == "call" for node in run.active)


def tell_loss(run: Interpreter, loss: Value, arguments: Arguments) -> None:
    """Judge `loss(labels, model(batch))` like the same loss in `compile` and the same data in `fit`."""
    if not isinstance(loss, (Made, Named)) or not loss.name.startswith(_LOSSES) or not arguments.complete:
        return
    in_tensorflow = loss.name in WITH_LOGITS
    labels = arguments.get("labels" if in_tensorflow else "y_true", 0)
    made = arguments.get("logits" if in_tensorflow else "y_pred", 1)
    if isinstance(labels, Made) and labels.name in _LIKE and isinstance(made, Symbolic):
        labels = Array(made.dims, made.dtype or Unknown("not evident from the source"))
    if not isinstance(labels, Array) or not isinstance(made, Symbolic) or made.call is None:
        return
    model, inputs, called = made.call.layer, made.call.inputs, made.call.node
    record = run.model(model) if model is not None else None
    if model is None or record is None or len(inputs) != 1 or not isinstance(called, ast.Call):
        return
    if made.index or isinstance(inputs[0].dims, Unknown) or not called.args or _inside_a_model(run):
        return
    if _is_switched(run, record, called):
        return
    batch = Array(inputs[0].dims, inputs[0].dtype or Unknown("not evident from the source"))
    node = ast.Call(arguments.node.func, [called.args[0], *_labels_of(arguments)], [])
    _tell_with(
        run, model, record, loss, Arguments((batch, labels), (), ast.copy_location(node, arguments.node))
    )


def _is_switched(run: Interpreter, record: ModelRecord, called: ast.Call) -> bool:
    """Whether a further argument decides what `call` does, such as `if not training: x = softmax(x)`."""
    method = objects.method_of(run, record.owner, "call") if record.owner is not None else None
    if method is None:
        return False
    further = [parameter.arg for parameter in method.node.args.args[2:]]
    given = {keyword.arg for keyword in called.keywords} | set(further[: len(called.args) - 1])
    tests = (node.test for node in ast.walk(method.node) if isinstance(node, (ast.If, ast.IfExp)))
    return any(isinstance(name, ast.Name) and name.id in given for test in tests for name in ast.walk(test))


def _labels_of(arguments: Arguments) -> list[ast.expr]:
    written = arguments.expression("y_true", 0) or arguments.expression("labels", 0)
    return [] if written is None else [written]


def _tell_with(run: Interpreter, model: Ref, record: ModelRecord, loss: Value, given: Arguments) -> None:
    """Record the model call as if the model had been compiled with this loss."""
    chosen = ast.Call(given.node.func, [], [ast.keyword("loss", given.node.func)])
    run.update(model, replace(record, compiled=Compiled(Arguments((), (("loss", loss),), chosen))))
    run.listener.fit(run, model, _method(run), given)
    run.update(model, record)


# --- train_step ---------------------------------------------------------------------------------------------------------


def follow_step(run: Interpreter, model: Ref, record: ModelRecord, arguments: Arguments) -> None:
    """Follow a custom `train_step` with a batch of the data passed to `fit`."""
    step = objects.method_of(run, record.owner, "train_step") if record.owner is not None else None
    batch = _first_batch(arguments)
    if step is None or batch is None or step.node in run.active:
        return
    before = run.state.copy()
    run.call(step, Arguments((model, batch), (), arguments.node))
    run.state = before


def _first_batch(arguments: Arguments) -> Value | None:
    """Return the step's argument: a batch, or a batch with labels; None if unknown."""
    x, y = arguments.get("x", 0), arguments.get("y", 1)
    if isinstance(x, Dataset) and x.batch is not None:
        return None if isinstance(x.element, Unknown) else x.element
    if not arguments.complete or {"sample_weight", "class_weight"} & set(arguments.names()):
        return None
    batch, labels = _opened(x), _opened(y)
    if batch is None:
        return None
    return batch if y is None or y == NONE else Items((batch, labels or UNTOLD))


@handles("keras.utils.unpack_x_y_sample_weight")
def _unpacked(run: Interpreter, arguments: Arguments) -> Value:
    """Return x, labels and weights of a batch; missing parts are None."""
    data = arguments.get("data", 0)
    if isinstance(data, Array):
        return Items((data, NONE, NONE))
    if not isinstance(data, Items) or not 1 <= len(data.items) <= 3:
        return UNTOLD
    return Items((*data.items, NONE, NONE)[:3])


def _opened(array: Value | None) -> Array | None:
    if not isinstance(array, Array) or isinstance(array.dims, Unknown) or not array.dims:
        return None
    return replace(array, dims=(None, *array.dims[1:]), container="tensorflow.Tensor", numbers=None)

"""Models and losses that a training loop of the user's own calls on data, told as calls of fit are."""

from __future__ import annotations

import ast

from fitdoctor.facts import CALL, TRAINING_CALL, Unknown
from fitdoctor.records import replace
from fitdoctor.source.values import (
    Arguments,
    Array,
    Compiled,
    Made,
    ModelRecord,
    Named,
    Ref,
    Symbolic,
    Value,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from fitdoctor.source.interpret import Interpreter

_LOSSES = "keras.losses."


def tell_call(run: Interpreter, model: Ref, given: Value, arguments: Arguments) -> None:
    """A model is called on data, and not from within another one: what it refuses is told at the call."""
    if isinstance(given, Array) and not _inside_a_model(run):
        run.listener.fit(run, model, _method(run), replace(arguments, positional=(given,), keywords=()))


def _method(run: Interpreter) -> str:
    return TRAINING_CALL if run.tapes else CALL


def _inside_a_model(run: Interpreter) -> bool:
    """Whether the `call` of a layer or model is being followed: what it is given is told where it is called."""
    return any(getattr(node, "name", "") == "call" for node in run.active)


def tell_loss(run: Interpreter, loss: Value, arguments: Arguments) -> None:
    """`loss(labels, model(batch))`: judged as the same loss in `compile` and the same data in `fit` would be."""
    if not isinstance(loss, (Made, Named)) or not loss.name.startswith(_LOSSES) or not arguments.complete:
        return
    labels, made = arguments.get("y_true", 0), arguments.get("y_pred", 1)
    if not isinstance(labels, Array) or not isinstance(made, Symbolic) or made.call is None:
        return
    model, inputs, called = made.call.layer, made.call.inputs, made.call.node
    record = run.model(model) if model is not None else None
    if model is None or record is None or len(inputs) != 1 or not isinstance(called, ast.Call):
        return
    if made.index or isinstance(inputs[0].dims, Unknown) or not called.args or _inside_a_model(run):
        return
    batch = Array(inputs[0].dims, inputs[0].dtype or Unknown("not evident from the source"))
    node = ast.Call(arguments.node.func, [called.args[0], *_labels_of(arguments)], [])
    _tell_with(
        run, model, record, loss, Arguments((batch, labels), (), ast.copy_location(node, arguments.node))
    )


def _labels_of(arguments: Arguments) -> list[ast.expr]:
    written = arguments.expression("y_true", 0)
    return [] if written is None else [written]


def _tell_with(run: Interpreter, model: Ref, record: ModelRecord, loss: Value, given: Arguments) -> None:
    """Tell the call on the model as if it had been compiled with this loss."""
    chosen = ast.Call(given.node.func, [], [ast.keyword("loss", given.node.func)])
    run.update(model, replace(record, compiled=Compiled(Arguments((), (("loss", loss),), chosen))))
    run.listener.fit(run, model, _method(run), given)
    run.update(model, record)

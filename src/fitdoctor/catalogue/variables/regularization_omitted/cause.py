"""Custom loss that omits regularization and added losses.

## What happens

Training runs, but `kernel_regularizer=l2(…)` has no effect: the weights grow, and the model overfits, as if the argument
were not there. A term that a layer adds with `add_loss`, such as the KL divergence of a variational autoencoder, is
not minimized either.

## Why

Layers only collect these terms, in `model.losses`. `fit` adds them to the loss; a custom training loop, or a
`train_step` that computes its loss itself, has to do so, too.

## Fix

Below the tape, add `sum(model.losses)` to the loss. In a `train_step`, `self.compute_loss(…)` does it.

## Known limits

Only models whose code can be followed from the training step are checked. If the program reads `losses` of any object,
nothing is reported.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fitdoctor.catalogue import Cause
from fitdoctor.catalogue.knowledge.models.model_code import calls_in_model, trained_models
from fitdoctor.catalogue.knowledge.tracing.gradient_ways import Tape, tapes
from fitdoctor.diagnosis import Evidence, Finding, Severity
from fitdoctor.edits import insert_after, unsafe
from fitdoctor.source.module import Module

CAUSE = Cause(id="FIT510", slug="regularization-omitted", severity=Severity.WARNING)

_INCLUDED = ("compute_loss", "compiled_loss", "get_losses_for", "_losses", "regularization_losses")
"""Attributes whose use may include the terms."""


@CAUSE.rule("GradientTape")
def never_added(module: Module) -> Iterator[Finding]:
    """Find losses below a tape without the terms that the layers of the trained model collect."""
    known = [module] if module.project is None else module.project.modules
    if any(map(_reads_losses, known)):
        return
    for tape in tapes(module):
        for text, model in trained_models(tape).items():
            term = next(_terms(module, model), None)
            if term is not None:
                where, call, name = term
                computed = _computed(tape)
                yield CAUSE.finding(
                    f"the loss does not contain `{text}.losses`, so `{name}` has no effect",
                    module.location(computed or tape.gradients[0]),
                    Evidence(f"`{name}` of the model", location=where.location(call)),
                    unsafe(
                        f"add `sum({text}.losses)` to the loss",
                        insert_after(module.code(computed), f"{_loss(tape)} += sum({text}.losses)")
                        if computed
                        else (),
                    ),
                    subject="loss below the tape",
                )
                break


def _reads_losses(module: Module) -> bool:
    """Whether a file reads the `losses` of an object, or calls what includes them."""
    if any(name in module.attributes for name in _INCLUDED):
        return True
    reads = module.attributes.get("losses", ())
    return any(not module.resolve(each).startswith(("keras.", "tensorflow.")) for each in reads)


def _terms(module: Module, model: ast.expr) -> Iterator[tuple[Module, ast.Call, str]]:
    """Yield the arguments and calls that collect terms in the code of a model, with the names of these."""
    for where, call in calls_in_model(module, model):
        if isinstance(call.func, ast.Attribute) and call.func.attr == "add_loss":
            yield where, call, "add_loss"
        if not where.called(call).startswith("keras.layers."):
            continue
        for keyword in call.keywords:
            given = where.made_by(keyword.value)
            if (keyword.arg or "").endswith("_regularizer") and _penalizes(where, given):
                yield where, call, str(keyword.arg)


def _penalizes(module: Module, given: ast.expr) -> bool:
    """Whether a regularizer is certainly one: a name, or a call with a factor other than 0."""
    if isinstance(given, ast.Constant):
        return isinstance(given.value, str)
    if not isinstance(given, ast.Call) or not module.called(given).startswith("keras.regularizers."):
        return False
    factors = [*given.args, *(keyword.value for keyword in given.keywords)]
    return not factors or any(getattr(module.made_by(factor), "value", 1) != 0 for factor in factors)


def _computed(tape: Tape) -> ast.stmt | None:
    """Return the last statement below the tape that assigns the loss."""
    assigned = [
        statement
        for statement in tape.block.body
        if isinstance(statement, (ast.Assign, ast.AugAssign))
        and any(
            isinstance(node, ast.Name) and node.id == _loss(tape) and isinstance(node.ctx, ast.Store)
            for node in ast.walk(statement)
        )
    ]
    return assigned[-1] if assigned else None


def _loss(tape: Tape) -> str:
    """Return the name of the loss that the gradients are computed of."""
    target = tape.gradients[0].args[0] if tape.gradients[0].args else None
    return target.id if isinstance(target, ast.Name) else ""

"""Gradients computed but never applied.

## What happens

The training loop runs, and the loss hardly changes from epoch to epoch: no weight is ever updated.

## Why

`tape.gradient` only computes gradients. Nothing changes the weights until an optimizer applies them.

## Fix

Call `optimizer.apply_gradients(zip(gradients, model.trainable_variables))` after `tape.gradient`.

## Known limits

Gradients that are read at all, even only to print them, are not reported.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fitdoctor.catalogue import Cause
from fitdoctor.catalogue.knowledge.tracing.gradient_ways import Tape, tapes
from fitdoctor.diagnosis import Edit, Evidence, Finding, Severity
from fitdoctor.edits import insert_after, unsafe
from fitdoctor.source.keras_objects import kind_of_call
from fitdoctor.source.module import Module

CAUSE = Cause(id="FIT509", slug="gradients-not-applied", severity=Severity.WARNING)

_WEIGHTS = ("trainable_variables", "trainable_weights")


@CAUSE.rule("GradientTape")
def never_read(module: Module) -> Iterator[Finding]:
    """Find gradients of a model's weights that a training step or loop assigns to a name and never reads."""
    for tape in tapes(module):
        for gradient in tape.gradients:
            statement = module.statement(gradient)
            match statement:
                case ast.Assign(targets=[ast.Name(id=name)]) if (
                    statement.value is gradient and name[0] != "_"
                ):
                    pass
                case _:
                    continue
            if not _is_step(module, statement) or _is_read(module, name, statement):
                continue
            weights = _weights(module, gradient)
            if weights:
                yield CAUSE.finding(
                    f"`{name}` is computed but never applied, so this loss changes no weights",
                    module.location(statement),
                    Evidence("uses of these gradients", "none", "an optimizer that applies them"),
                    unsafe("apply the gradients", _applying(tape, statement, name, weights)),
                    subject="gradients",
                )


def _is_step(module: Module, statement: ast.stmt) -> bool:
    """Whether a statement is repeated, as training is: in a loop, or in a function that is not a test."""
    function = module.function_of(statement)
    if function is not None:
        return not function.name.startswith("test")
    return module.around(statement, ast.For, ast.While) is not None


def _is_read(module: Module, name: str, statement: ast.stmt) -> bool:
    here = module.scope(statement)
    own = module.reads.get(name, ())
    return any(
        module.index.lookup(name, module.scope(read)) is module.index.lookup(name, here) for read in own
    )


def _weights(module: Module, gradient: ast.Call) -> str:
    """Return how the source writes the weights of the model, or "" for other sources."""
    sources = gradient.args[1] if len(gradient.args) > 1 else None
    made = module.made_by(sources) if sources is not None else None
    return (
        module.segment(sources)
        if isinstance(made, ast.Attribute) and made.attr in _WEIGHTS and sources
        else ""
    )


def _applying(tape: Tape, statement: ast.stmt, name: str, weights: str) -> tuple[Edit, ...]:
    """Apply the gradients with the only optimizer that the step can see; no edit if there are several."""
    module = tape.module
    owner = module.class_of(statement)
    if owner is not None and owner.kind == "Model":
        optimizer = "self.optimizer"
    else:
        made = {
            target.id
            for each in module.nodes(ast.Assign)
            if isinstance(each.value, ast.Call) and kind_of_call(module, each.value) == "Optimizer"
            for target in each.targets
            if isinstance(target, ast.Name)
        }
        if len(made) != 1:
            return ()
        (optimizer,) = made
    return insert_after(module.code(statement), f"{optimizer}.apply_gradients(zip({name}, {weights}))")

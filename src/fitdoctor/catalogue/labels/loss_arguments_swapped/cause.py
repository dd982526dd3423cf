"""The predictions are passed to a loss as its labels, and the labels as its predictions.

## What happens

Nothing fails if both have one shape. A crossentropy then takes the logarithm of the labels, which are clipped to almost 0
and almost 1: the loss is large and in proportion to the predictions, and the model learns something else. With class
numbers, a Keras crossentropy raises, as the shapes do not fit.

## Why

In Keras, the labels come first: `loss(y_true, y_pred)`. In PyTorch, and in scikit-image, it is the other way round.

## Fix

Swap the two arguments.

## Known limits

A squared or an absolute error does not change, so nothing is reported. What is predicted must be evident: the result of
a Keras model, or the parameter `y_pred`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fitdoctor.catalogue import Cause, mentions
from fitdoctor.catalogue.knowledge.labels.argument_order import are_swapped, exchanged
from fitdoctor.diagnosis import Evidence, Finding, Severity
from fitdoctor.edits import unsafe
from fitdoctor.source.loss_functions import is_parameter, loss_called
from fitdoctor.source.module import FunctionInfo, Module

CAUSE = Cause(id="FIT223", slug="loss-arguments-swapped", severity=Severity.WARNING)

_ASYMMETRIC = frozenset(
    "binary_crossentropy binary_focal_crossentropy categorical_crossentropy categorical_focal_crossentropy "
    "poisson mean_absolute_percentage_error".split()
)
"""Not the Kullback-Leibler divergence, which is also minimized the other way round; with class numbers, the loss raises."""


@CAUSE.in_source
@mentions("losses", "Crossentropy", "crossentropy")
def from_source(module: Module) -> Iterator[Finding]:
    """Find calls of a loss whose first argument is predicted, and whose second is not."""
    called = [(site.node, loss_called(module, site.node)) for site in module.calls]
    losses = [(call, name) for call, name in called if name in _ASYMMETRIC and len(call.args) >= 2]
    for call, name in losses:
        function = module.function_of(call)
        # A symmetric crossentropy is the sum of both directions.
        both = any(
            _is_swapped(module, *other.args[1::-1])
            for other, _name in losses
            if other is not call and module.function_of(other) is function
        )
        if not both and _is_swapped(module, *call.args[:2]):
            yield _finding(module, call, name)


def _is_swapped(module: Module, first: ast.expr, second: ast.expr) -> bool:
    function = module.function_of(first)
    if function is not None and _is_loss(function):
        predictions = function.parameters[-1]
        made = module.origin(second).node
        named = {node.id for node in ast.walk(made) if isinstance(node, ast.Name)}
        return is_parameter(function, first, predictions) and bool(named) and predictions not in named
    return are_swapped(module, first, second)


def _is_loss(function: FunctionInfo) -> bool:
    """Whether a function gets labels and predictions, by the names that Keras uses or as the method of a `Loss`."""
    if tuple(function.parameters[-2:]) == ("y_true", "y_pred"):
        return True
    owner = function.owner
    return (
        owner is not None
        and owner.kind == "Loss"
        and function.name == "call"
        and len(function.parameters) == 3
    )


def _finding(module: Module, call: ast.Call, name: str) -> Finding:
    first, second = call.args[:2]
    written, other = module.segment(first), module.segment(second)
    return CAUSE.finding(
        f"`{name}` takes the labels first, but gets the predictions `{written}`",
        module.location(call),
        Evidence("first argument", f"`{written}`", f"`{other}`"),
        unsafe(f"swap them: `({other}, {written})`", exchanged(module, first, second)),
        subject="loss",
    )

"""Find built-in losses that a custom loop or `train_step` calls, by the line that raised."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fitdoctor.catalogue.knowledge.data.loop_data import frame_of_trace
from fitdoctor.facts import Code, FailureFacts, Unknown
from fitdoctor.failure.failed_line import module_of, nodes_at
from fitdoctor.source.definitions import argument_of
from fitdoctor.source.keras_names import canonical_loss
from fitdoctor.source.module import Module
from fitdoctor.source.project import Project

_HOME = "keras.losses."


def called_loss(project: Project | None, failure: FailureFacts, name: str) -> Code | Unknown:
    """Return where the loss that raised is named: its class or function, as `respell` expects it.

    Args:
        project: the program.
        failure: what raised.
        name: the loss, in snake case.
    """
    found = _losses(project, failure, name)
    if len(found) != 1:
        return Unknown("the line that raised does not contain exactly one loss call")
    module, _call, named = found[0]
    return module.code(named)


def arguments_of_loss(
    project: Project | None, failure: FailureFacts, name: str
) -> tuple[Module, ast.expr, ast.expr] | None:
    """Return the labels and predictions passed to a loss that the program itself calls."""
    found = _losses(project, failure, name)
    if len(found) != 1:
        return None
    module, call, _named_by = found[0]
    labels, predictions = argument_of(call, "y_true", 0), argument_of(call, "y_pred", 1)
    return None if labels is None or predictions is None else (module, labels, predictions)


def _losses(
    project: Project | None, failure: FailureFacts, name: str
) -> list[tuple[Module, ast.Call, ast.expr]]:
    frame = frame_of_trace(failure)
    module = module_of(project, frame) if project is not None else None
    if module is None:
        return []
    calls = nodes_at(module, ast.Call, frame)
    found = {
        module.location(named): (module, call, named)
        for call in calls
        for named in _named(module, call, name)
    }
    return list(found.values())


def _named(module: Module, call: ast.Call, name: str) -> Iterator[ast.expr]:
    """Return `SparseCategoricalCrossentropy(…)` for `loss_fn(y, p)`, the function itself for `losses.mse(y, p)`."""
    if _is_loss(module, call.func, name):
        yield call.func
        return
    made = call.func if isinstance(call.func, ast.Call) else module.made_by(call.func)
    if _is_loss(module, made.func if isinstance(made, ast.Call) else made, name):
        yield made


def _is_loss(module: Module, named: ast.expr, name: str) -> bool:
    resolved = module.resolve(named)
    return resolved.startswith(_HOME) and canonical_loss(resolved.rpartition(".")[2]) == name

"""A `call` that unpacks its inputs, `left, right = inputs`, but receives a single tensor."""

from __future__ import annotations

import ast

from fitdoctor.catalogue.traceback_lines import unpacked_argument
from fitdoctor.diagnosis import Location
from fitdoctor.facts import FailureFacts, FitFacts, ModelFacts, Unknown
from fitdoctor.failure.failed_line import function_at, module_of, nodes_at
from fitdoctor.source.module import FunctionInfo
from fitdoctor.source.project import Project

_ITERATED = ("Iterating over a symbolic", "iterating over `tf.Tensor` is not allowed")


def unpacked_inputs(failure: FailureFacts, project: Project) -> list[str]:
    """Return the names the failing line of `call` unpacks its argument into, empty for another failure."""
    frame = failure.last_user_frame
    if frame is None or not any(words in failure.message for words in _ITERATED):
        return []
    if not project:
        return unpacked_argument(failure)
    module = module_of(project, frame)
    function = function_at(module, frame.line, frame.cell) if module is not None else None
    if module is None or function is None or function.name != "call" or len(function.parameters) < 2:
        return []
    return next(filter(None, (_parts(function, node) for node in nodes_at(module, ast.Assign, frame))), [])


def unpacked_by_call(model: ModelFacts, project: Project) -> tuple[list[str], Location] | None:
    """Return the names a custom `call` always unpacks its argument into, and where."""
    owner = project.class_named(model.class_name) if project else None
    function = owner.module.method(owner, "call") if owner is not None else None
    if function is None or len(function.parameters) < 2 or isinstance(function.node, ast.Lambda):
        return None
    for statement in function.statements:
        parts = _parts(function, statement) if isinstance(statement, ast.Assign) else []
        if parts:
            return parts, function.module.location(statement)
        if not isinstance(statement, ast.Assign) or _binds(statement, function.parameters[1]):
            return None
    return None


def _parts(function: FunctionInfo, statement: ast.Assign) -> list[str]:
    """Return the targets of `left, right = inputs` if `inputs` is the first argument."""
    target, value = statement.targets[0], statement.value
    given = isinstance(value, ast.Name) and value.id == function.parameters[1]
    if not given or not isinstance(target, (ast.Tuple, ast.List)):
        return []
    return [function.module.segment(element) for element in target.elts]


def _binds(statement: ast.stmt, name: str) -> bool:
    return any(
        isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Store)
        for node in ast.walk(statement)
    )


def argument_place(fit_call: FitFacts | Unknown) -> Location | None:
    """Return the location of the argument x of fit."""
    if isinstance(fit_call, Unknown) or isinstance(fit_call.code, Unknown):
        return None
    argument = fit_call.code.argument("x", 0)
    return argument.location if argument is not None else fit_call.code.location

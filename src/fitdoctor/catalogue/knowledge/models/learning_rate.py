"""Find the learning rate of a compiled model and where the source sets it."""

from __future__ import annotations

import ast

from fitdoctor.catalogue.knowledge.data.data_trail import node_of
from fitdoctor.catalogue.words import place
from fitdoctor.diagnosis import Edit, Location
from fitdoctor.facts import Code, ModelFacts
from fitdoctor.source.module import Module
from fitdoctor.source.origins import origin
from fitdoctor.source.project import Project


def rate_of(model: ModelFacts) -> float | None:
    """Return the learning rate of the optimizer, or None if it is not a plain number."""
    settings = dict(model.optimizer_settings)
    try:
        return float(settings.get("learning_rate", ""))
    except ValueError:
        return None


def rate_place(model: ModelFacts, project: Project) -> Location | None:
    """Return where the rate is set, else where the optimizer is created or passed to compile."""
    made = _optimizer(model, project)
    if made is None:
        return place(model.compile_code)
    written = _written(*made)
    module, node = written or made
    return module.location(node)


def rate_edit(model: ModelFacts, project: Project, rate: float) -> tuple[Edit, ...]:
    """Return the edit that sets another rate, if the rate is a number in the source."""
    made = _optimizer(model, project)
    written = _written(*made) if made is not None else None
    return (Edit(written[0].location(written[1]), f"{rate:g}"),) if written is not None else ()


def _optimizer(model: ModelFacts, project: Project) -> tuple[Module, ast.expr] | None:
    """Return the expression that creates the optimizer: a call or a string."""
    code = model.compile_code
    argument = code.argument("optimizer", 0) if isinstance(code, Code) else None
    if argument is None:
        return None
    found = node_of(project, Code(argument.location, argument.text))
    if found is None or not isinstance(found[1], ast.expr):
        return None
    return _behind(found[0], found[1])


def schedule_of(model: ModelFacts, project: Project) -> tuple[Location, ast.Call, Module] | None:
    """Return where the optimizer receives its schedule, and the call that creates it with its module."""
    made = _optimizer(model, project)
    given = _given(made[1]) if made is not None else None
    if made is None or given is None:
        return None
    where, node = _behind(made[0], given)
    return (made[0].location(given), node, where) if isinstance(node, ast.Call) else None


def _given(optimizer: ast.expr) -> ast.expr | None:
    """Return the learning rate argument of an optimizer call."""
    if not isinstance(optimizer, ast.Call):
        return None
    named = next((word.value for word in optimizer.keywords if word.arg in ("learning_rate", "lr")), None)
    given = named or (optimizer.args[0] if optimizer.args else None)
    return None if isinstance(given, ast.Starred) else given


def _written(module: Module, optimizer: ast.expr) -> tuple[Module, ast.expr] | None:
    """Return the number an optimizer call uses as its rate, directly or through a name."""
    given = _given(optimizer)
    if given is None:
        return None
    where, node = _behind(module, given)
    number = isinstance(node, ast.Constant) and isinstance(node.value, (int, float))
    return (where, node) if number else None


def _behind(module: Module, node: ast.expr) -> tuple[Module, ast.expr]:
    """Return the value of a name if it has only one possible value."""
    if not isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)):
        return module, node
    end = origin(module, node)
    return (end.module, end.node) if end.certain and not end.path and not end.writes else (module, node)

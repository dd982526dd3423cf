"""The result of a function without a `return`, and the edit that returns it."""

from __future__ import annotations

import ast

from fitdoctor.diagnosis import Edit
from fitdoctor.edits import insert_after
from fitdoctor.source.module import FunctionInfo, Module

EFFECTS = frozenset({"add_loss", "add_metric", "print"})
"""Calls made for their side effects."""
GIVE_NOTHING = frozenset({"compile", "add", "build", "summary", "load_weights", "set_weights", "save"})
"""Methods of a model that return nothing."""


def returned(module: Module, function: FunctionInfo, last: ast.stmt) -> tuple[str, tuple[Edit, ...]]:
    """Return a title and edits that make a function return what its last statement computed."""
    body = getattr(module.parent(last), "body", [])
    behind = body[-1] if body and body[-1] is not last else None
    value = _result(module, last)
    if value is None:
        given = [name for name in function.parameters if name != "self"]
        if not _is_effect(last) or not given or function.name != "call":
            return "return the result", ()
        value = given[0]  # a layer that adds a loss, or prints a value, returns its input
    if isinstance(behind, ast.Return):
        return f"return `{value}`", (Edit(module.location(behind), f"return {value}"),)
    if isinstance(last, ast.Expr) and value == module.segment(last.value):
        return "return the result", (Edit(module.location(last).start, "return "),)
    return f"return `{value}`", insert_after(module.code(last), f"return {value}")


def _result(module: Module, last: ast.stmt) -> str | None:
    """Return the name or expression that holds the last computed value."""
    if isinstance(last, ast.Assign):
        target = last.targets[0]
        return module.segment(target) if isinstance(target, (ast.Name, ast.Attribute)) else None
    if isinstance(last, (ast.AnnAssign, ast.AugAssign)):
        return module.segment(last.target)
    if isinstance(last, ast.Expr):
        return _of_statement(module, last.value)
    if isinstance(last, ast.FunctionDef):
        return last.name
    if isinstance(last, (ast.For, ast.If, ast.With)):
        return _result(module, last.body[-1])
    return None


def _of_statement(module: Module, value: ast.expr) -> str | None:
    """Return the value of an expression statement: itself, or the model whose method returns nothing."""
    if isinstance(value, ast.Call) and called_name(value) in EFFECTS:
        return None
    if (
        isinstance(value, ast.Call)
        and isinstance(value.func, ast.Attribute)
        and value.func.attr in GIVE_NOTHING
    ):
        return module.segment(value.func.value)
    return module.segment(value)


def _is_effect(statement: ast.stmt) -> bool:
    value = statement.value if isinstance(statement, ast.Expr) else None
    return isinstance(value, ast.Call) and called_name(value) in EFFECTS


def called_name(call: ast.Call) -> str:
    """Return the last part of the callee: `add_loss` in `self.add_loss(…)`."""
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")

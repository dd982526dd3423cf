"""What a function without a `return` has computed, and the edit that returns it."""

from __future__ import annotations

import ast

from fitdoctor.diagnosis import Edit
from fitdoctor.edits import insert_after
from fitdoctor.source.module import FunctionInfo, Module

EFFECTS = frozenset({"add_loss", "add_metric", "print"})
"""What a layer may be made for, whose result nobody needs."""
GIVE_NOTHING = frozenset({"compile", "add", "build", "summary", "load_weights", "set_weights", "save"})
"""Methods of a model that return nothing."""


def returned(module: Module, function: FunctionInfo, last: ast.stmt) -> tuple[str, tuple[Edit, ...]]:
    """How a function that ends with a statement returns what it computed: in words, and as edits."""
    body = getattr(module.parent(last), "body", [])
    behind = body[-1] if body and body[-1] is not last else None
    value = _result(module, last)
    if value is None:
        given = [name for name in function.parameters if name != "self"]
        if not _is_effect(last) or not given or function.name != "call":
            return "return the result", ()
        value = given[0]  # a layer that adds a loss, or shows a value, passes on what it is given
    if isinstance(behind, ast.Return):
        return f"return `{value}`", (Edit(module.location(behind), f"return {value}"),)
    if isinstance(last, ast.Expr) and value == module.segment(last.value):
        return "return it", (Edit(module.location(last).start, "return "),)
    return f"return `{value}`", insert_after(module.code(last), f"return {value}")


def _result(module: Module, last: ast.stmt) -> str | None:
    """The name, or expression, that holds what was computed last."""
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
    """What an expression that stands alone is about: itself, or the model whose method returns nothing."""
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
    """The last part of what is called: `add_loss` of `self.add_loss(…)`."""
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")

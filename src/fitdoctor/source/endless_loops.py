"""Detects functions that certainly never end."""

from __future__ import annotations

import ast

from fitdoctor.source.module import Module

_ENDLESS = frozenset(("itertools.count", "itertools.cycle"))
_FLOWS = frozenset(("flow", "flow_from_directory", "flow_from_dataframe"))
"""ImageDataGenerator methods, whose iterators restart at their end."""
_OUT = (ast.Break, ast.Return, ast.Raise)


def never_ends(module: Module, function: ast.AST) -> bool:
    """Whether a function has an unconditional infinite loop."""
    for statement in getattr(function, "body", ()):
        if isinstance(statement, ast.stmt) and _is_endless(module, statement):
            return not any(isinstance(inner, _OUT) for inner in ast.walk(statement))
    return False


def _is_endless(module: Module, statement: ast.stmt) -> bool:
    if isinstance(statement, ast.While):
        return isinstance(statement.test, ast.Constant) and bool(statement.test.value)
    if isinstance(statement, ast.For):
        made = module.made_by(statement.iter)
        return isinstance(made, ast.Call) and (
            module.resolve(made.func) in _ENDLESS or _is_flow(module, made.func)
        )
    return False


def _is_flow(module: Module, func: ast.expr) -> bool:
    if not isinstance(func, ast.Attribute) or func.attr not in _FLOWS:
        return False
    maker = module.made_by(func.value)
    return isinstance(maker, ast.Call) and module.resolve(maker.func).endswith(".ImageDataGenerator")

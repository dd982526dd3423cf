"""Find the last layers of a custom `call` from its source and the live model."""

from __future__ import annotations

import ast
import inspect
from typing import Any

from fitdoctor.collect.layers import user_classes
from fitdoctor.collect.sites import module_with
from fitdoctor.failure.frames import is_library
from fitdoctor.source.callees import is_self
from fitdoctor.source.module import FunctionInfo, Module

_MOST_STEPS = 32
_OPERATIONS = ("tensorflow.", "keras.ops.", "keras.activations.", "keras.backend.")
UNKNOWN_STEP = "?"
"""Ends a path that does not lead back to the input of `call`."""


def returned_paths(model: Any) -> tuple[tuple[Any, ...], ...]:
    """Return the layers and function names before each output of `call`, last first.

    A path that stops before the input of `call` ends with `UNKNOWN_STEP`.
    """
    found = _call_of(model)
    if found is None:
        return ()
    module, function = found
    returns = module.returns.get(function.node, [])
    if len(returns) != 1 or returns[0].value is None:
        return ()
    value = _made(function, returns[0].value)
    parts = _parts(value) if value is not None else []
    return tuple(tuple(_path(model, function, part)) for part in parts)


def _made(function: FunctionInfo, expr: ast.expr) -> ast.expr | None:
    """Return the only expression that can produce the value, None if a branch may produce another."""
    end = function.module.origin(expr)
    if not end.certain or end.path or end.module is not function.module:
        return None
    return end.node if function.module.function_of(end.node) is function else None


def _call_of(model: Any) -> tuple[Module, FunctionInfo] | None:
    for kind in user_classes(type(model)):
        if "call" in vars(kind) and hasattr(inspect.unwrap(vars(kind)["call"]), "__code__"):
            info = function_info(vars(kind)["call"])
            return None if info is None or info.owner is None else (info.module, info)
    return None


def function_info(function: Any) -> FunctionInfo | None:
    """Return the source of a user's function; None if it is not found."""
    code = getattr(inspect.unwrap(function), "__code__", None)
    if code is None or is_library(code.co_filename):
        return None
    module, starts = module_with(code)
    named = [info for info in module.functions if _starts_at(info.node, starts)] if module is not None else []
    same = [info for info in named if info.name == code.co_name]
    return same[0] if len(same) == 1 else None


def _starts_at(node: ast.AST, line: int) -> bool:
    decorators = [decorator.lineno for decorator in getattr(node, "decorator_list", [])]
    return line in (getattr(node, "lineno", 0), *decorators)


def _parts(value: ast.expr) -> list[ast.expr]:
    if isinstance(value, (ast.Tuple, ast.List)):
        return list(value.elts)
    if isinstance(value, ast.Dict):
        return list(value.values)
    return [value]


def _path(model: Any, function: FunctionInfo, expr: ast.expr) -> list[Any]:
    path: list[Any] = []
    for _ in range(_MOST_STEPS):
        made = _made(function, expr)
        if isinstance(made, ast.Name) and _is_input(function, made):
            return path
        if not isinstance(made, ast.Call) or not made.args:
            break
        step = _step(model, function.module, made.func)
        if step is None:
            break
        path.append(step)
        expr = made.args[0]
    return [*path, UNKNOWN_STEP]


def _is_input(function: FunctionInfo, name: ast.Name) -> bool:
    """Whether a name that the source leads back to is the first input of `call`."""
    parameters = [*function.node.args.posonlyargs, *function.node.args.args]
    return len(parameters) > 1 and parameters[1].arg == name.id


def _step(model: Any, module: Module, function: ast.expr) -> Any:
    """Return the called layer, or the name of a TensorFlow or Keras function."""
    if isinstance(function, ast.Attribute) and is_self(module, function.value):
        layer = vars(model).get(function.attr)
        return layer if hasattr(layer, "call") and hasattr(layer, "trainable") else None
    name = module.resolve(function)
    return name.rpartition(".")[2] if name.startswith(_OPERATIONS) else None

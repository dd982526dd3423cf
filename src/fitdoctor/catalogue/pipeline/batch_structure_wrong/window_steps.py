"""Queries about `Dataset.window` in source: what follows it, and whether that treats windows as tensors."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fitdoctor.source.module import FunctionInfo, Module


def in_dataset(module: Module, call: ast.Call) -> bool:
    """Return whether a call is a stage of a chain that starts with `tf.data`."""
    start: ast.expr = call
    for _ in range(20):
        if isinstance(start, ast.Call) and isinstance(start.func, ast.Attribute):
            if module.resolve(start.func).startswith("tensorflow.data."):
                return True
            start = start.func.value
        else:
            made = module.made_by(start)
            if made is start:
                return False
            start = made
    return False


def _next_step(module: Module, call: ast.Call) -> ast.Call | None:
    """Return the only call on the name that a stage is assigned to, in the next statement."""
    statement = module.statement(call)
    if not isinstance(statement, ast.Assign) or not isinstance(statement.targets[0], ast.Name):
        return None
    name = statement.targets[0].id
    for node in module.nodes(ast.Call):
        if (
            isinstance(node.func, ast.Attribute)
            and isinstance(node.func.value, ast.Name)
            and node.func.value.id == name
            and module.made_by(node.func.value) is call
        ):
            return node
    return None


_KEEPS_WINDOWS = frozenset("shuffle repeat prefetch take skip cache".split())


def _mapped_after(module: Module, call: ast.Call) -> ast.Call | None:
    """Return the `map` that gets the windows of a call, after stages that pass them on."""
    step: ast.Call | None = call
    for _ in range(10):
        if step is None:
            return None
        after = module.parent(module.parent(step) or step)
        step = after if isinstance(after, ast.Call) else _next_step(module, step)
        name = step.func.attr if step is not None and isinstance(step.func, ast.Attribute) else ""
        if name not in _KEEPS_WINDOWS:
            return step if name == "map" else None
    return None


def _indexes_parameter(function: FunctionInfo) -> bool:
    """Return whether a function indexes one of its parameters; the window of a dict is a dict of windows."""
    names = set(function.parameters)
    return any(
        isinstance(node, ast.Subscript)
        and isinstance(node.value, ast.Name)
        and node.value.id in names
        and not (isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str))
        for node in ast.walk(function.node)
    )


def windows_taken_for_tensors(module: Module) -> Iterator[tuple[ast.Call, ast.expr]]:
    """Return `window` calls, with their sizes, whose windows the next `map` indexes."""
    for call in module.method_calls("window"):
        size = call.argument("size", 0)
        mapped = _mapped_after(module, call.node)
        if size is None or mapped is None or not mapped.args or not in_dataset(module, call.node):
            continue
        function = module.definition(mapped.args[0])
        if isinstance(function, FunctionInfo) and _indexes_parameter(function):
            yield call.node, size

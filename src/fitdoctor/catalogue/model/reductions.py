"""Reductions in the user's code, and the axes that they remove."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fitdoctor.source.definitions import argument_of
from fitdoctor.source.module import FunctionInfo, Module
from fitdoctor.source.traced.symbolic import own_nodes


def reduction_calls(function: FunctionInfo) -> Iterator[tuple[ast.Call, int]]:
    """Yield calls that remove one axis, with that axis."""
    yield from ((call, axes[0]) for call, axes in reductions_over(function) if len(axes) == 1)


def reductions_over(function: FunctionInfo) -> Iterator[tuple[ast.Call, tuple[int, ...]]]:
    """Yield calls that remove axes, with those axes."""
    for node in own_nodes(function):
        axes = axes_taken_away(function.module, node)
        if isinstance(node, ast.Call) and axes:
            yield node, axes


_REDUCTIONS = frozenset("mean sum max min var std norm logsumexp".split())


def axes_taken_away(module: Module, node: ast.AST) -> tuple[int, ...]:
    """Return the axes that a reduction removes, as written; empty for anything else."""
    if not isinstance(node, ast.Call):
        return ()
    name = module.resolve(node.func)
    last = name.rpartition(".")[2]
    libraries = ("tensorflow.", "keras.ops.", "keras.backend.", "numpy.")
    if not name.startswith(libraries) or not (last.startswith("reduce_") or last in _REDUCTIONS):
        return ()
    axis = argument_of(node, "axis", 1)
    numbers = [
        whole_number(one) for one in (axis.elts if isinstance(axis, (ast.List, ast.Tuple)) else [axis])
    ]
    axes = tuple(number for number in numbers if number is not None)
    kept = len(axes) == len(numbers) and not any(word.arg == "keepdims" for word in node.keywords)
    return axes if kept else ()


def whole_number(value: ast.expr | None) -> int | None:
    """Return the value of an integer literal with its sign; None for anything else."""
    if isinstance(value, ast.UnaryOp) and isinstance(value.op, ast.USub):
        inner = whole_number(value.operand)
        return None if inner is None else -inner
    return value.value if isinstance(value, ast.Constant) and type(value.value) is int else None

"""Functions that return a value on some paths only: they end in an `if` without `else`."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fitdoctor.diagnosis import Fix
from fitdoctor.edits import insert_after, unsafe
from fitdoctor.source.module import FunctionInfo
from fitdoctor.source.traced.symbolic import own_nodes


def input_otherwise(function: FunctionInfo, last: ast.stmt) -> Iterator[Fix]:
    """Yield a fix that returns the input unchanged outside training, for a layer that only acts during training."""
    if function.name == "call" and only_while_training(function) and len(function.parameters) > 1:
        given = function.parameters[1]
        edits = insert_after(function.module.code(last), f"return {given}")
        yield unsafe(f"otherwise return `{given}` unchanged", edits)


def only_while_training(function: FunctionInfo) -> bool:
    """Whether the function returns None outside training, as in validation and `predict`."""
    if not may_fall_through(function):
        return False
    assert isinstance(function.node, ast.FunctionDef)
    last = function.node.body[-1]
    assert isinstance(last, ast.If)
    asks = isinstance(last.test, ast.Name) and last.test.id == "training"
    returned = [part for part in own_nodes(function) if isinstance(part, ast.Return)]
    return asks and len(returned) == 1 and returned[0] is last.body[-1]


def may_fall_through(function: FunctionInfo) -> bool:
    """Whether the last statement is an `if` without `else` that returns."""
    node = function.node
    last = node.body[-1] if isinstance(node, ast.FunctionDef) else None
    return (
        isinstance(last, ast.If)
        and not last.orelse
        and any(isinstance(part, ast.Return) for part in ast.walk(last))
    )

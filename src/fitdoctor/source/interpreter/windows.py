"""Sliding windows: slices of known length at unknown positions."""

from __future__ import annotations

import ast

from fitdoctor.source.data import arrays
from fitdoctor.source.interpreter.interpret import Interpreter
from fitdoctor.source.interpreter.values import UNTOLD, Plain


def window_length(run: Interpreter, node: ast.Slice) -> int | None:
    """Return the length of `i : i + n` or `i - n : i` in a list of windows, which must all be equal to form an array."""
    if node.lower is None or node.upper is None or not _fills_list(run, node):
        return None
    apart = _apart(node.lower, node.upper)
    length = run.evaluate(apart) if apart is not None else UNTOLD
    return arrays.whole(length) if isinstance(length, Plain) else None


def _apart(lower: ast.expr, upper: ast.expr) -> ast.expr | None:
    """Return the difference between `upper` and `lower`, read from their source."""
    if isinstance(upper, ast.BinOp) and isinstance(upper.op, ast.Add):
        if _same(upper.left, lower):
            return upper.right
        if _same(upper.right, lower):
            return upper.left
    if isinstance(lower, ast.BinOp) and isinstance(lower.op, ast.Sub) and _same(lower.left, upper):
        return lower.right
    return None


def _same(one: ast.expr, other: ast.expr) -> bool:
    return ast.dump(one) == ast.dump(other)


def _fills_list(run: Interpreter, node: ast.AST) -> bool:
    """Whether an expression is what a comprehension collects, or is appended to something."""
    module = run.owner(node)
    child, parent = node, module.parent(node)
    while isinstance(parent, (ast.expr, ast.Slice)):
        if isinstance(parent, ast.ListComp):
            return parent.elt is child
        if isinstance(parent, ast.Call):
            return isinstance(parent.func, ast.Attribute) and parent.func.attr == "append"
        child, parent = parent, module.parent(parent)
    return False

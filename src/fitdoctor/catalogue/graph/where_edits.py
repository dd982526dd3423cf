"""Edits that select one of two values in the graph, where a Python `if` was decided during tracing or cannot be."""

from __future__ import annotations

import ast

from fitdoctor.diagnosis import Edit
from fitdoctor.source.module import Module


def selected(
    module: Module, branch: ast.If | ast.IfExp, condition: str, library: str, still: str = ""
) -> tuple[Edit, ...]:
    """Rewrite an `if` that returns or assigns one of two values with `where`.

    Args:
        module: the file.
        branch: the `if` statement or expression.
        condition: its test as a tensor expression.
        library: the file's name for the module with `where`.
        still: the part of the test that Python decides before.

    Returns:
        The edits; none if a branch does more than select a value.
    """
    block = module.block(branch)
    at = block.index(branch) + 1 if isinstance(branch, ast.If) and block else 0
    following = block[at : at + 1]
    before, gone = "", []
    match branch, following:
        case ast.IfExp(body=first, orelse=second), _:
            pass
        case ast.If(body=[ast.Return(ast.expr() as first)], orelse=[ast.Return(ast.expr() as second)]), _:
            before = "return "
        case ast.If(body=[ast.Return(ast.expr() as first)], orelse=[]), [ast.Return(ast.expr() as second)]:
            before, gone = "return ", [Edit(module.location(following[0]).lines, "")]
        case ast.If(body=[ast.Assign([ast.Name() as second], first)], orelse=[]), _:
            before = f"{second.id} = "
        case ast.If(
            body=[ast.Assign([ast.Name(id=name)], first)], orelse=[ast.Assign([ast.Name(id=other)], second)]
        ), _ if name == other:
            before = f"{name} = "
        case _:
            return ()
    text = f"{library}.where({condition}, {module.segment(first)}, {module.segment(second)})"
    if not still:
        return (Edit(module.location(branch), f"{before}{text}"), *gone)
    if isinstance(branch, ast.IfExp) or branch.orelse:
        return ()
    return Edit(module.location(branch.test), still), Edit(module.location(first), text)

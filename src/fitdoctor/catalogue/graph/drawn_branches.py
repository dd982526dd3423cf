"""Edits that let the graph branch on a random number, where a Python `if` was decided once during tracing."""

from __future__ import annotations

import ast

from fitdoctor.diagnosis import Edit
from fitdoctor.source.module import Module


def chosen_by_draw(module: Module, call: ast.Call, drawn: str, tf: str) -> list[Edit] | None:
    """Rewrite `if training and random() < p: return x` with `tf.where`; other conditions stay Python branches.

    Args:
        module: the file.
        call: the random call in the test of an `if`.
        drawn: the same draw as a graph operation.
        tf: the file's name for TensorFlow.

    Returns:
        The edits, or None if the branch does more than select one of two values.
    """
    branch = module.statement(call)
    if not isinstance(branch, ast.If) or len(branch.body) != 1 or branch.orelse:
        return None
    all_of = isinstance(branch.test, ast.BoolOp) and isinstance(branch.test.op, ast.And)
    parts = branch.test.values if isinstance(branch.test, ast.BoolOp) and all_of else [branch.test]
    asked = [part for part in parts if any(node is call for node in ast.walk(part))]
    if len(asked) != 1 or not isinstance(asked[0], ast.Compare):
        return None
    condition = _with(module, asked[0], call, drawn)
    rest = " and ".join(module.segment(part) for part in parts if part is not asked[0])
    first, following = branch.body[0], _following(module, branch)
    if isinstance(first, ast.Return) and isinstance(following, ast.Return):
        if first.value is None or following.value is None:
            return None
        text = f"{tf}.where({condition}, {module.segment(first.value)}, {module.segment(following.value)})"
        if rest:
            return [Edit(module.location(branch.test), rest), Edit(module.location(first.value), text)]
        gone = Edit(module.location(following).lines, "")
        return [Edit(module.location(branch), f"return {text}"), gone]
    target = first.targets[0] if isinstance(first, ast.Assign) and len(first.targets) == 1 else None
    if not isinstance(target, ast.Name) or not isinstance(first, ast.Assign):
        return None
    text = f"{tf}.where({condition}, {module.segment(first.value)}, {target.id})"
    if rest:
        return [Edit(module.location(branch.test), rest), Edit(module.location(first.value), text)]
    return [Edit(module.location(branch), f"{target.id} = {text}")]


def _with(module: Module, whole: ast.expr, part: ast.expr, text: str) -> str:
    start = module.places.span(whole)[0]
    first, last = module.places.span(part)
    said = module.segment(whole)
    return said[: first - start] + text + said[last - start :]


def _following(module: Module, node: ast.stmt) -> ast.stmt | None:
    body = getattr(module.parent(node), "body", [])
    at = body.index(node) + 1 if node in body else len(body)
    return body[at] if at < len(body) else None

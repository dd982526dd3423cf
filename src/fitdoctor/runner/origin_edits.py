"""Repairs at the expression that first made data bad."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from fitdoctor.diagnosis import Applicability, Edit, Finding, Fix
from fitdoctor.records import replace
from fitdoctor.source.module import Module


def fixes_at(finding: Finding, module: Module, node: ast.expr, aspect: str, wanted: Any) -> tuple[Fix, ...]:
    """Return the repairs of a finding that edit the first bad expression.

    Args:
        finding: the finding.
        module: the file of the expression.
        node: the expression.
        aspect: the aspect of the data that is wrong.
        wanted: the aspect as it reached `fit`.
    """
    edits: tuple[Edit, ...] = ()
    if finding.id == "FIT203" and aspect == "range" and wanted[0] == 1:
        edits = tuple(_counted_from_0(module, node))
        title = "count the classes from 0 where the labels are made"
        return (Fix(title, Applicability.SAFE, edits),) if edits else ()
    if aspect == "fractions" and isinstance(node, ast.Call) and len(node.args) == 1 and not node.keywords:
        # Only a user's function is called here; a scaler is the judge's own matter.
        edits = (Edit(module.location(node), module.segment(node.args[0])),)
    first = next(iter(finding.fixes), None)
    return (replace(first, edits=edits),) if edits and first is not None and not first.edits else ()


def _counted_from_0(module: Module, node: ast.expr) -> Iterator[Edit]:
    """Yield the edits that make an expression give class numbers from 0 instead of 1."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add) and _is_one(node.right):
        yield Edit(module.location(node), module.segment(node.left))
        return
    if isinstance(node, ast.Dict):
        yield from _numbered_from_0(module, node)
        return
    counted = [
        edit for call in ast.walk(node) if isinstance(call, ast.Call) for edit in _from_0(module, call)
    ]
    if len(counted) == 1:
        yield from counted


def _from_0(module: Module, call: ast.Call) -> Iterator[Edit]:
    name = getattr(call.func, "id", "")
    start = next((each.value for each in call.keywords if each.arg == "start"), None)
    if name == "enumerate" and call.args and _is_one(start if start is not None else (*call.args, call)[1]):
        yield Edit(module.location(call), f"enumerate({module.segment(call.args[0])})")
    elif name == "range" and len(call.args) == 2 and _is_one(call.args[0]):
        stop = call.args[1]
        count = f"{module.segment(stop)} - 1"
        if isinstance(stop, ast.Constant) and type(stop.value) is int:
            count = str(stop.value - 1)
        elif isinstance(stop, ast.BinOp) and isinstance(stop.op, ast.Add) and _is_one(stop.right):
            count = module.segment(stop.left)
        yield Edit(module.location(call), f"range({count})")


def _numbered_from_0(module: Module, node: ast.Dict) -> Iterator[Edit]:
    """Yield the edits of a dict of the numbers 1, 2, … in any order."""
    numbers = [each.value for each in node.values if isinstance(each, ast.Constant)]
    whole = all(type(each) is int for each in numbers) and len(numbers) == len(node.values)
    if whole and sorted(set(numbers)) == list(range(1, len(set(numbers)) + 1)):  # type: ignore[type-var]
        for each in node.values:
            assert isinstance(each, ast.Constant)
            yield Edit(module.location(each), str(each.value - 1))  # type: ignore[operator]


def _is_one(node: ast.AST | None) -> bool:
    return isinstance(node, ast.Constant) and node.value == 1 and type(node.value) is int

"""Repairs at the expression that first made data bad."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from fitdoctor.diagnosis import Applicability, Edit, Finding, Fix
from fitdoctor.records import replace
from fitdoctor.source.module import Module

_OF_EVERY_USE = ("range", "non-finite", "dtype", "objects")
"""Aspects that one conversion of the values corrects, wherever it is done."""
_PLACEHOLDER = "converted"


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
    if edits:
        return (replace(first, edits=edits),) if first is not None and not first.edits else ()
    if aspect not in _OF_EVERY_USE:
        return ()
    return tuple(moved for fix in finding.fixes if (moved := _moved(fix, module, node)) is not None)


def _moved(fix: Fix, module: Module, node: ast.expr) -> Fix | None:
    """Return a fix that converts an argument of `fit`, converting it where it is made: every later use needs it, too.

    A fix that is safe at the call changes more here; it stays there.
    """
    if fix.applicability is not Applicability.UNSAFE or len(fix.edits) != 1 or module.project is None:
        return None
    edit = fix.edits[0]
    place = edit.location
    owner = module.project.module_at(place.path)
    if owner is None or place.line != place.end_line:
        return None
    argument = owner.line_text(place.line, place.cell)[place.column - 1 : place.end_column - 1]
    before, found, after = edit.replacement.partition(argument)
    if not argument or not found or argument in after or not before + after:
        return None
    try:
        conversion = ast.parse(f"{before}{_PLACEHOLDER}{after}", mode="eval")
    except SyntaxError:
        return None
    names = [each for each in ast.walk(conversion) if isinstance(each, ast.Name) and each.id != _PLACEHOLDER]
    # A name such as `np` must mean the same thing there.
    if any(not owner.resolve(each) or owner.resolve(each) != module.resolve(each) for each in names):
        return None
    text = module.segment(node)
    enclosed = before.endswith("(") and after.startswith((")", ","))
    if not enclosed and not isinstance(node, (ast.Name, ast.Call, ast.Attribute, ast.Subscript)):
        text = f"({text})"
    edits = (Edit(module.location(node), f"{before}{text}{after}"),)
    return replace(fix, title=f"{fix.title}, where the data is created", edits=edits)


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

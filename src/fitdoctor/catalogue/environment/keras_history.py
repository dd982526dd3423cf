"""History keys that older Keras versions used for metrics."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fitdoctor.catalogue import Cause
from fitdoctor.catalogue.environment.keras_renames import OLDER_HISTORY
from fitdoctor.diagnosis import Confidence, Edit, Evidence, Finding
from fitdoctor.edits import fix
from fitdoctor.source.conditions import knows_another_way
from fitdoctor.source.module import Module


def older_keys(module: Module) -> Iterator[ast.Subscript]:
    """Report `history.history["acc"]` if every `compile` uses "accuracy" and none uses "acc"."""
    subscripts = list(_subscripts(module))
    if subscripts and _asks_for_accuracy(module):
        yield from subscripts


def _subscripts(module: Module) -> Iterator[ast.Subscript]:
    for node in module.nodes(ast.Subscript):
        if (
            isinstance(node.slice, ast.Constant)
            and node.slice.value in OLDER_HISTORY
            and isinstance(node.value, ast.Attribute)
            and node.value.attr == "history"
            and not _looks_first(module, node)
        ):
            yield node


def _looks_first(module: Module, node: ast.Subscript) -> bool:
    """Whether the program handles both names: by a `try`, or by asking `"acc" in history.history`."""
    if knows_another_way(module, node):
        return True
    assert isinstance(node.slice, ast.Constant)
    names = (node.slice.value, OLDER_HISTORY[str(node.slice.value)])
    inner: ast.AST = node
    parent = module.parent(node)
    while parent is not None:
        if isinstance(parent, (ast.If, ast.IfExp)) and inner is not parent.test:
            asked = (part.value for part in ast.walk(parent.test) if isinstance(part, ast.Constant))
            if any(word in names for word in asked):
                return True
        inner, parent = parent, module.parent(parent)
    return False


def _asks_for_accuracy(module: Module) -> bool:
    words = [
        constant.value
        for site in module.method_calls("compile")
        for constant in ast.walk(site.argument("metrics", 2) or ast.Tuple([], ast.Load()))
        if isinstance(constant, ast.Constant)
    ]
    return "accuracy" in words and "acc" not in words


def _key_edits(module: Module, node: ast.Subscript) -> list[Edit]:
    """Rename the key here and elsewhere, so that the next line does not fail."""
    edits = []
    for each in dict.fromkeys((node, *_subscripts(module))):
        assert isinstance(each.slice, ast.Constant)
        old = str(each.slice.value)
        text = module.segment(each.slice).replace(old, OLDER_HISTORY[old])
        edits.append(Edit(module.location(each.slice), text))
    return edits


def history_finding(cause: Cause, module: Module, node: ast.Subscript, confidence: Confidence) -> Finding:
    """Return the finding for an old key, with its current name."""
    assert isinstance(node.slice, ast.Constant)
    old = str(node.slice.value)
    return cause.finding(
        f"the history has no key `{old}`; the key is `{OLDER_HISTORY[old]}`",
        subject=f"history key {old}",
        location=module.location(node),
        evidence=[Evidence(claim="history key", observed=old, expected=OLDER_HISTORY[old])],
        fixes=[fix(f"use `{OLDER_HISTORY[old]}`", _key_edits(module, node))],
        confidence=confidence,
    )

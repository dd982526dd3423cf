"""Shortcuts in custom layers that differ from the main branch in their number of features."""

from __future__ import annotations

import ast

from fitdoctor.diagnosis import Edit, Fix, Location
from fitdoctor.edits import insert_after, unsafe
from fitdoctor.facts import Shape
from fitdoctor.source.module import FunctionInfo, Module

_SUMS = ("tensorflow.add", "keras.layers.add", "keras.ops.add")


def shortcut_fixes(function: FunctionInfo, place: Location, shapes: tuple[Shape, ...]) -> list[Fix]:
    """Add `self.shortcut = Conv2D(filters, 1)` to `__init__`, and turn `x + y` into `self.shortcut(x) + y`."""
    if len(shapes) != 2 or len(shapes[0]) != len(shapes[1]) or len(shapes[0]) not in (2, 3, 4):
        return []
    (first, second), owner = shapes, function.owner
    # Open sizes count as equal.
    if first[1:-1] != second[1:-1] or first[-1] == second[-1] or owner is None:
        return []
    setup = owner.methods.get("__init__")
    if setup is None or not isinstance(setup.node, ast.FunctionDef) or "shortcut" in owner.module.text:
        return []
    module = function.module
    for shortcut, branch in _summed(module, function, place):
        made = _last_layer(module, function, setup, branch)
        if made is None:
            continue
        kind = module.resolve(made.func).rpartition(".")[2]
        width = made.args[0] if made.args else made.keywords[0].value
        rest = "" if kind == "Dense" else ", 1"
        line = f"self.shortcut = {module.segment(made.func)}({module.segment(width)}{rest})"
        edits = (
            *insert_after(module.code(setup.node.body[-1]), line),
            Edit(module.location(shortcut), f"self.shortcut({module.segment(shortcut)})"),
        )
        return [unsafe(f"project the shortcut to the same number of features with its own `{kind}`", edits)]
    return []


def _summed(module: Module, function: FunctionInfo, place: Location) -> list[tuple[ast.Name, ast.expr]]:
    """Return the input of `call` and the expression that it is added to, in either order."""
    found: list[tuple[ast.Name, ast.expr]] = []
    for node in ast.walk(function.node):
        if not isinstance(node, (ast.BinOp, ast.Call)) or module.location(node).line != place.line:
            continue
        pair: list[ast.expr] = []
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            pair = [node.left, node.right]
        elif isinstance(node, ast.Call):
            given = node.args[0].elts if node.args and isinstance(node.args[0], ast.List) else node.args
            pair = list(given) if module.resolve(node.func) in _SUMS and len(given) == 2 else []
        for one, other in (pair, pair[::-1]) if pair else ():
            if isinstance(one, ast.Name) and one.id == (function.parameters[1:] or [""])[0]:
                found.append((one, other))
    return found


def _last_layer(
    module: Module, function: FunctionInfo, setup: FunctionInfo, branch: ast.expr
) -> ast.Call | None:
    """Return the convolution or Dense, created in `__init__`, that sets the main branch's number of features."""
    for _ in range(4):
        made = module.made_by(branch)
        if not isinstance(made, ast.Call) or not isinstance(made.func, ast.Attribute):
            return None
        layer = next(
            (
                node.value
                for node in ast.walk(setup.node)
                if isinstance(node, ast.Assign)
                and module.segment(node.targets[0]) == module.segment(made.func)
                and isinstance(node.value, ast.Call)
            ),
            None,
        )
        if layer is None:
            return None
        name = module.resolve(layer.func).rpartition(".")[2]
        if name in ("Conv1D", "Conv2D", "Dense") and (layer.args or layer.keywords):
            return layer
        # Normalization and activation layers keep the number of features.
        if name not in ("BatchNormalization", "LayerNormalization", "ReLU", "Activation", "Dropout"):
            return None
        if not made.args:
            return None
        branch = made.args[0]
    return None

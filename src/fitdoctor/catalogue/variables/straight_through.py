"""The straight-through estimator: keep the value of an operation without a gradient, and pass gradients around it."""

from __future__ import annotations

import ast

from fitdoctor.diagnosis import Edit
from fitdoctor.edits import insert_before, spell
from fitdoctor.source.module import Module
from fitdoctor.source.traced.gradients import Cut

_SAME_SHAPE = frozenset({"round", "rint", "floor", "ceil", "sign"})
"""Operations that keep the shape of their input."""


def passed_straight_through(cut: Cut) -> tuple[Edit, ...]:
    """Rewrite `tf.round(soft)` as `soft + tf.stop_gradient(tf.round(soft) - soft)`, if the shape stays the same."""
    module = cut.module
    found = _hard_and_soft(module, cut.node)
    if found is None:
        return ()
    hard, soft = found
    code = module.code(hard)
    tf, imports = spell(code, "tensorflow", "tf")
    text, inner = module.segment(hard), module.segment(soft)
    name, first = inner, tuple[Edit, ...]()
    if not isinstance(soft, ast.Name):
        taken = any(each.id == "soft" for each in module.nodes(ast.Name))
        if taken or module.function_of(hard) is None or isinstance(_around(module, hard), ast.Lambda):
            return ()
        name, first = "soft", insert_before(code, f"soft = {inner}")
        start = module.places.span(soft)[0] - module.places.span(hard)[0]
        text = f"{text[:start]}soft{text[start + len(inner) :]}"
    passed = f"{name} + {tf}.stop_gradient({text} - {name})"
    if not isinstance(module.parent(hard), (ast.Return, ast.Assign, ast.Lambda)):
        passed = f"({passed})"
    return (*first, Edit(code.location, passed), *imports)


def _hard_and_soft(module: Module, node: ast.expr) -> tuple[ast.expr, ast.expr] | None:
    """Return the operation without a gradient and its input: a rounding, or a comparison cast to float."""
    if isinstance(node, ast.Call) and len(node.args) == 1 and not node.keywords:
        last = module.resolve(node.func).rpartition(".")[2]
        return (node, node.args[0]) if last in _SAME_SHAPE else None
    around = module.parent(node)
    if isinstance(node, ast.Compare) and isinstance(around, ast.Call) and len(around.args) == 2:
        cast = module.resolve(around.func).rpartition(".")[2] == "cast"
        if cast and "float" in module.segment(around.args[1]):
            return around, node.left
    return None


def _around(module: Module, node: ast.AST) -> ast.AST | None:
    """Return the function that contains a node."""
    function = module.function_of(node)
    return function.node if function is not None else None

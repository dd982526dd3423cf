"""The straight-through estimator: keep the value of an operation without a gradient, and pass gradients around it."""

from __future__ import annotations

import ast

from fitdoctor.diagnosis import Edit
from fitdoctor.edits import insert_before, spell
from fitdoctor.source.callees import returned_by
from fitdoctor.source.module import Module
from fitdoctor.source.traced.gradients import Cut


def around_a_choice(cut: Cut) -> tuple[Edit, ...]:
    """Let gradients pass around a layer that chooses vectors with `argmin` or `argmax`, at what its `call` returns."""
    module, function = cut.module, cut.module.function_of(cut.node)
    layer = function.owner if function is not None else None
    if function is None or layer is None or layer.kind != "Layer" or cut.what.strip("`")[-6:-3] != "arg":
        return ()
    chosen, parameters = returned_by(function), function.parameters[1:2]
    if not isinstance(chosen, ast.Name) or not parameters or "gather" not in module.segment(function.node):
        return ()
    tf, imports = spell(module.code(chosen), "tensorflow", "tf")
    x = parameters[0]
    return (Edit(module.location(chosen), f"{x} + {tf}.stop_gradient({chosen.id} - {x})"), *imports)


_SAME_SHAPE = frozenset({"round", "rint", "floor", "ceil", "sign"})
"""Operations that keep the shape of their input."""
_PRIMARY = (ast.Name, ast.Attribute, ast.Subscript, ast.Call)


def passed_straight_through(cut: Cut) -> tuple[Edit, ...]:
    """Rewrite `tf.round(soft)` as `soft + tf.stop_gradient(tf.round(soft) - soft)`, if the shape stays the same.

    A `tf.stop_gradient` of the user's own is removed.
    """
    module = cut.module
    if isinstance(cut.node, ast.Call) and module.called(cut.node) == "tensorflow.stop_gradient":
        return without_stop(module, cut.node)
    found = _hard_and_soft(module, cut.node)
    if found is None:
        return ()
    hard, soft = found
    code, name, first = module.code(hard), module.segment(soft), tuple[Edit, ...]()
    tf, imports = spell(code, "tensorflow", "tf")
    if not isinstance(soft, ast.Name):
        function, taken = module.function_of(hard), any(each.id == "soft" for each in module.nodes(ast.Name))
        if taken or function is None or isinstance(function.node, ast.Lambda):
            return ()
        name, first = "soft", insert_before(code, f"soft = {name}")
    passed = f"{name} + {tf}.stop_gradient({module.rewritten(hard, (soft, name))} - {name})"
    if not isinstance(module.parent(hard), (ast.Return, ast.Assign, ast.Lambda)):
        passed = f"({passed})"
    return (*first, Edit(code.location, passed), *imports)


def without_stop(module: Module, call: ast.Call) -> tuple[Edit, ...]:
    """Return the edit that removes `tf.stop_gradient`."""
    if len(call.args) != 1 or call.keywords:
        return ()
    code, inner = module.code(call), module.segment(call.args[0])
    if code.target == inner and code.statement is not None and isinstance(module.parent(call), ast.Assign):
        return (Edit(code.statement.lines, ""),)  # this would leave `z = z`
    return (Edit(code.location, inner if isinstance(call.args[0], _PRIMARY) else f"({inner})"),)


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

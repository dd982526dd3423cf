"""The straight-through estimator: keep the value of an operation without a gradient, and pass gradients around it."""

from __future__ import annotations

import ast

from fitdoctor.diagnosis import Edit
from fitdoctor.edits import insert_before, spell
from fitdoctor.source.callees import returned_by
from fitdoctor.source.definitions import argument_of
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
        return _one_hot_passed(module, cut.node)
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


def _one_hot_passed(module: Module, node: ast.expr) -> tuple[Edit, ...]:
    """Let gradients pass around `tf.one_hot(tf.argmax(scores, axis=-1), n)` through the softmax of the scores."""
    if not isinstance(node, ast.Call) or module.resolve(node.func).rpartition(".")[2] != "argmax":
        return ()
    use: ast.expr = node
    holder, function = module.parent(node), module.function_of(node)
    if isinstance(holder, ast.Assign) and isinstance(holder.targets[0], ast.Name):
        reads = [
            each
            for each in module.reads.get(holder.targets[0].id, ())
            if module.function_of(each) is function
        ]
        use, holder = (reads[0], module.parent(reads[0])) if len(reads) == 1 else (node, None)
    axis = argument_of(node, "axis", 1)
    last = axis is not None and module.segment(axis) == "-1"
    taken = any(each.id == "soft" for each in module.nodes(ast.Name))
    if not isinstance(holder, ast.Call) or not node.args or not last or taken or function is None:
        return ()
    if module.resolve(holder.func).rpartition(".")[2] != "one_hot" or holder.args[:1] != [use]:
        return ()
    code = module.code(holder)
    tf, imports = spell(code, "tensorflow", "tf")
    soft = insert_before(code, f"soft = {tf}.nn.softmax({module.segment(node.args[0])}, axis=-1)")
    passed = f"soft + {tf}.stop_gradient({code.text} - soft)"
    if not isinstance(module.parent(holder), (ast.Return, ast.Assign)):
        passed = f"({passed})"
    return (*soft, Edit(code.location, passed), *imports)


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

"""`x[i] = value` on a tensor: where it occurs, and what to write instead."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fitdoctor.catalogue.graph.traced import is_symbolic, own_nodes
from fitdoctor.diagnosis import Edit, Fix
from fitdoctor.edits import fix
from fitdoctor.source.module import FunctionInfo, Module

_ADVICE = (
    "create a new tensor with `tf.where(mask, value, x)`, `tf.tensor_scatter_nd_update` or `keras.ops.slice_update`, "
    "or collect the parts in a list and join them with `tf.stack`"
)


def written_tensors(module: Module, function: FunctionInfo) -> Iterator[ast.Assign | ast.AugAssign]:
    """Return the statements in traced code that write to what is certainly a tensor."""
    parameters = set(function.parameters)
    for node in own_nodes(function):
        target = written_target(node)
        if target is None or not isinstance(target.value, ast.Name) or not is_symbolic(module, target.value):
            continue
        if isinstance(target.slice, ast.Constant) and isinstance(target.slice.value, str):
            continue  # certainly a dict
        # The inputs of a layer may be a list or dict, which is mutable.
        whole = isinstance(target.slice, (ast.Compare, ast.Slice, ast.Tuple))
        if target.value.id not in parameters or whole:
            assert isinstance(node, (ast.Assign, ast.AugAssign))
            yield node


def written_target(node: ast.AST) -> ast.Subscript | None:
    """Return the `x[i]` that a statement writes to."""
    if isinstance(node, ast.Assign) and len(node.targets) == 1:
        target = node.targets[0]
    elif isinstance(node, ast.AugAssign):
        target = node.target
    else:
        return None
    return target if isinstance(target, ast.Subscript) else None


def as_new_tensor(module: Module, node: ast.AST) -> list[Fix]:
    """Rewrite `x[x < 0] = 0.0` as `x = tf.where(x < 0, 0.0, x)`; for other indices, explain how."""
    target = written_target(node)
    if (
        not isinstance(node, ast.Assign)
        or target is None
        or not isinstance(target.slice, ast.Compare)
        or not isinstance(target.value, ast.Name)
        or not isinstance(node.value, ast.Constant)
    ):
        return [fix(_ADVICE)]
    known = dict(module.spellings)
    if "tensorflow" in known:
        where = f"{known['tensorflow']}.where"
    elif "keras.ops" in known or "keras" in known:
        where = f"{known.get('keras.ops') or known['keras'] + '.ops'}.where"
    else:
        return [fix(_ADVICE)]
    name, mask, value = (module.segment(part) for part in (target.value, target.slice, node.value))
    text = f"{name} = {where}({mask}, {value}, {name})"
    return [fix(f"create a new tensor: `{text}`", (Edit(module.location(node), text),)), fix(_ADVICE)]

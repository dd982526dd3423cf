"""Tensors that a tape differentiates with respect to: not variables, watched, or meant to be variables."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fitdoctor.source.module import Module
from fitdoctor.source.traced.tensor_calls import MAKES_VARIABLE

_NO_VARIABLE = tuple(
    f"tensorflow.{name}"
    for name in (
        "random.", "zeros", "ones", "constant", "cast", "reshape", "linspace", "range", "convert_to_tensor", "concat",
        "stack", "expand_dims", "squeeze", "transpose", "tile", "gather", "one_hot", "math.", "image.", "identity",
    )
)  # fmt: skip


def sources_of(call: ast.Call) -> Iterator[ast.Name]:
    """Return the names of the gradient sources: `tape.gradient(y, x)`, `tape.gradient(y, [x, t])`."""
    given = call.args[1] if len(call.args) > 1 else None
    for keyword in call.keywords:
        if keyword.arg == "sources":
            given = keyword.value
    for value in given.elts if isinstance(given, (ast.List, ast.Tuple)) else [given]:
        if isinstance(value, ast.Name):
            yield value


def is_plain_tensor(module: Module, name: ast.Name) -> bool:
    """Return whether a name is certainly not a variable, because arithmetic or an operation computed it."""
    made = module.made_by(name)
    if isinstance(made, ast.BinOp):
        return _is_arithmetic(made)
    return isinstance(made, ast.Call) and module.resolve(made.func).startswith(_NO_VARIABLE)


def _is_arithmetic(made: ast.BinOp) -> bool:
    """Return whether `a + b` computes with tensors; lists of variables are concatenated the same way."""
    if not isinstance(made.op, ast.Add):
        return True
    return any(
        isinstance(side, ast.BinOp) and _is_arithmetic(side) or isinstance(side, ast.Constant)
        for side in (made.left, made.right)
    )


def is_watched(block: ast.With, tape: str, name: str) -> bool:
    """Return whether a tape watches a name, or its block computes it and so records it."""
    return any(
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "watch"
        and isinstance(node.func.value, ast.Name)
        and node.func.value.id == tape
        and any(isinstance(inner, ast.Name) and inner.id == name for inner in ast.walk(node))
        for node in ast.walk(block)
    ) or any(
        isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Store)
        for node in ast.walk(block)
    )


def changed_like_a_variable(module: Module, name: ast.Name) -> bool:
    """Return whether the function passes a name to an optimizer or assigns to it, so that it must be a variable."""
    here = module.function_of(name)
    assigned = module.method_calls("assign", "assign_add", "assign_sub")
    if any(site.function is here and _receiver(site.node) == name.id for site in assigned):
        return True
    return any(
        site.function is here
        and any(
            isinstance(inner, ast.Name) and inner.id == name.id
            for argument in site.node.args
            for inner in ast.walk(argument)
        )
        for site in module.method_calls("apply_gradients")
    )


def _receiver(call: ast.Call) -> str:
    value = call.func.value if isinstance(call.func, ast.Attribute) else None
    return value.id if isinstance(value, ast.Name) else ""


def variables_asked_about(module: Module, calls: list[ast.Call]) -> frozenset[str]:
    """Return the variables among the gradient sources: `tape.gradient(loss, [w, b])`."""
    asked = [module.made_by(call.args[1]) for call in calls if len(call.args) > 1]
    return frozenset(
        module.segment(node)
        for value in [*asked, *(call.args[1] for call in calls if len(call.args) > 1)]
        for node in (value.elts if isinstance(value, (ast.List, ast.Tuple)) else [value])
        if isinstance(node, (ast.Name, ast.Attribute)) and _is_variable(module, node)
    )


def _is_variable(module: Module, node: ast.expr) -> bool:
    made = module.made_by(node)
    return isinstance(made, ast.Call) and module.resolve(made.func) in MAKES_VARIABLE


def is_parameter(module: Module, name: ast.Name) -> bool:
    """Return whether a name is a parameter of its function."""
    function = module.function_of(name)
    return function is not None and name.id in function.parameters

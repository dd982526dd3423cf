"""Layer attributes that a callback sets although the traced step has already read them."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fitdoctor.diagnosis import Fix
from fitdoctor.edits import fix, insert_after
from fitdoctor.source.module import FunctionInfo, Module

_NUMBERS = frozenset(
    "rate alpha negative_slope stddev momentum epsilon dropout recurrent_dropout factor scale".split()
)
"""Python numbers in Dropout, LeakyReLU, GaussianNoise, BatchNormalization, recurrent layers and others."""
_RETRACING = frozenset(("compile", "make_train_function"))
_BEFORE_TRAINING = frozenset(("__init__", "set_model", "set_params", "on_train_begin"))


def numbers_set_by_callbacks(module: Module) -> Iterator[tuple[ast.Attribute, FunctionInfo]]:
    """Yield each `self.model.get_layer(…).rate = …` in a callback that does not retrace the step."""
    for node in module.nodes(ast.Attribute):
        if not isinstance(node.ctx, ast.Store) or node.attr not in _NUMBERS:
            continue
        function = module.function_of(node)
        owner = function.owner if function is not None else None
        if function is None or owner is None or owner.kind != "Callback" or function.name in _BEFORE_TRAINING:
            continue
        if _is_layer_of_model(module, node.value) and not _traces_again(function):
            yield node, function


def traced_anew(function: FunctionInfo, change: ast.AST) -> Iterator[Fix]:
    """Retrace the step after a callback's change, at most once per epoch."""
    module, node = function.module, function.node
    if not function.name.startswith("on_epoch") or not isinstance(node, ast.FunctionDef):
        return
    statement: ast.AST = module.statement(change)
    # After the loop over the layers, but under the condition of the change.
    while isinstance(parent := module.parent(statement), (ast.For, ast.While)) or (
        isinstance(parent, ast.If) and isinstance(module.parent(parent), (ast.For, ast.While))
    ):
        statement = parent
    line = "self.model.make_train_function(force=True)"
    yield fix(f"retrace the step after the change: `{line}`", insert_after(module.code(statement), line))


def _is_layer_of_model(module: Module, expr: ast.expr) -> bool:
    """Whether an expression is `model.get_layer(…)`, `model.layers[…]`, or a name for one of these."""
    made = module.made_by(expr) if isinstance(expr, ast.Name) else expr
    if isinstance(made, ast.Call) and isinstance(made.func, ast.Attribute):
        return made.func.attr == "get_layer" and _is_model(made.func.value)
    # A loop variable stands for the elements of the loop's iterable.
    layers = made.value if isinstance(made, ast.Subscript) else made
    return isinstance(layers, ast.Attribute) and layers.attr == "layers" and _is_model(layers.value)


def _is_model(expr: ast.expr) -> bool:
    """Whether an expression is `self.model` or `model`, as callbacks name the model."""
    name = expr.attr if isinstance(expr, ast.Attribute) else expr.id if isinstance(expr, ast.Name) else ""
    return name == "model"


def _traces_again(function: FunctionInfo) -> bool:
    return any(
        isinstance(node, ast.Attribute)
        and node.attr in _RETRACING
        or isinstance(node, ast.Constant)
        and node.value == "train_function"
        or isinstance(node, ast.Attribute)
        and node.attr == "train_function"
        for node in ast.walk(function.node)
    )

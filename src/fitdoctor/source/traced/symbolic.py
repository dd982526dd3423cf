"""Traced code in the source: which functions run while TensorFlow traces, and what is symbolic there."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fitdoctor.diagnosis import Evidence
from fitdoctor.source.index import FUNCTIONS, children
from fitdoctor.source.module import FunctionInfo, Module

_TRACED_BY = {
    "call": "Keras",
    "train_step": "Keras",
    "test_step": "Keras",
    "predict_step": "Keras",
    "loss": "Keras",
    "metric": "Keras",
    "lambda layer": "Keras",
    "tf.function": "`tf.function`",
    "map": "tf.data",
}


def traced_functions(module: Module) -> Iterator[FunctionInfo]:
    """Return the functions of a file that run during tracing; none if the program runs eagerly."""
    for function in module.traced:
        if function.runs_traced:
            yield function


def own_nodes(function: FunctionInfo) -> Iterator[ast.AST]:
    """Return the nodes of a function's own body in source order, without nested functions and classes."""
    node = function.node
    waiting: list[ast.AST] = [node.body] if isinstance(node, ast.Lambda) else list(reversed(node.body))
    while waiting:
        current = waiting.pop()
        yield current
        if isinstance(current, (*FUNCTIONS, ast.ClassDef)):
            continue
        waiting += reversed(children(current))


def holds_symbolic(module: Module, expr: ast.expr) -> bool:
    """Return whether an expression in traced code is certainly a tensor or a structure that contains one."""
    info = module.function_of(expr)
    if info is None or not info.runs_traced:
        return False
    from fitdoctor.source.traced.tensor_values import NOTHING, holds_tensor

    return holds_tensor(module.flow(info.node).values.get(expr, NOTHING))


def holds_written(module: Module, argument: ast.expr) -> bool:
    """Return whether a list literal or comprehension contains tensors."""
    if isinstance(argument, (ast.List, ast.Tuple)):
        return any(is_symbolic(module, element) for element in argument.elts)
    if isinstance(argument, (ast.ListComp, ast.GeneratorExp)):
        return is_symbolic(module, argument.elt)
    return False


def is_symbolic(module: Module, expr: ast.expr) -> bool:
    """Return whether an expression is a symbolic tensor, if only a tensor can be used like this."""
    return module.is_tensor(expr)


def is_one_tensor(module: Module, expr: ast.expr) -> bool:
    """Return whether an expression is certainly a symbolic tensor, and not a list of them or a Python value."""
    return module.is_tensor(expr, alone=True)


def is_variable(module: Module, expr: ast.expr) -> bool:
    """Return whether an expression in traced code is certainly a variable."""
    info = module.function_of(expr)
    if info is None or not info.runs_traced:
        return False
    value = module.flow(info.node).values.get(expr)
    return value is not None and value.kind == "variable"


def name_of(function: FunctionInfo) -> str:
    """Return the name of a function in reports: `Encoder.call`, `rmsle`, `the lambda`."""
    return "the lambda" if isinstance(function.node, ast.Lambda) else f"`{_without_locals(function)}`"


def _without_locals(function: FunctionInfo) -> str:
    parts = function.qualname.split(".")
    return ".".join(parts[-2:]) if function.owner is not None else parts[-1]


def traced_evidence(function: FunctionInfo) -> Evidence:
    """Return evidence of what traces a function."""
    tracing = function.traced
    if tracing is None:
        return Evidence(f"{name_of(function)} runs while TensorFlow traces a graph")
    by = _TRACED_BY.get(tracing.how, "TensorFlow")
    within = "," if tracing.direct else ", which traced code calls,"
    return Evidence(
        f"{by} traces {name_of(function)}{within} so its tensors are symbolic and have no values yet",
        location=tracing.because,
    )

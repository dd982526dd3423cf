"""Whether a test such as `if keras.backend.backend() == "torch":` holds where Keras runs on TensorFlow."""

from __future__ import annotations

import ast

from fitdoctor.source.module import Module

_ASKS_BACKEND = ("keras.backend.backend", "keras.config.backend")


def holds_on_tensorflow(module: Module, test: ast.expr) -> bool | None:
    """What a test for a backend gives on TensorFlow; None where it asks for something else."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        holds = holds_on_tensorflow(module, test.operand)
        return None if holds is None else not holds
    if isinstance(test, ast.BoolOp):
        deciding = isinstance(test.op, ast.Or)
        operands = [holds_on_tensorflow(module, operand) for operand in test.values]
        if deciding in operands:
            return deciding
        return None if None in operands else not deciding
    if not isinstance(test, ast.Compare) or len(test.ops) != 1 or not _asks_backend(module, test.left):
        return None
    named = _texts(test.comparators[0])
    if named is None:
        return None
    match test.ops[0]:
        case ast.Eq() | ast.In():
            return "tensorflow" in named
        case ast.NotEq() | ast.NotIn():
            return "tensorflow" not in named
    return None


def _asks_backend(module: Module, node: ast.expr) -> bool:
    return module.called(node) in _ASKS_BACKEND


def _texts(node: ast.expr) -> list[str] | None:
    """The texts that are written there, one or several."""
    each = node.elts if isinstance(node, (ast.Tuple, ast.List, ast.Set)) else [node]
    texts = [part.value for part in each if isinstance(part, ast.Constant) and isinstance(part.value, str)]
    return texts if len(texts) == len(each) else None

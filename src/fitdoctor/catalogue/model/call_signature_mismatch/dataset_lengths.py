"""`__len__` methods of PyDatasets that return a float."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fitdoctor.source.module import FunctionInfo, Module
from fitdoctor.source.traced.symbolic import own_nodes

_FLOATS = ("numpy.ceil", "numpy.floor", "numpy.round", "numpy.divide", "float", "tensorflow.math.ceil")


def broken_lengths(module: Module) -> Iterator[tuple[FunctionInfo, ast.expr]]:
    """Yield each `PyDataset.__len__` that returns a float, with the returned expression."""
    for info in module.classes:
        length = info.methods.get("__len__") if info.kind == "PyDataset" else None
        for node in own_nodes(length) if length is not None else ():
            if isinstance(node, ast.Return) and node.value is not None and length is not None:
                if _is_float(module, node.value):
                    yield length, node.value


def _is_float(module: Module, node: ast.expr) -> bool:
    node = module.made_by(node)
    if isinstance(node, ast.BinOp):
        if isinstance(node.op, ast.Div):
            return True
        arithmetic = isinstance(node.op, (ast.Add, ast.Sub, ast.Mult))
        return arithmetic and (_is_float(module, node.left) or _is_float(module, node.right))
    return isinstance(node, ast.Call) and module.resolve(node.func) in _FLOATS

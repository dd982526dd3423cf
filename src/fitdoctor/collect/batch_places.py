"""Find where the source assembles the batches of a live generator, PyDataset or DataLoader."""

from __future__ import annotations

import ast
from types import CodeType
from typing import Any

from fitdoctor.collect.sites import module_with
from fitdoctor.failure.frames import is_library
from fitdoctor.source.module import Module
from fitdoctor.source.yielded_values import only_value


def batch_expression(thing: Any) -> tuple[Module, ast.expr] | None:
    """Return the only expression that a generator, function, `__getitem__` or `__iter__` yields or returns."""
    code = _code(thing)
    if code is None:
        return None
    module, starts = module_with(code)
    if module is None:
        return None
    for node in module.nodes(ast.FunctionDef):
        first = min((decorator.lineno for decorator in node.decorator_list), default=node.lineno)
        if node.name == code.co_name and starts in (first, node.lineno):
            value = only_value(module, node)
            return None if value is None else (module, value)
    return None


def _code(thing: Any) -> CodeType | None:
    kind = type(thing)
    functions = (thing, getattr(kind, "__getitem__", None), getattr(kind, "__iter__", None))
    for code in (getattr(thing, "gi_code", None), *(getattr(each, "__code__", None) for each in functions)):
        if isinstance(code, CodeType) and not is_library(code.co_filename):
            return code
    return None

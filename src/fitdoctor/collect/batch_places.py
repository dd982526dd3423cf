"""Where, in the source, the batches of a living generator or PyDataset are put together."""

from __future__ import annotations

import ast
from typing import Any

from fitdoctor.collect.sites import module_with
from fitdoctor.failure.frames import is_library
from fitdoctor.source.module import Module


def batch_expression(thing: Any) -> tuple[Module, ast.expr] | None:
    """What a generator, or the `__getitem__` of a PyDataset, gives out: its only `yield` or `return`."""
    is_generator = hasattr(thing, "gi_code")
    code = (
        thing.gi_code
        if is_generator
        else getattr(getattr(type(thing), "__getitem__", None), "__code__", None)
    )
    if code is None or is_library(code.co_filename):
        return None
    module, starts = module_with(code)
    if module is None:
        return None
    for node in module.nodes(ast.FunctionDef):
        first = min((decorator.lineno for decorator in node.decorator_list), default=node.lineno)
        if node.name == code.co_name and starts in (first, node.lineno):
            return _only_value(module, node, ast.Yield if is_generator else ast.Return)
    return None


def _only_value(
    module: Module, function: ast.FunctionDef, kind: type[ast.Yield] | type[ast.Return]
) -> tuple[Module, ast.expr] | None:
    values = []
    for each in ast.walk(function):
        owner = module.function_of(each) if isinstance(each, kind) else None
        if owner is not None and owner.node is function and isinstance(each, kind) and each.value is not None:
            values.append(each.value)
    return (module, values[0]) if len(values) == 1 else None

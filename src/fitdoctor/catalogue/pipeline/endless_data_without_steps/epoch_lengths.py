"""The number of batches in one pass over a generator's data, as an expression of the program."""

from __future__ import annotations

import ast
import re

from fitdoctor.catalogue.knowledge.data.generator_sources import expression_of, generator_function, own_nodes
from fitdoctor.facts import DataFacts, FitFacts, Unknown
from fitdoctor.source.callees import argument_for
from fitdoctor.source.module import FunctionInfo, Module
from fitdoctor.source.project import Project

_SIZE = re.compile(r"batch|^bs$|size", re.IGNORECASE)


def epoch_length(project: Project | Unknown, fit: FitFacts, data: DataFacts) -> str:
    """Return `len(images) // 32`, based on the arguments of the generator call, or "" if unknown."""
    found = expression_of(project, data.code)
    if found is None or not isinstance(found[1], ast.Call) or isinstance(fit.code, Unknown):
        return ""
    module, call = found[0], found[1]
    code = module.code(call)
    if code.location.path != fit.code.location.path or code.function not in ("", fit.code.function):
        return ""  # these names are not those at the `fit` call
    function = generator_function(module, call.func)
    if function is None:
        return ""
    rows = next((text for name in _measured(function) if (text := _given(module, function, call, name))), "")
    sizes = [name for name in function.parameters if _SIZE.search(name)]
    size = _given(module, function, call, sizes[0]) if len(sizes) == 1 else ""
    size = size or (str(data.batch_size) if isinstance(data.batch_size, int) else "")
    return f"len({rows}) // {size}" if rows and size and not rows.isdigit() else ""


def _measured(function: FunctionInfo) -> list[str]:
    """Return the parameters whose rows are counted: `len(x)`, `x.shape[0]`."""
    found = []
    for node in own_nodes(function):
        counted: ast.expr | None = None
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id == "len"
            and node.args
        ):
            counted = node.args[0]
        elif isinstance(node, ast.Subscript) and isinstance(node.value, ast.Attribute):
            first = isinstance(node.slice, ast.Constant) and node.slice.value == 0
            counted = node.value.value if first and node.value.attr == "shape" else None
        if isinstance(counted, ast.Name) and counted.id in function.parameters:
            found.append(counted.id)
    return sorted(set(found), key=function.parameters.index)


def _given(module: Module, function: FunctionInfo, call: ast.Call, name: str) -> str:
    """Return the value of a parameter: a name or number at the call, otherwise its default number."""
    value = argument_for(function, call, name)
    if value is not None:
        return module.segment(value) if isinstance(value, (ast.Name, ast.Attribute, ast.Constant)) else ""
    arguments = function.node.args
    names = [argument.arg for argument in (*arguments.posonlyargs, *arguments.args)]
    defaults = dict(zip(reversed(names), reversed(arguments.defaults), strict=False))
    default = defaults.get(name)
    return function.module.segment(default) if isinstance(default, ast.Constant) else ""

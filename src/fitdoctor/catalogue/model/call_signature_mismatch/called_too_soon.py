"""`metrics=[r2()]`: a custom loss or metric that is called instead of passed."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fitdoctor.catalogue import Cause
from fitdoctor.diagnosis import Confidence, Edit, Evidence, Finding
from fitdoctor.edits import fix
from fitdoctor.source.definitions import argument_of
from fitdoctor.source.module import FunctionInfo, Module

_GIVEN = (("loss", 1), ("metrics", 2), ("weighted_metrics", None))


def called_too_soon(cause: Cause, module: Module, confidence: Confidence) -> Iterator[Finding]:
    """Report functions of labels and predictions that are called, without either, in `compile`."""
    for site in module.method_calls("compile"):
        for name, position in _GIVEN:
            given = argument_of(site.node, name, position)
            for call in _calls_in(given):
                function = module.definition(call.func)
                if isinstance(function, FunctionInfo) and _wants_two(function):
                    yield _finding(cause, module, call, function, confidence)


def _calls_in(given: ast.expr | None) -> list[ast.Call]:
    """Return the calls without arguments among the values passed: one, or those in a list or dict."""
    parts: list[ast.expr | None] = [given]
    if isinstance(given, (ast.List, ast.Tuple)):
        parts = list(given.elts)
    elif isinstance(given, ast.Dict):
        parts = list(given.values)
    return [part for part in parts if isinstance(part, ast.Call) and not part.args and not part.keywords]


def _wants_two(function: FunctionInfo) -> bool:
    node = function.node
    if not isinstance(node, ast.FunctionDef) or node.decorator_list or function.is_method:
        return False
    given = node.args
    return len(given.args) - len(given.defaults) == 2 and not given.kwonlyargs and not given.posonlyargs


def _finding(
    cause: Cause, module: Module, call: ast.Call, function: FunctionInfo, confidence: Confidence
) -> Finding:
    name = module.segment(call.func)
    return cause.finding(
        f"`{name}()` is called without arguments: Keras calls it with labels and predictions",
        module.location(call),
        Evidence(
            "arguments",
            "()",
            f"({', '.join(function.parameters)})",
            location=function.module.location(function.node),
        ),
        fix(f"pass the function itself: `{name}`", (Edit(module.location(call), name),)),
        subject=f"function {name}",
        confidence=confidence,
    )

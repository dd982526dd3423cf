"""Custom learning rate schedules that pass the integer step to a float operation."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fitdoctor.source.module import FunctionInfo, Module
from fitdoctor.source.traced.symbolic import own_nodes

_SCHEDULE = "keras.optimizers.schedules.LearningRateSchedule"
_ON_FLOATS = frozenset("sqrt rsqrt exp log log1p sin cos tan tanh sigmoid reciprocal".split())


def steps_as_floats(module: Module) -> Iterator[tuple[FunctionInfo, ast.Call, str]]:
    """Yield the first such call of each schedule with its parameter; the step is int64 in Keras 3."""
    for owner in module.classes if module.keras == 3 else ():
        function = owner.methods.get("__call__")
        if function is None or _SCHEDULE not in owner.bases or len(function.parameters) < 2:
            continue
        step = function.parameters[1]
        if len(module.index.scopes[function.node].bindings.get(step, ())) != 1:  # cast first
            continue
        for node in own_nodes(function):
            if isinstance(node, ast.Call) and _takes_floats(module, node) and _is_named(node.args, step):
                yield function, node, step
                break


def _takes_floats(module: Module, call: ast.Call) -> bool:
    home, _, last = module.resolve(call.func).rpartition(".")
    return home in ("tensorflow", "tensorflow.math") and last in _ON_FLOATS


def _is_named(arguments: list[ast.expr], name: str) -> bool:
    return len(arguments) == 1 and isinstance(arguments[0], ast.Name) and arguments[0].id == name

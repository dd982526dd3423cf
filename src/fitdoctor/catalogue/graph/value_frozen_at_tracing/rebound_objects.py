"""Models and optimizers that a loop recreates under a name that a traced function has already read."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fitdoctor.catalogue import Cause
from fitdoctor.catalogue.knowledge.tracing.renewed_in_loops import Renewed, compiled_for_each
from fitdoctor.catalogue.training_loops import decorator_of, loops_around, python_numbers
from fitdoctor.diagnosis import Evidence, Finding
from fitdoctor.edits import fix
from fitdoctor.source.callees import callers_of
from fitdoctor.source.index import names_in
from fitdoctor.source.keras_objects import kind_of_call, kind_of_value
from fitdoctor.source.module import FunctionInfo, Module


def rebound_objects(cause: Cause, module: Module) -> Iterator[Finding]:
    """Report functions that were traced with the first object and keep using it."""
    for function in module.functions:
        if decorator_of(function) is None or function.owner is not None:
            continue
        for caller, call in callers_of(function):
            made = _rebound(module, function, call) if caller is module else []
            if made:
                yield _finding(cause, module, function, call, made)
                break


def _rebound(module: Module, function: FunctionInfo, call: ast.Call) -> list[tuple[str, ast.Call]]:
    """Return the globals of the function to which the outermost loop assigns a new model or optimizer."""
    loops = list(loops_around(module, call))
    if len(loops) < 2 or module.function_of(call) is not None or names_in(call) & _numbers(module, call):
        return []
    if function.node in ast.walk(loops[-1]):
        return []  # a different function in each iteration
    found = []
    for name in sorted({node.id for node in ast.walk(function.node) if isinstance(node, ast.Name)}):
        if module.index.lookup(name, module.index.scopes[function.node]) is not module.index.module:
            continue
        for target in module.index.module.bindings.get(name, []):
            statement = module.parent(target)
            made = statement.value if isinstance(statement, ast.Assign) else None
            if isinstance(made, ast.Call) and statement in loops[-1].body and isinstance(target, ast.Name):
                kinds = (kind_of_call(module, made), kind_of_value(module, target))
                if {"Model", "Optimizer"} & set(kinds) and name not in names_in(made):
                    found.append((name, made))
    return sorted(found, key=lambda each: each[1].lineno)


def _numbers(module: Module, call: ast.Call) -> set[str]:
    """Return Python numbers that change in each iteration, for which the function is retraced."""
    return {name for loop in loops_around(module, call) for name in python_numbers(module, loop)}


def _finding(
    cause: Cause, module: Module, function: FunctionInfo, call: ast.Call, made: list[tuple[str, ast.Call]]
) -> Finding:
    name, first = made[0]
    last = Renewed(module, made[-1][0], made[-1][1], call, function)
    return cause.finding(
        f"`{function.name}` was traced with the first `{name}` and keeps training that one",
        module.location(module.statement(first)),
        Evidence(
            "a traced function reads a global only once, during tracing", location=module.location(call)
        ),
        fix(f"create a new `tf.function` for each `{name}`", compiled_for_each(last)),
        subject=f"name {name}",
    )

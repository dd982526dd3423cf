"""Optimizers that a loop recreates and passes to one `tf.function` traced with another."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fitdoctor.catalogue.training_loops import decorator_of, loops_around
from fitdoctor.diagnosis import Edit
from fitdoctor.edits import insert_after
from fitdoctor.records import dataclass
from fitdoctor.source.assignments import last_assignment
from fitdoctor.source.callees import argument_for, callers_of
from fitdoctor.source.keras_objects import kind_of_call
from fitdoctor.source.module import FunctionInfo, Module

APPLYING = ("apply_gradients", "apply", "minimize")
_ANEW = "compiled_step"


@dataclass(frozen=True, eq=False)
class Renewed:
    """An optimizer created in each iteration, and the function that gets it."""

    module: Module
    name: str
    made: ast.Call
    call: ast.Call
    """The call that passes it."""
    function: FunctionInfo


def renewed_optimizers(module: Module) -> Iterator[Renewed]:
    """Return optimizers that create their variables in the function because nothing builds them before."""
    for function in module.functions:
        if decorator_of(function) is None:
            continue
        for parameter in _applying(function):
            for caller, call in callers_of(function):
                given = argument_for(function, call, parameter)
                made = _made_in_a_loop(caller, call, given, function) if isinstance(given, ast.Name) else None
                if made is not None and isinstance(given, ast.Name):
                    yield Renewed(caller, given.id, made, call, function)
                    break


def _applying(function: FunctionInfo) -> Iterator[str]:
    """Return the parameters that apply gradients."""
    seen = set()
    for site in function.module.method_calls(*APPLYING):
        receiver = site.receiver if isinstance(site.node.func, ast.Attribute) else None
        if site.function is function and isinstance(receiver, ast.Name) and receiver.id not in seen:
            seen.add(receiver.id)
            if receiver.id in function.parameters:
                yield receiver.id


def _made_in_a_loop(
    module: Module, call: ast.Call, given: ast.Name, function: FunctionInfo
) -> ast.Call | None:
    """Return the constructor of the optimizer, in a loop outside that of the call."""
    found = last_assignment(module, given)
    made = found[0].value if found is not None and found[0].how == "=" and not found[0].path else None
    if not isinstance(made, ast.Call) or kind_of_call(module, made) != "Optimizer":
        return None
    around = [loop for loop in loops_around(module, call) if made in ast.walk(loop)]
    if not around or any(function.node in ast.walk(loop) for loop in around):
        return None
    built = any(module.segment(site.receiver) == given.id for site in module.method_calls("build"))
    return None if built else made


def compiled_for_each(renewed: Renewed) -> tuple[Edit, ...]:
    """Add `compiled_step = tf.function(step.python_function)` next to the optimizer, and call that in the loop."""
    module, function = renewed.module, renewed.function
    decorator = decorator_of(function)
    if decorator is None or isinstance(decorator, ast.Call) or _ANEW in module.text:
        return ()
    if function.module is not module or function.owner is not None:
        return ()
    loop = next(each for each in loops_around(module, renewed.call) if renewed.made in ast.walk(each))
    calls = [
        call for caller, call in callers_of(function) if caller is module and call in set(ast.walk(loop))
    ]
    if any(not isinstance(call.func, ast.Name) or call.lineno < renewed.made.lineno for call in calls):
        return ()
    line = f"{_ANEW} = {module.segment(decorator)}({function.name}.python_function)"
    return (
        *insert_after(module.code(renewed.made), line),
        *(Edit(module.location(call.func), _ANEW) for call in calls),
    )

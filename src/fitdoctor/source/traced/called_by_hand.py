"""Layers, models and metrics that a program only calls eagerly, on concrete values."""

from __future__ import annotations

import ast

from fitdoctor.source.module import ClassInfo, Module

_VALUES = ("tensorflow.", "numpy.", "keras.ops.", "keras.random.")
_SYMBOLIC = ("tensorflow.function", "tensorflow.compat.", "tensorflow.keras.")
RUN_GRAPHS = frozenset("fit evaluate predict train_on_batch test_on_batch fit_generator compile".split())
"""Methods of a model that trace its `call`, or that come before them."""


def only_called_by_hand(info: ClassInfo) -> bool:
    """Whether every instance of a layer, model or metric class is only called on values outside any other model."""
    module = info.module
    others = module.project.modules if module.project is not None else ()
    if info.kind not in ("Layer", "Model", "Metric"):
        return False
    reads = [read for read in module.reads.get(info.name, ()) if _means(module, info, read)]
    if not reads or any(other is not module and info.name in other.text for other in others):
        return False
    by_hand = _is_updated_by_hand if info.kind == "Metric" else _is_called_on_values
    return all(by_hand(module, read) for read in reads)


def may_be_compiled(info: ClassInfo) -> bool:
    """Whether a file that names a metric class also compiles a model or has a `train_step` of its own.

    Otherwise the program updates it in a loop of its own: eagerly, or in a `tf.function`, which AutoGraph converts.
    """
    project = info.module.project
    return any(
        info.name in module.text
        and (
            any(one.kind == "Model" and "train_step" in one.methods for one in module.classes)
            or any(not call.name for call in module.method_calls("compile"))
        )
        for module in (project.modules if project is not None else (info.module,))
    )


def _is_updated_by_hand(module: Module, read: ast.Name) -> bool:
    """`metric = Name(…)`, and then only `metric.update_state(…)` and the like, in code that nothing traces."""
    made = module.parent(read)
    held = module.parent(made) if isinstance(made, ast.Call) and made.func is read else None
    if (
        not isinstance(held, ast.Assign)
        or len(held.targets) != 1
        or not isinstance(held.targets[0], ast.Name)
    ):
        return False
    name = held.targets[0].id
    uses = module.reads.get(name, ())
    return bool(uses) and all(
        isinstance(module.parent(use), ast.Attribute) and _is_python(module, use) for use in uses
    )


def _is_python(module: Module, use: ast.Name) -> bool:
    """Whether it stands outside of all functions, or in a plain one of a program without `tf.function`."""
    if module.class_of(use) is not None:
        return False
    return module.function_of(use) is None or "tf.function" not in module.text


def _means(module: Module, info: ClassInfo, read: ast.Name) -> bool:
    """Whether a name is read where it still means this class, and not in its own `super(Name, self)`."""
    if module.class_of(read) is info:
        return False
    later = [
        other.node.lineno
        for other in module.classes
        if other.name == info.name and other.node.lineno > info.node.lineno
    ]
    return not later or read.lineno < min(later)


def _is_called_on_values(module: Module, read: ast.Name) -> bool:
    """`layer = Name(…)`, and then only `layer(tf.ones(…))` or what the layer keeps."""
    made = module.parent(read)
    return isinstance(made, ast.Call) and made.func is read and called_on_values(module, made)


def called_on_values(module: Module, made: ast.Call, depth: int = 2) -> bool:
    """Whether the layer that a call creates is only called on values, where it is created or returned to."""
    if module.class_of(made) is not None or depth == 0:
        return False
    held = module.parent(made)
    if isinstance(held, ast.Call) and held.func is made:
        return _takes_values(module, held)
    function = module.function_of(made)
    if isinstance(held, ast.Return) and function is not None:
        callers = module.callers.get(function.node) or _replaced_by_result(module, function.name)
        return bool(callers) and all(called_on_values(other, call, depth - 1) for other, call in callers)
    if (
        not isinstance(held, ast.Assign)
        or len(held.targets) != 1
        or not isinstance(held.targets[0], ast.Name)
    ):
        return False
    name, scope = held.targets[0].id, module.scope(held)
    reads = [use for use in module.reads.get(name, ()) if module.scope(use) is scope]
    uses = [use for use in reads if module.statement(use) is not held]
    return bool(uses) and all(_is_by_hand(module, use) for use in uses)


def _replaced_by_result(module: Module, name: str) -> list[tuple[Module, ast.Call]]:
    """Return the call of `name = name()`, where the name means the function for the last time."""
    calls = (module.parent(read) for read in module.reads.get(name, ()))
    made = (call for call in calls if isinstance(call, ast.Call) and not call.args)
    held = ((call, module.parent(call)) for call in made)
    return [
        (module, call)
        for call, stored in held
        if isinstance(stored, ast.Assign) and [getattr(each, "id", "") for each in stored.targets] == [name]
    ]


def _is_by_hand(module: Module, use: ast.Name) -> bool:
    around = module.parent(use)
    if isinstance(around, ast.Attribute):
        return around.attr not in RUN_GRAPHS
    return isinstance(around, ast.Call) and around.func is use and _takes_values(module, around)


def _takes_values(module: Module, call: ast.Call) -> bool:
    """Whether a call gets arrays or tensors that the program makes on the spot."""
    return bool(call.args) and all(_is_value(module, argument) for argument in call.args)


def _is_value(module: Module, argument: ast.expr) -> bool:
    made = module.made_by(argument)
    name = module.called(made)
    first = isinstance(made, ast.Call) and isinstance(made.func, ast.Name) and made.func.id == "next"
    return first or name.startswith(_VALUES) and not name.startswith(_SYMBOLIC)

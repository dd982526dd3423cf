"""Find variables that the model uses but does not track: never trained, never saved."""

from __future__ import annotations

import types
from collections.abc import Iterator
from typing import Any

from fitdoctor.collect.layers import is_library_class, sublayers

MOST_STEPS = 5000


def untracked_variables(model: Any) -> tuple[str, ...]:
    """Return descriptions of raw variables on layers, and variables or layers used by Lambda functions and losses."""
    try:
        tracked = _tracked_ids(model)
        found: dict[int, str] = {}
        for owner in _layers(model):
            _on_attributes(owner, tracked, found)
            function = vars(owner).get("function")
            if type(owner).__name__ == "Lambda" and isinstance(function, types.FunctionType):
                _in_function(function, f"the function of `{owner.name}`", tracked, found)
        for loss in _loss_functions(model):
            _in_function(loss, f"the loss `{loss.__name__}`", tracked, found)
    # A custom `variables` property or attribute may raise anything.
    except Exception:
        return ()
    return tuple(found.values())


def foreign_variables(layers: list[Any]) -> tuple[str, ...]:
    """Return Keras 3 variables in a Keras 2 graph, where Keras 3 operations are layers."""
    found: dict[int, str] = {}
    for layer in layers:
        if type(layer).__name__ == "TFOpLambda":
            for node in getattr(layer, "_inbound_nodes", ()):
                for value in (*node.call_args, *node.call_kwargs.values()):
                    if type(value).__module__.startswith("keras."):
                        found[id(value)] = str(getattr(value, "path", "") or type(value).__name__)
    return tuple(found.values())


def _layers(model: Any) -> Iterator[Any]:
    seen: set[int] = set()
    pending = [model]
    while pending and len(seen) < MOST_STEPS:
        layer = pending.pop()
        if id(layer) not in seen:
            seen.add(id(layer))
            yield layer
            pending.extend(reversed(sublayers(layer)))


def _tracked_ids(model: Any) -> set[int]:
    tracked: set[int] = set()
    for layer in _layers(model):
        for name in ("_trainable_variables", "_non_trainable_variables", "_seed_generators", "_metrics"):
            tracked.update(id(item) for item in vars(layer).get(name, ()))
        tracked.add(id(layer))
    for variable in getattr(model, "variables", ()):
        tracked.add(id(variable))
        tracked.add(id(getattr(variable, "_value", None)))
    for metric in getattr(model, "metrics", ()):
        tracked.update(id(variable) for variable in getattr(metric, "variables", ()))
        tracked.update(id(getattr(v, "_value", None)) for v in getattr(metric, "variables", ()))
    return tracked


def _is_tf_variable(value: Any) -> bool:
    return any(
        base.__name__ in ("Variable", "BaseResourceVariable") and base.__module__.startswith("tensorflow")
        for base in type(value).__mro__
    )


def _is_keras_variable(value: Any) -> bool:
    return any(
        base.__name__ in ("Variable", "KerasVariable") and base.__module__.startswith("keras.")
        for base in type(value).__mro__
    )


def _is_layer(value: Any) -> bool:
    return any(base.__name__ == "Layer" and is_library_class(base) for base in type(value).__mro__)


def _on_attributes(owner: Any, tracked: set[int], found: dict[int, str]) -> None:
    if is_library_class(type(owner)):
        return
    for name, value in list(vars(owner).items()):
        if name.startswith("_") and name in ("_tracker", "_layers", "_metrics", "_optimizer", "_path"):
            continue
        for label, item in _items(name, value):
            if _is_tf_variable(item) and id(item) not in tracked:
                trainable = "" if getattr(item, "trainable", False) else " (not trainable)"
                found.setdefault(id(item), f"`{owner.name}.{label}`, a tf.Variable{trainable}")
            elif _is_plain_object(item):
                _inside_object(owner, label, item, tracked, found)


def _items(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, (list, tuple)):
        for index, item in enumerate(value[:100]):
            yield f"{name}[{index}]", item
    elif isinstance(value, dict):
        for key, item in list(value.items())[:100]:
            yield f"{name}[{key!r}]", item
    else:
        yield name, value


def _is_plain_object(value: Any) -> bool:
    kind = type(value)
    return (
        kind.__module__ not in ("builtins", "types", "functools", "collections")
        and hasattr(value, "__dict__")
        and not isinstance(value, (type, types.ModuleType, types.FunctionType, types.MethodType))
        and not any(is_library_class(base) for base in kind.__mro__)
        and kind.__module__.split(".")[0] not in ("numpy", "pandas", "scipy", "sklearn", "torch", "jax")
    )


def _inside_object(owner: Any, label: str, item: Any, tracked: set[int], found: dict[int, str]) -> None:
    for inner, value in list(vars(item).items())[:100]:
        for part, thing in _items(inner, value):
            if id(thing) in tracked:
                continue
            if _is_tf_variable(thing) or _is_keras_variable(thing):
                found.setdefault(id(thing), f"`{owner.name}.{label}.{part}`, a variable in a plain object")
            elif _is_layer(thing) and thing is not owner:
                found.setdefault(id(thing), f"`{owner.name}.{label}.{part}`, a layer in a plain object")


def _loss_functions(model: Any) -> list[types.FunctionType]:
    from fitdoctor.collect.losses import given_loss

    given = given_loss(model)
    losses = list(given.values()) if isinstance(given, dict) else given
    losses = list(losses) if isinstance(losses, (list, tuple)) else [losses]
    return [loss for loss in losses if isinstance(loss, types.FunctionType)]


def _in_function(
    function: types.FunctionType, where: str, tracked: set[int], found: dict[int, str], depth: int = 2
) -> None:
    """Collect variables and layers that a function uses through its closure or globals."""
    if (function.__module__ or "").split(".")[0] in ("keras", "tf_keras", "tensorflow"):
        return
    for name, value in _reached(function):
        if id(value) in tracked:
            continue
        if _is_tf_variable(value) or _is_keras_variable(value):
            if getattr(value, "trainable", False):
                found.setdefault(id(value), f"`{name}`, a variable used by {where}")
        elif _is_layer(value) and getattr(value, "trainable", True) and not _is_model_owner(value, tracked):
            if _may_have_weights(value):
                found.setdefault(id(value), f"`{name}`, a layer used by {where}")
        elif isinstance(value, types.FunctionType) and depth:
            _in_function(value, where, tracked, found, depth - 1)


def _is_model_owner(value: Any, tracked: set[int]) -> bool:
    """Whether the layer contains tracked parts, so that it is the model or shares its layers."""
    return any(id(inner) in tracked for inner in sublayers(value))


def _may_have_weights(layer: Any) -> bool:
    weights = vars(layer).get("_trainable_variables")
    return bool(weights) or not getattr(layer, "built", True) or bool(sublayers(layer))


def _reached(function: types.FunctionType) -> Iterator[tuple[str, Any]]:
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=False):
        try:
            yield name, cell.cell_contents
        except ValueError:
            continue
    for name in function.__code__.co_names:
        if name in function.__globals__:
            yield name, function.__globals__[name]
    for name, value in (function.__kwdefaults__ or {}).items():
        yield name, value
    for value in function.__defaults__ or ():
        yield "default", value

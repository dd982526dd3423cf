"""Finds the model for a word on the command line: MODULE:NAME, or the model that a file trains or defines."""

from __future__ import annotations

import ast
import inspect
import os
import textwrap
from typing import Any

from fitdoctor.cli import UsageError
from fitdoctor.cli.first_fit import FirstFit
from fitdoctor.scan.opening import EndOfImport, made, module_named, named
from fitdoctor.scan.pieces import CannotScan
from fitdoctor.source.definitions import last_name

_CONSTRUCTORS = ("Model", "Sequential", "Functional")
_FORMS = "FILE.py, FILE.py:NAME or MODULE:NAME"


def model_at(target: str, first: FirstFit) -> tuple[str, Any]:
    """Return the model that `target` refers to, and its name for messages.

    Args:
        target: FILE.py, FILE.py:NAME or MODULE:NAME.
        first: ends the program at its first call of `fit`.

    Raises:
        UsageError: the name does not exist, is not a model, or there are several models.
        MissingPackage: the module imports a package that is not installed.
    """
    try:
        if ":" in target:
            found = named(target)
        else:
            target, found = _only_model(target, first)
        made_here = inspect.isroutine(found) or inspect.isclass(found)
        model = made(target, found) if made_here else found
    except EndOfImport:  # the function trains what it builds
        model = first.model
    except CannotScan as error:
        raise UsageError(str(error)) from error
    if not is_model(model):
        what = f"`{target}` returned" if made_here else f"`{target}` is"
        raise UsageError(f"{what} a `{type(model).__name__}`, not a Keras model")
    return target, model


def is_model(value: Any) -> bool:
    """Whether an object is a Keras model, of Keras 3 or Keras 2."""
    return not inspect.isclass(value) and hasattr(value, "train_step") and hasattr(value, "layers")


def _only_model(target: str, first: FirstFit) -> tuple[str, Any]:
    """Return the model that a file trains or defines; if there is none, the function without arguments that builds one."""
    if os.path.isdir(target) or os.path.isfile(target) and not target.endswith(".py"):
        raise UsageError(f"`{target}` is not a Python file: give {_FORMS}")
    module = module_named(target)
    found = _models(module) or _builders(module)
    if first.model is None and target.endswith(".py"):
        try:
            first.run(target)
        except CannotScan:
            if not found:
                raise
    if first.model is not None:
        return target, first.model
    if not found:
        raise UsageError(
            f"`{target}` defines no model at its top level, and no function without required arguments that returns "
            f"one: give {_FORMS}"
        )
    if len(found) > 1:
        listed = ", ".join(f"`{target}:{name}`" for name in found)
        raise UsageError(f"`{target}` defines several models; choose one: {listed}")
    [(name, value)] = found.items()
    return f"{target}:{name}", value


def _models(module: Any) -> dict[str, Any]:
    """Return the models at the top level of a module, each once, without parts of another model."""
    models = {name: value for name, value in vars(module).items() if name[0] != "_" and is_model(value)}
    unique = {id(value): name for name, value in reversed(models.items())}
    models = {name: value for name, value in models.items() if unique[id(value)] == name}
    inside = {id(layer) for model in models.values() for layer in _layers(model)}
    whole = {name: model for name, model in models.items() if id(model) not in inside}
    compiled = {name: model for name, model in whole.items() if getattr(model, "optimizer", None) is not None}
    return compiled or whole


def _layers(model: Any) -> list[Any]:
    flatten = getattr(model, "_flatten_layers", None)
    if flatten is None:
        return list(model.layers)
    return list(flatten(include_self=False, recursive=True))


def _builders(module: Any) -> dict[str, Any]:
    """Yield functions and model classes of the module that can be called without arguments."""
    return {
        name: value
        for name, value in vars(module).items()
        if getattr(value, "__module__", None) == module.__name__
        and (_is_model_class(value) or inspect.isfunction(value) and _returns_model(value))
        and _needs_no_arguments(value)
    }


def _is_model_class(value: Any) -> bool:
    return inspect.isclass(value) and hasattr(value, "train_step") and hasattr(value, "layers")


def _needs_no_arguments(function: Any) -> bool:
    try:
        inspect.signature(function).bind()
    except (TypeError, ValueError):
        return False
    return True


def _returns_model(function: Any) -> bool:
    """Whether the source of a function shows that it returns a model, and does not train it."""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    except (OSError, TypeError, SyntaxError):
        return False
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    if any(last_name(call) in ("fit", "train_on_batch") for call in calls):
        return False
    built = {
        target.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call)
        for target in node.targets
        if isinstance(target, ast.Name) and last_name(node.value) in _CONSTRUCTORS
    }
    built |= {
        call.func.value.id
        for call in calls
        if last_name(call) == "compile"
        and isinstance(call.func, ast.Attribute)
        and isinstance(call.func.value, ast.Name)
    }
    returned = [
        node.value for node in ast.walk(tree) if isinstance(node, ast.Return) and node.value is not None
    ]
    return any(
        isinstance(value, ast.Name)
        and (value.id in built or "model" in value.id.lower())
        or isinstance(value, ast.Call)
        and (last_name(value) in _CONSTRUCTORS or "model" in last_name(value).lower())
        for value in returned
    )

"""Saved model that Keras cannot rebuild: it contains an unknown class or function, or a lambda.

## What happens

- `load_model` raises `TypeError: Could not locate function 'dice_loss'` or `Could not locate class 'Attention'`.
- `load_model`, `clone_model` and `model_from_json` raise `ValueError: Requested the deserialization of a Lambda layer
  whose function is a Python lambda`.
- `model.save`, and `ModelCheckpoint` at the end of the first epoch, raise `NotImplementedError: Object Patches was
  created by passing non-serializable argument values in __init__()`.

## Why

A saved model contains the names and settings of its parts, but not their code. Keras finds its own parts by name; you
have to register yours. A lambda has no name, and by default Keras does not run code from a file. The settings of a
custom layer are the arguments of its `__init__`, and Keras can serialize only numbers, strings, lists and similar
values by itself.

## Fix

Pass `load_model(path, custom_objects={"dice_loss": dice_loss})`, or decorate the class or function with
`@keras.saving.register_keras_serializable()`. If you no longer need the loss, pass `compile=False`. Replace a lambda
with a named function or a custom layer; for a file that you trust, pass `safe_mode=False`. To copy a model, call the
function that built it and copy the weights with `set_weights`. A layer with other arguments needs `get_config`, and
`**kwargs` in `__init__`.

## Known limits

Reported only after the failure. A class that the saving program registered under another package name looks the same.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from fitdoctor.catalogue import Cause
from fitdoctor.diagnosis import Edit, Evidence, Finding, Fix, Location, Severity
from fitdoctor.edits import append_arguments, fix, insert_before, spell, unsafe
from fitdoctor.facts import FailureFacts
from fitdoctor.failure.failed_line import calls_at
from fitdoctor.failure.patterns import NOT_CUSTOM
from fitdoctor.source.module import CallSite, Module
from fitdoctor.source.project import Project

CAUSE = Cause(
    id="FIT908",
    slug="model-cannot-be-restored",
    severity=Severity.ERROR,
    raises=("TypeError", "ValueError", "NotImplementedError"),
)

_UNKNOWN = re.compile(
    r"Could not locate (?P<kind>class|function) '(?P<name>\w+)'"
    r"|Unknown (?P<older>layer|object|(?:loss|metric|activation) function|initializer|regularizer|optimizer):? "
    r"'?(?P<named>[\w>]+)'?\. Please ensure"
)
_SHORT = frozenset({"mse", "mae", "mape", "msle", "kld", "bce"})
"""Keras's own short names, which `.h5` files lose: FIT902."""
_OF_KERAS = frozenset(
    "Functional Model Sequential layers name config class_name module TFOpLambda SlicingOpLambda TensorFlowOpLayer".split()
)
"""Keras's own classes and keys of its files: another version saved the model: FIT901."""
_LAMBDA = re.compile(r"Requested the deserialization of a `?Lambda`? layer")
_SETTINGS = re.compile(
    r"(?:Object|Layer) (?P<name>\w+) (?:was created by passing\s+non-serializable argument values"
    r"|has arguments [\s\S]{0,200}?must override `get_config)"
)
_LOADERS = ("keras.models.load_model", "keras.saving.load_model")
_FROM_TEXT = ("keras.models.model_from_json",)


@CAUSE.after_failure
def from_failure(failure: FailureFacts, project: Project) -> Iterator[Finding]:
    """Report the part that Keras cannot rebuild."""
    message = failure.message
    unknown = _UNKNOWN.search(message)
    name = (unknown["name"] or unknown["named"]) if unknown is not None else ""
    kind = (unknown["kind"] or unknown["older"]) if unknown is not None else ""
    if kind.endswith("function") and (failure.called == "compile" or name in NOT_CUSTOM):
        return  # the program itself names it: FIT302
    if unknown is not None and name not in _SHORT | _OF_KERAS:
        yield _not_known(name, kind, failure, project)
    elif _LAMBDA.search(message):
        yield _lambda(failure, project)
    elif (said := _SETTINGS.search(message)) is not None:
        yield _no_settings(said["name"], failure, project)


def _not_known(name: str, kind: str, failure: FailureFacts, project: Project) -> Finding:
    defined = _defined(name, project)
    remedies = [_named_in_call(name, failure, project)]
    if defined is not None:
        remedies.append(_registered(*defined))
    if kind.endswith("function"):
        remedies.append(fix("load it with `compile=False`, then compile it again"))
    return _finding(
        f"the saved model contains the {kind} `{name}`, which Keras cannot find by its name",
        failure,
        Evidence("name that Keras did not find", name),
        remedies,
    )


def _registered(module: Module, node: ast.ClassDef | ast.FunctionDef) -> Fix:
    """Register the class where it is defined: Keras then knows it wherever a model is loaded."""
    title = f"decorate `{node.name}` with `@keras.saving.register_keras_serializable()`"
    if node.decorator_list:
        return fix(title)
    code = module.code(node)
    keras, imports = spell(code, "keras", "keras")
    line = f"@{keras}.saving.register_keras_serializable()"
    return fix(title, insert_before(code, line), imports)


def _named_in_call(name: str, failure: FailureFacts, project: Project) -> Fix:
    """Add `custom_objects={"dice_loss": dice_loss}` if the call has none and the name is available."""
    text = f'custom_objects={{"{name}": {name.rpartition(">")[2]}}}'
    site = _call(failure, project, (*_LOADERS, *_FROM_TEXT))
    edits: tuple[Edit, ...] = ()
    known = site is not None and name in site.module.index.module.bindings
    if known and site is not None and site.argument("custom_objects", 1) is None:
        edits = append_arguments(site.module.code(site.node), text)
    return fix(f"pass it to Keras: `{text}`", edits)


def _lambda(failure: FailureFacts, project: Project) -> Finding:
    site = _call(failure, project, _LOADERS)
    remedies = []
    if site is not None and site.argument("safe_mode", 3) is None:
        # It disables a safety check of Keras, so the user must decide.
        remedies.append(
            unsafe(
                "if you trust the file, let Keras run its lambda with `safe_mode=False`",
                append_arguments(site.module.code(site.node), "safe_mode=False"),
            )
        )
    remedies.append(fix("use a named function in the `Lambda` layer, or replace it with a custom layer"))
    if site is None:
        remedies += [
            fix("call the function that built the model again, and copy the weights with `set_weights`"),
            fix("if the lambda is yours, call `keras.config.enable_unsafe_deserialization()` first"),
        ]
    return _finding(
        "the model has a `Lambda` layer with a Python lambda, which Keras does not deserialize by default",
        failure,
        Evidence("function of the `Lambda` layer", "a lambda", "a named function"),
        remedies,
    )


def _no_settings(name: str, failure: FailureFacts, project: Project) -> Finding:
    return _finding(
        f"`{name}` cannot be saved: it has no `get_config`, and Keras cannot serialize its `__init__` arguments",
        failure,
        Evidence("layer being saved", name),
        [
            fix(
                f"add a `get_config` to `{name}` that extends `super().get_config()` with its arguments as numbers, strings "
                "or lists, and accept `**kwargs` in `__init__`"
            ),
            fix("save only the weights: `save_weights`, or `ModelCheckpoint(…, save_weights_only=True)`"),
        ],
        _definition(name, project),
    )


def _finding(
    message: str, failure: FailureFacts, seen: Evidence, fixes: list[Fix], place: Location | None = None
) -> Finding:
    saved = [Evidence("saved here", location=failure.location)] if place is not None else []
    return CAUSE.certain(
        message,
        place or failure.location,
        seen,
        *saved,
        *fixes,
        subject="saved model",
    )


def _call(failure: FailureFacts, project: Project, names: tuple[str, ...]) -> CallSite | None:
    """Return the only call of these that is on the failing line."""
    found = [site for site in calls_at(failure, project) if site.name in names]
    return found[0] if len(found) == 1 else None


def _defined(name: str, project: Project) -> tuple[Module, ast.ClassDef | ast.FunctionDef] | None:
    """Return the only class or function of that name, and its module."""
    found = [
        (module, node)
        for module in project.modules
        for node in module.tree.body
        if isinstance(node, (ast.ClassDef, ast.FunctionDef)) and node.name == name
    ]
    return found[0] if len(found) == 1 else None


def _definition(name: str, project: Project) -> Location | None:
    """Return where the only class or function of that name is defined; for a class, its `__init__` if it has one."""
    found = _defined(name, project)
    if found is None:
        return None
    module, node = found
    init = (each for each in node.body if getattr(each, "name", "") == "__init__")
    place = module.location(next(init, node))
    return Location(place.path, place.line, cell=place.cell)

"""A model that Keras cannot make again from its description: a class or function it does not know, or a lambda.

## What happens

`load_model` raises `TypeError: Could not locate function 'dice_loss'` or `Could not locate class 'Attention'`; it, and
`clone_model` and `model_from_json` too, raise `ValueError: Requested the deserialization of a Lambda layer whose
function is a Python lambda`. `model.save` and `ModelCheckpoint`, at the end of the first epoch, raise
`NotImplementedError: Object Patches was created by passing non-serializable argument values in __init__()`.

## Why

A saved model holds the names of its parts and their settings, not their code. Keras knows its own parts by name; yours
have to be named to it. What a lambda does has no name, and Keras does not run code out of a file unless it is told to.
The settings of a layer of yours are the arguments of `__init__`, and Keras writes down by itself only plain numbers,
texts, lists and the like.

## Fix

`load_model(path, custom_objects={"dice_loss": dice_loss})`, or `@keras.saving.register_keras_serializable()` over the
class or function; `compile=False` where the loss is not needed any more. In place of a lambda a function with a name or
a layer of your own; for a file that you trust, `safe_mode=False`. A copy of a model is made best by calling the function
that made it, and `set_weights`. A layer with other arguments needs `get_config`, and `**kwargs` in `__init__`.

## Known limits

Told from the failure alone. A class that was registered under another package name in the program that saved the model
looks the same.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fitdoctor.catalogue import Cause
from fitdoctor.catalogue.graph.traced import at_frame, module_of
from fitdoctor.diagnosis import Confidence, Edit, Evidence, Finding, Fix, Location, Severity
from fitdoctor.edits import append_arguments, fix, unsafe
from fitdoctor.facts import FailureFacts, Unknown
from fitdoctor.patterns import pattern
from fitdoctor.source.module import CallSite, Module
from fitdoctor.source.project import Project

CAUSE = Cause(
    id="FIT908",
    slug="model-cannot-be-restored",
    severity=Severity.ERROR,
    raises=("TypeError", "ValueError", "NotImplementedError"),
)

_UNKNOWN = pattern(
    r"Could not locate (?P<kind>class|function) '(?P<name>\w+)'"
    r"|Unknown (?P<older>layer|object|loss function|metric function):? '?(?P<named>\w+)'?\. Please ensure"
)
_SHORT = frozenset({"mse", "mae", "mape", "msle", "kld", "bce"})
"""Keras' own names, which its `.h5` files lose: another matter (FIT902)."""
_LAMBDA = pattern(r"Requested the deserialization of a `?Lambda`? layer")
_SETTINGS = pattern(
    r"(?:Object|Layer) (?P<name>\w+) (?:was created by passing\s+non-serializable argument values"
    r"|has arguments [\s\S]{0,200}?must override `get_config)"
)
_LOADERS = ("keras.models.load_model", "keras.saving.load_model")
_FROM_TEXT = ("keras.models.model_from_json",)


@CAUSE.after_failure
def from_failure(failure: FailureFacts, project: Project | Unknown) -> Iterator[Finding]:
    """Keras names the part that it cannot make again."""
    message = failure.message
    unknown = _UNKNOWN.search(message)
    name = (unknown["name"] or unknown["named"]) if unknown is not None else ""
    if unknown is not None and name not in _SHORT:
        yield _not_known(name, unknown["kind"] or unknown["older"], failure, project)
    elif _LAMBDA.search(message):
        yield _lambda(failure, project)
    elif (said := _SETTINGS.search(message)) is not None:
        yield _no_settings(said["name"], failure, project)


def _not_known(name: str, kind: str, failure: FailureFacts, project: Project | Unknown) -> Finding:
    defined = _definition(name, project) is not None
    remedies = [_named_in_call(name, failure, project, defined)]
    if defined:
        remedies.append(fix(f"put `@keras.saving.register_keras_serializable()` over `{name}`"))
    if kind.endswith("function"):
        remedies.append(fix("load it with `compile=False`, and compile it again"))
    return _finding(
        f"the saved model holds the {kind} `{name}`, which Keras does not know by its name",
        failure,
        Evidence(claim="what Keras did not find", observed=name, fact="failure.message"),
        remedies,
    )


def _named_in_call(name: str, failure: FailureFacts, project: Project | Unknown, defined: bool) -> Fix:
    """`custom_objects={"dice_loss": dice_loss}`, written where the call has none and the name is in reach."""
    text = f'custom_objects={{"{name}": {name}}}'
    site = _call(failure, project, (*_LOADERS, *_FROM_TEXT))
    edits: tuple[Edit, ...] = ()
    if defined and site is not None and site[1].argument("custom_objects", 1) is None:
        edits = append_arguments(site[0].code(site[1].node), text)
    return fix(f"name it to Keras: `{text}`", edits)


def _lambda(failure: FailureFacts, project: Project | Unknown) -> Finding:
    site = _call(failure, project, _LOADERS)
    remedies = []
    if site is not None and site[1].argument("safe_mode", 3) is None:
        # It takes a guard of Keras away: for the user to decide.
        remedies.append(
            unsafe(
                "let Keras run the lambda of a file that you trust: `safe_mode=False`",
                append_arguments(site[0].code(site[1].node), "safe_mode=False"),
            )
        )
    remedies.append(fix("give the `Lambda` layer a function with a name, or make it a layer of your own"))
    if site is None:
        remedies += [
            fix(
                "make the model again with the function that made it; `set_weights` copies what it has learnt"
            ),
            fix("call `keras.config.enable_unsafe_deserialization()` before, where the lambda is your own"),
        ]
    return _finding(
        "the model has a `Lambda` layer with a Python lambda, which Keras does not make again by itself",
        failure,
        Evidence(claim="what Keras refuses", observed="a lambda", expected="a function with a name"),
        remedies,
    )


def _no_settings(name: str, failure: FailureFacts, project: Project | Unknown) -> Finding:
    return _finding(
        f"`{name}` cannot be saved: Keras cannot write down the arguments of its `__init__`, and it has no `get_config`",
        failure,
        Evidence(claim="the layer that Keras was saving", observed=name, fact="failure.message"),
        [
            fix(
                f"give `{name}` a `get_config` that adds its arguments to `super().get_config()`, as numbers, texts or "
                "lists, and `**kwargs` in `__init__`"
            ),
            fix("save the weights alone: `save_weights`, or `ModelCheckpoint(…, save_weights_only=True)`"),
        ],
        _definition(name, project),
    )


def _finding(
    message: str, failure: FailureFacts, seen: Evidence, fixes: list[Fix], place: Location | None = None
) -> Finding:
    frame = failure.last_user_frame
    raised = frame.location if frame is not None else None
    saved = Evidence(claim="where it was saved", location=raised)
    return CAUSE.finding(
        message,
        subject="restoring the model",
        location=place or raised,
        evidence=[seen] if place is None else [seen, saved],
        fixes=fixes,
        confidence=Confidence.CERTAIN,
    )


def _call(
    failure: FailureFacts, project: Project | Unknown, names: tuple[str, ...]
) -> tuple[Module, CallSite] | None:
    """The one call of these that the program was at."""
    frame = failure.last_user_frame
    module = module_of(project, frame)
    if frame is None or module is None:
        return None
    found = [site for site in module.calls_to(*names) if at_frame(module, site.node, frame)]
    return (module, found[0]) if len(found) == 1 else None


def _definition(name: str, project: Project | Unknown) -> Location | None:
    """Where the one class or function of that name is defined; a class by its `__init__`, where it has one."""
    found = []
    for module in () if isinstance(project, Unknown) else project.modules:
        for node in module.tree.body:
            if isinstance(node, (ast.ClassDef, ast.FunctionDef)) and node.name == name:
                made = [
                    each
                    for each in node.body
                    if isinstance(each, ast.FunctionDef) and each.name == "__init__"
                ]
                place = module.location(made[0] if made else node)
                found.append(Location(place.path, place.line, cell=place.cell))
    return found[0] if len(found) == 1 else None

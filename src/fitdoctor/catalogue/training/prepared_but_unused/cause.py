"""Object made for training that is never used.

## What happens

Nothing fails. Training does not stop early, the best weights are not saved, the rare class does not count more, or the
optimizer has its default learning rate, although the source has a line for it.

## Why

The object was created but not passed on: `callbacks=[early_stop]`, `class_weight=weights` or `optimizer=optimizer` is
missing, or `compile` got the name of another one (`optimizer="adam"`).

## Fix

Pass it to `fit` or `compile`, or delete the line.

## Known limits

Only names that nothing in the project reads are reported.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import PurePath

from fitdoctor.catalogue import Cause
from fitdoctor.diagnosis import Edit, Evidence, Finding, Severity
from fitdoctor.edits import replace_code, set_argument, unsafe
from fitdoctor.source.keras_objects import is_keras_model, kind_of_call
from fitdoctor.source.module import CallSite, Module
from fitdoctor.source.project import Project

CAUSE = Cause(id="FIT005", slug="prepared-but-unused", severity=Severity.WARNING)

_WEIGHTS = {
    "sklearn.utils.class_weight.compute_class_weight": "class_weight",
    "sklearn.utils.compute_class_weight": "class_weight",
    "sklearn.utils.class_weight.compute_sample_weight": "sample_weight",
    "sklearn.utils.compute_sample_weight": "sample_weight",
}
_OF_KERAS = frozenset(
    {"epochs", "steps_per_epoch", "validation_data", "validation_split", "loss", "optimizer"}
)
"""Arguments that tell a method of a Keras model from others of its name."""
_ARGUMENTS = {"Callback": ("fit", "callbacks"), "Optimizer": ("compile", "optimizer")}
"""By kind of object: the method that needs it and its argument."""


@CAUSE.rule("Callback", "callbacks", "optimizers", "class_weight", "sample_weight")
def never_read(module: Module) -> Iterator[Finding]:
    """Find callbacks, optimizers and weights of classes that are assigned to a name which nothing reads."""
    project = module.project
    for assign in module.nodes(ast.Assign):
        match assign.targets, assign.value:
            case [ast.Name(id=name)], (ast.Call() | ast.Dict() | ast.DictComp()) as value:
                pass
            case _:
                continue
        needs = _needed_by(module, value)
        calls = list(_calls_of_models(module, needs[0])) if needs is not None else []
        if needs is None or not calls or name[0] == "_" or _is_read(module, name, assign, project):
            continue
        method, argument = needs
        given = calls[0].argument(argument, 0 if argument == "optimizer" else None)
        made, place = module.location(assign), module.location(calls[0].node)
        only = len(calls) == 1 and (given is None or isinstance(given, ast.Constant))
        # Who passes other weights has chosen between the two.
        chosen = any(
            isinstance(site.argument(argument), (ast.Name, ast.Attribute, ast.Dict)) for site in calls
        )
        text = f"[{name}]" if argument == "callbacks" else name
        if argument == "class_weight" and module.called(value) in _WEIGHTS:
            text = f"dict(enumerate({name}))"
        edits: tuple[Edit, ...] = ()
        if only and given is None:
            edits = set_argument(module.code(calls[0].node), argument, text)
        elif only and given is not None:
            edits = replace_code(module.code(given), text)
        yield CAUSE.finding(
            f"`{name}` is created but never used: no `{method}` gets it",
            place if only else made,
            Evidence(f"`{name}` is created", location=made)
            if only
            else Evidence("uses of the name", "none", "one"),
            unsafe(f"pass `{argument}={text}`" if only else f"pass it to `{method}`", edits),
            subject=f"{argument} of {method}",
            severity=None if argument.endswith("_weight") and not chosen else Severity.INFO,
        )


def _calls_of_models(module: Module, method: str) -> Iterator[CallSite]:
    """Yield the calls of a method of Keras models; scalers and estimators have a `fit`, too."""
    for site in module.method_calls(method):
        own = any(keyword.arg in _OF_KERAS for keyword in site.node.keywords)
        if own or (site.receiver is not None and is_keras_model(module, site.receiver)):
            yield site


def _needed_by(module: Module, value: ast.expr) -> tuple[str, str] | None:
    """Return the method that an object is made for, and the argument."""
    name = module.called(value)
    if name in _WEIGHTS:
        return "fit", _WEIGHTS[name]
    optional = name.startswith(("keras.callbacks.", "keras.optimizers."))
    if optional and isinstance(value, ast.Call) and ".schedules." not in name:
        return _ARGUMENTS.get(kind_of_call(module, value))
    if name in ("", "builtins.dict", "dict"):
        made = [
            module.called(module.origin(each).node) for each in ast.walk(value) if isinstance(each, ast.Name)
        ]
        return next((("fit", _WEIGHTS[each]) for each in made if each in _WEIGHTS), None)
    return None


def _is_read(module: Module, name: str, assign: ast.Assign, project: Project | None) -> bool:
    """Whether anything may read a name: its scope, another file, or text that is executed."""
    if module.reads.get(name):
        return True
    if any(
        isinstance(each, (ast.Global, ast.Nonlocal)) and name in each.names for each in ast.walk(module.tree)
    ):
        return True
    here = module.scope(assign)
    if here.parent is None and project is not None:
        file = PurePath(module.path).stem
        others = (each for each in project.modules if each is not module)
        return any(file in each.text and name in each.text for each in others)
    return module.function_of(assign) is None and here.parent is not None  # an attribute of a class

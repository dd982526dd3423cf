"""Classes passed instead of instances: `callbacks=[EarlyStopping]`, `optimizer=Adam`."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from fitdoctor.catalogue import Cause
from fitdoctor.diagnosis import Confidence, Edit, Evidence, Finding, Location
from fitdoctor.edits import fix
from fitdoctor.facts import FailureFacts, Unknown
from fitdoctor.failure.failed_line import at_frame, module_of, raised_here
from fitdoctor.source.module import Module
from fitdoctor.source.origins import origin
from fitdoctor.source.project import Project

_UNBOUND = re.compile(r"\bset_(?:model|params)\(\) missing 1 required positional argument")
_NO_OPTIMIZER = re.compile(r"Could not interpret optimizer identifier:.{0,4}<class '[\w.]*?(?P<name>\w+)'>")
_WITHOUT_SELF = re.compile(r"^\w+\.\w+\(\) missing \d+ required positional arguments?: ")
_KERAS_CLASS = re.compile(r"keras\.(?:\w+\.)?[A-Z]\w*")
_POSITION = 5
"""Position of `callbacks` in the arguments of `fit`."""


def classes_given(cause: Cause, module: Module) -> Iterator[Finding]:
    """Report classes among the callbacks of `fit`, or as the optimizer of `compile`."""
    for where, given in (*_given(module), *_optimizers(module)):
        yield _finding(cause, where, given, Confidence.LIKELY, [])


def class_refused(cause: Cause, failure: FailureFacts, project: Project | Unknown) -> Iterator[Finding]:
    """Explain the error of a method that Keras called on a class."""
    frame = failure.last_user_frame
    module = module_of(project, frame)
    optimizer = _NO_OPTIMIZER.search(failure.message)
    if optimizer is None and (frame is None or not _UNBOUND.search(failure.message)):
        return
    found = _optimizers if optimizer is not None else _given
    for where, given in found(module) if module is not None else ():
        yield _finding(cause, where, given, Confidence.CERTAIN, [raised_here(failure)])
        return
    what, name = ("optimizer", optimizer["name"]) if optimizer is not None else ("callback", "the class")
    yield cause.finding(
        f"a class is passed as {'an' if optimizer is not None else 'a'} {what} instead of an instance",
        frame.location if frame is not None else None,
        raised_here(failure),
        fix(f"create the {what}: " + (f"`{name}()`" if optimizer is not None else "call the class")),
        subject="optimizer of compile" if optimizer is not None else "callbacks of fit",
        confidence=Confidence.CERTAIN,
    )


def class_called(cause: Cause, failure: FailureFacts, project: Project | Unknown) -> Iterator[Finding]:
    """Explain a method called on a Keras class: `model = Sequential`, then `model.add(…)`."""
    frame = failure.last_user_frame
    module = module_of(project, frame)
    if frame is None or module is None or not _WITHOUT_SELF.search(failure.message):
        return
    for site in module.calls:
        if not isinstance(site.node.func, ast.Attribute) or not at_frame(module, site.node, frame):
            continue
        made = origin(module, site.node.func.value)
        bare = made.certain and not made.path and isinstance(made.node, (ast.Name, ast.Attribute))
        if bare and _KERAS_CLASS.fullmatch(made.module.resolve(made.node)):
            yield _finding(cause, made.module, made.node, Confidence.CERTAIN, [raised_here(failure)])
            return


def _given(module: Module) -> Iterator[tuple[Module, ast.expr]]:
    for site in module.method_calls("fit"):
        whole = site.argument("callbacks", _POSITION)
        if whole is None:
            continue
        end = origin(module, whole)
        parts = end.node.elts if isinstance(end.node, (ast.List, ast.Tuple)) else [end.node]
        for part in parts if end.certain and not end.path else ():
            made = origin(end.module, part)
            if made.certain and not made.path and _is_callback_class(made.module, made.node):
                yield made.module, made.node


def _optimizers(module: Module) -> Iterator[tuple[Module, ast.expr]]:
    for site in module.method_calls("compile"):
        given = site.argument("optimizer", 0)
        made = None if given is None else origin(module, given)
        if (
            made is None
            or not made.certain
            or made.path
            or not isinstance(made.node, (ast.Name, ast.Attribute))
        ):
            continue
        name = made.module.resolve(made.node)
        if name.startswith("keras.optimizers.") and name.rpartition(".")[2][:1].isupper():
            yield made.module, made.node


def _is_callback_class(module: Module, node: ast.expr) -> bool:
    if not isinstance(node, (ast.Name, ast.Attribute)):
        return False
    name = module.resolve(node)
    if name.startswith("keras.callbacks."):
        return name.rpartition(".")[2][:1].isupper()
    return any(
        owner.kind == "Callback" and isinstance(node, ast.Name) and owner.node.name == node.id
        for owner in module.classes
    )


def _finding(
    cause: Cause, module: Module, given: ast.expr, confidence: Confidence, evidence: list[Evidence]
) -> Finding:
    name, here = module.segment(given), module.location(given)
    end = Location(here.path, here.end_line, here.end_column, here.end_line, here.end_column, here.cell)
    return cause.finding(
        f"the class `{name}` is used instead of an instance",
        here,
        Evidence("value", name, f"{name}(…)"),
        *evidence,
        fix(f"create an instance: `{name}()`", (Edit(end, "()"),)),
        subject=f"class {name}",
        confidence=confidence,
    )

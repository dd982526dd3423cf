"""`model = model.fit(…)`: the training history used as the model."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from fitdoctor.catalogue import Cause
from fitdoctor.diagnosis import Confidence, Edit, Evidence, Finding, Fix
from fitdoctor.edits import fix
from fitdoctor.facts import FailureFacts, Unknown
from fitdoctor.failure.failed_line import at_frame, module_of, raised_here
from fitdoctor.source.callees import callee
from fitdoctor.source.keras_objects import is_keras_model
from fitdoctor.source.module import Module
from fitdoctor.source.origins import origin
from fitdoctor.source.project import Project

OF_MODELS = tuple(
    """fit compile evaluate predict summary save add train_on_batch predict_on_batch save_weights load_weights
    get_weights set_weights to_json get_layer""".split()
)
_SAID = re.compile(rf"'History' object has no attribute '(?:{'|'.join(OF_MODELS)}|layers|trainable|weights)'")
_MOST_STEPS = 4


def in_source(cause: Cause, module: Module) -> Iterator[Finding]:
    """Report model methods called on the result of `fit`."""
    told: set[ast.Call] = set()
    for site in module.method_calls(*OF_MODELS):
        assert isinstance(site.node.func, ast.Attribute)
        found = _history(module, site.node.func.value)
        if found is not None and found[1] not in told:
            told.add(found[1])
            yield _finding(cause, *found, Confidence.LIKELY, [])


def refused(cause: Cause, failure: FailureFacts, project: Project | Unknown) -> Iterator[Finding]:
    """Explain the `AttributeError` of a model method called on a `History`."""
    frame = failure.last_user_frame
    if failure.type != "AttributeError" or frame is None or not _SAID.search(failure.message):
        return
    module = module_of(project, frame)
    for node in module.nodes(ast.Attribute) if module is not None else ():
        found = _history(module, node.value) if module and at_frame(module, node, frame) else None
        if found is not None:
            yield _finding(cause, *found, Confidence.CERTAIN, [raised_here(failure)])
            return
    yield cause.finding(
        "`fit` returns the training history, but its result is used as the model",
        frame.location,
        raised_here(failure),
        fix("call `fit` on its own line, and keep using the model"),
        subject="result of fit",
        confidence=Confidence.CERTAIN,
    )


def _history(module: Module, value: ast.expr) -> tuple[Module, ast.Call] | None:
    """Return the `fit` call that a value comes from, through functions that return it."""
    for _ in range(_MOST_STEPS):
        end = origin(module, value)
        if end.path or not end.certain or not isinstance(end.node, ast.Call):
            return None
        module, made = end.module, end.node
        if isinstance(made.func, ast.Attribute) and made.func.attr == "fit":
            return (module, made) if is_keras_model(module, made.func.value) else None
        function = callee(module, made)
        returned = function.module.returns.get(function.node, []) if function is not None else []
        if function is None or len(returned) != 1 or returned[0].value is None:
            return None
        module, value = function.module, returned[0].value
    return None


def _finding(
    cause: Cause, module: Module, call: ast.Call, confidence: Confidence, seen: list[Evidence]
) -> Finding:
    name = module.segment(call.func)
    return cause.finding(
        f"`{name}` returns the training history, but its result is used as the model",
        module.location(module.statement(call)),
        Evidence("result of `fit`", "a `History`", "a model"),
        *seen,
        _alone(module, call, name),
        subject=f"result of {name}",
        confidence=confidence,
    )


def _alone(module: Module, call: ast.Call, name: str) -> Fix:
    """Put the call on its own line if its result was assigned to the model's name."""
    assert isinstance(call.func, ast.Attribute)
    statement, title = module.statement(call), f"call `{name}` on its own line"
    target = statement.targets[0] if isinstance(statement, ast.Assign) and statement.value is call else None
    model = call.func.value
    if isinstance(target, ast.Name) and isinstance(model, ast.Name) and target.id == model.id:
        return fix(title, (Edit(module.location(statement), module.segment(call)),))
    return fix(f"{title}, and keep using the model")

"""Python values passed to layers by position: `self.dropout(x, training)`, which Keras 3 accepts only by keyword."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fitdoctor.catalogue import Cause
from fitdoctor.catalogue.graph.traced import at_frame, module_of, raised_here
from fitdoctor.diagnosis import Confidence, Edit, Evidence, Finding, Fix
from fitdoctor.edits import fix
from fitdoctor.facts import FailureFacts, Unknown
from fitdoctor.patterns import pattern
from fitdoctor.source.keras_objects import kind_of_value
from fitdoctor.source.module import ClassInfo, Module
from fitdoctor.source.project import Project

_REFUSED = pattern(
    r"Only input tensors may be passed as positional arguments\. The following argument value should be passed as a "
    r"keyword argument: [^\n]{0,200}\(of type <class '(?:bool|int|float|str)'>\)"
)
_TRAINS = ("fit", "train_on_batch")
_REMEDY = "pass it as a keyword argument"


def refused_value(cause: Cause, failure: FailureFacts, project: Project | Unknown) -> Iterator[Finding]:
    """Report the value that Keras rejected, at the call on the failing line."""
    frame = failure.last_user_frame
    if frame is None or not _REFUSED.search(failure.message):
        return
    module = module_of(project, frame)
    calls = [
        site.node
        for site in (module.calls if module is not None else ())
        if module is not None and at_frame(module, site.node, frame) and site.node.args[1:] and not site.name
    ]
    for call in calls:
        assert module is not None
        if len(calls) == 1 or kind_of_value(module, call.func) in ("Layer", "Model"):
            yield _finding(cause, module, call, Confidence.CERTAIN, [raised_here(failure)])
            return
    yield cause.finding(
        "a Keras 3 layer accepts only tensors as positional arguments, but receives a Python value",
        subject="argument of the layer",
        location=frame.location,
        evidence=[raised_here(failure)],
        fixes=[fix(f"{_REMEDY}: `training=training`")],
        confidence=Confidence.CERTAIN,
    )


def values_by_position(cause: Cause, module: Module) -> Iterator[Finding]:
    """Report layer calls with `training` or a literal after the tensor."""
    for site in module.calls:
        call = site.node
        if site.name or len(call.args) < 2 or any(isinstance(each, ast.Starred) for each in call.args):
            continue
        if not any(_is_value(module, each) for each in call.args[1:]):
            continue
        if kind_of_value(module, call.func) in ("Layer", "Model") and not _is_called_otherwise(module, call):
            yield _finding(cause, module, call, Confidence.LIKELY, [])


def _is_value(module: Module, given: ast.expr) -> bool:
    """Return whether it is a constant, or the `training` argument of a `call`, which is a bool during `fit`."""
    if isinstance(given, ast.Constant):
        return isinstance(given.value, (bool, int, float, str))
    function = module.function_of(given)
    return (
        isinstance(given, ast.Name)
        and given.id == "training"
        and function is not None
        and function.name == "call"
        and "training" in function.parameters
        and any(not each.name for each in module.method_calls(*_TRAINS))
    )


def _class_called(module: Module, call: ast.Call) -> ClassInfo | None:
    made = module.made_by(call.func)
    if made is call.func and isinstance(call.func, ast.Attribute):
        owner = module.class_of(call)
        stores = module.attribute_stores(owner.node).get(call.func.attr, []) if owner is not None else []
        statement = module.parent(stores[0]) if len(stores) == 1 else None
        made = statement.value if isinstance(statement, ast.Assign) else made
    found = module.definition(made.func) if isinstance(made, ast.Call) else None
    return found if isinstance(found, ClassInfo) else None


def _is_called_otherwise(module: Module, call: ast.Call) -> bool:
    """Return whether the custom class defines `__call__`."""
    owner = _class_called(module, call)
    return owner is not None and owner.module.method(owner, "__call__") is not None


def _finding(
    cause: Cause, module: Module, call: ast.Call, confidence: Confidence, evidence: list[Evidence]
) -> Finding:
    values = [each for each in call.args[1:] if _is_value(module, each) or isinstance(each, ast.Name)]
    what = f"`{module.segment(values[0])}`" if len(values) == 1 else "a Python value"
    return cause.finding(
        f"`{module.segment(call.func)}` receives {what} by position, but a Keras 3 layer accepts only tensors there",
        subject="argument of the layer",
        location=module.location(call),
        evidence=evidence
        or [
            Evidence(
                "positional value, which Keras 2 accepted", module.segment(call)[:80], "`training=training`"
            )
        ],
        fixes=[_named(module, call)],
        confidence=confidence,
    )


def _named(module: Module, call: ast.Call) -> Fix:
    """Pass the arguments by the parameter names of the class's `call`, starting at the first value."""
    owner = _class_called(module, call)
    function = owner.module.method(owner, "call") if owner is not None else None
    names = function.parameters[1:] if function is not None else ("inputs", "training")
    first = next((at for at, each in enumerate(call.args) if at and _is_value(module, each)), 1)
    if len(names) < len(call.args) or owner is None and len(call.args) > 2:
        return fix(f"{_REMEDY}: `training=training`")
    edits = [
        Edit(module.location(given), f"{name}={module.segment(given)}")
        for given, name in list(zip(call.args, names, strict=False))[first:]
    ]
    return fix(_REMEDY, edits)

"""Callbacks that expect Keras to set their validation data, as older versions did."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fitdoctor.catalogue import Cause
from fitdoctor.catalogue.graph.traced import at_frame, module_of, raised_here
from fitdoctor.diagnosis import Confidence, Edit, Evidence, Finding
from fitdoctor.edits import fix, insert_before
from fitdoctor.facts import FailureFacts, Unknown
from fitdoctor.failure.patterns import attribute_missing
from fitdoctor.source.callees import is_self
from fitdoctor.source.module import ClassInfo, Module
from fitdoctor.source.project import Project

_GIVEN = "validation_data"


def reads_validation_data(cause: Cause, module: Module) -> Iterator[Finding]:
    """Report `self.validation_data` in a callback that never sets it, once per class."""
    told: list[ClassInfo] = []
    for node in _reads(module):
        owner = module.class_of(node)
        if owner is not None and owner not in told and not _is_set(module, owner):
            told.append(owner)
            yield _finding(cause, module, node, owner, Confidence.LIKELY, [])


def missed_validation_data(
    cause: Cause, failure: FailureFacts, project: Project | Unknown
) -> Iterator[Finding]:
    """Report a callback that read its validation data: missing in Keras 3, None in Keras 2."""
    missing = attribute_missing(failure.message)
    frame = failure.last_user_frame
    if frame is None or not frame.function.startswith("on_"):
        return
    if missing is None or missing.name != _GIVEN:
        if failure.type != "TypeError" or "NoneType" not in failure.message or _GIVEN not in frame.text:
            return
    module = module_of(project, frame)
    for node in _reads(module) if module is not None else ():
        assert module is not None
        owner = module.class_of(node)
        if owner is not None and at_frame(module, node, frame):
            yield _finding(cause, module, node, owner, Confidence.CERTAIN, [raised_here(failure)])
            return
    yield cause.finding(
        "Keras does not set `validation_data` on callbacks",
        subject="validation data in a callback",
        location=frame.location,
        evidence=[raised_here(failure)],
        fixes=[fix("pass the data to the callback when you create it")],
        confidence=Confidence.CERTAIN,
    )


def _reads(module: Module) -> Iterator[ast.Attribute]:
    for node in module.nodes(ast.Attribute):
        if node.attr == _GIVEN and isinstance(node.ctx, ast.Load) and is_self(module, node.value):
            owner = module.class_of(node)
            if owner is not None and owner.kind == "Callback":
                yield node


def _is_set(module: Module, owner: ClassInfo) -> bool:
    """Return whether the class or the program sets the callback's data."""
    if any(_GIVEN in ancestor.module.attribute_stores(ancestor.node) for ancestor in module.ancestry(owner)):
        return True
    return any(
        node.attr == _GIVEN and isinstance(node.ctx, ast.Store) for node in module.nodes(ast.Attribute)
    )


def _finding(
    cause: Cause,
    module: Module,
    node: ast.Attribute,
    owner: ClassInfo,
    confidence: Confidence,
    evidence: list[Evidence],
) -> Finding:
    return cause.finding(
        f"Keras does not set `validation_data` on callbacks such as `{owner.name}`",
        subject="validation data in a callback",
        location=module.location(node),
        evidence=[Evidence("attribute that Keras does not set", observed=_GIVEN), *evidence],
        fixes=[fix("pass the data to the callback when you create it", _handed_over(module, owner))],
        confidence=confidence,
    )


def _handed_over(module: Module, owner: ClassInfo) -> tuple[Edit, ...]:
    """Add `callback.validation_data = (x, y)` before the `fit` call that gets the callback by name."""
    names = {
        target.id
        for site in module.calls
        if module.definition(site.node.func) is owner
        and isinstance(statement := module.parent(site.node), ast.Assign)
        for target in statement.targets
        if isinstance(target, ast.Name)
    }
    for site in module.method_calls("fit"):
        data, callbacks = site.argument(_GIVEN), site.argument("callbacks")
        if data is None or callbacks is None:
            continue
        for name in ast.walk(callbacks):
            if isinstance(name, ast.Name) and name.id in names:
                line = f"{name.id}.{_GIVEN} = {module.segment(data)}"
                return insert_before(module.code(site.node), line)
    return ()

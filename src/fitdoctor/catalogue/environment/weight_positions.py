"""Weights named by position: `add_weight("kernel", …)`; the first argument was the name and is now the shape."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fitdoctor.catalogue import Cause
from fitdoctor.catalogue.graph.traced import module_of
from fitdoctor.diagnosis import Confidence, Edit, Evidence, Finding
from fitdoctor.edits import fix
from fitdoctor.facts import FailureFacts, Unknown
from fitdoctor.patterns import pattern
from fitdoctor.source.module import Module
from fitdoctor.source.project import Project

_ORDER = ("name", "shape", "dtype", "initializer", "regularizer", "trainable", "constraint")
"""The parameters of `add_weight` in Keras 2."""
_REFUSED = pattern(
    r"`name` must be passed as a keyword argument\. Received: add_weight"
    r"|Cannot convert '\w+' to a shape|add_weight\(\) got multiple values for argument"
    r"|Could not interpret initializer identifier: [\[(]"
)
"""The messages of Keras 3.15 and 3.3."""

_WRONG = "the first argument of `add_weight` is the shape in Keras 3, but a name is passed there"
_SUBJECT = "argument name of add_weight"
_REMEDY = "pass the arguments by keyword: `name=`, `shape=`"


def refused_position(cause: Cause, failure: FailureFacts, project: Project | Unknown) -> Iterator[Finding]:
    """Report the rejected `add_weight` call, from the quoted line if the source is not available."""
    frame = failure.last_user_frame
    if frame is None or not _REFUSED.search(failure.message):
        return
    module = module_of(project, frame)
    for found in named_by_position(cause, module, Confidence.CERTAIN) if module is not None else ():
        if found.location is not None and found.location.line <= frame.line <= found.location.end_line:
            yield found
    if module is None and "add_weight(" in frame.text:
        yield cause.finding(
            _WRONG,
            subject=_SUBJECT,
            location=frame.location,
            evidence=[
                Evidence("Keras rejected the call", frame.text, "a shape, or `name=`", fact="failure.message")
            ],
            fixes=[fix(_REMEDY)],
            confidence=Confidence.CERTAIN,
        )


def named_by_position(cause: Cause, module: Module, confidence: Confidence) -> Iterator[Finding]:
    """Report a layer's own `add_weight` calls whose first argument is a string."""
    for site in module.method_calls("add_weight"):
        call, owner = site.node, module.class_of(site.node)
        if owner is None or owner.kind not in ("Layer", "Model", "Metric") or "add_weight" in owner.methods:
            continue
        if not isinstance(call.func, ast.Attribute) or module.segment(call.func.value) != "self":
            continue
        if (
            not call.args
            or len(call.args) > (2 if owner.kind == "Metric" else len(_ORDER))
            or not _is_text(call.args[0])
        ):
            continue
        if any(isinstance(given, ast.Starred) for given in call.args):
            continue
        yield cause.finding(
            _WRONG,
            subject=_SUBJECT,
            location=module.location(call),
            evidence=[
                Evidence("first positional argument", module.segment(call.args[0]), "a shape, or `name=`")
            ],
            fixes=[
                fix(
                    _REMEDY,
                    tuple(
                        Edit(module.location(given), f"{name}={module.segment(given)}")
                        for name, given in zip(_ORDER, call.args, strict=False)
                    ),
                )
            ],
            confidence=confidence,
        )


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr) or isinstance(node, ast.Constant) and isinstance(node.value, str)

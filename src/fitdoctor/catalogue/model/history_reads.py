"""Reads of validation values from the history of a `fit` without validation data."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fitdoctor.catalogue import Cause
from fitdoctor.catalogue.graph.traced import at_frame, module_of, raised_here
from fitdoctor.catalogue.model.logged_values import writes_logs
from fitdoctor.diagnosis import Confidence, Evidence, Finding
from fitdoctor.edits import set_argument, unsafe
from fitdoctor.facts import FailureFacts, Unknown
from fitdoctor.source.conditions import is_conditional
from fitdoctor.source.keras_objects import is_keras_model
from fitdoctor.source.module import Module
from fitdoctor.source.project import Project

_VALIDATES = frozenset({"validation_data", "validation_split", None})
_MOST_POSITIONS = 5
"""Number of `fit` arguments before the validation ones: x, y, batch_size, epochs, verbose."""


def unvalidated_reads(cause: Cause, module: Module, project: Project) -> Iterator[Finding]:
    """Report the first read of such a value for each `fit` call."""
    told: set[ast.Call] = set()
    for node, call in _reads(module):
        if call not in told and not is_conditional(module, node) and not _may_validate_itself(project):
            told.add(call)
            yield _finding(cause, module, node, call, Confidence.LIKELY, [])


def _may_validate_itself(project: Project) -> bool:
    """Whether a custom callback may validate and add its values."""
    return writes_logs(project) or any(
        owner.kind == "Callback" for each in project.modules for owner in each.classes
    )


def failed_read(cause: Cause, failure: FailureFacts, project: Project | Unknown) -> Iterator[Finding]:
    """Explain the read that raised a `KeyError`."""
    frame = failure.last_user_frame
    module = module_of(project, frame)
    if failure.type == "KeyError" and frame is not None and module is not None:
        for node, call in _reads(module):
            if at_frame(module, node, frame) and repr(_key(node)) in failure.message:
                yield _finding(cause, module, node, call, Confidence.CERTAIN, [raised_here(failure)])
                return


def _reads(module: Module) -> Iterator[tuple[ast.Subscript, ast.Call]]:
    """Yield `history.history["val_loss"]`, with the `fit` call without validation data."""
    for node in module.nodes(ast.Subscript):
        holder = node.value
        if (
            not _key(node).startswith("val_")
            or not isinstance(holder, ast.Attribute)
            or holder.attr != "history"
        ):
            continue
        call = module.made_by(holder.value)
        if isinstance(call, ast.Call) and _fits_without_validation(module, call):
            yield node, call


def _key(node: ast.Subscript) -> str:
    return str(node.slice.value) if isinstance(node.slice, ast.Constant) else ""


def _fits_without_validation(module: Module, call: ast.Call) -> bool:
    fits = isinstance(call.func, ast.Attribute) and call.func.attr == "fit"
    if not fits or len(call.args) > _MOST_POSITIONS or any(isinstance(one, ast.Starred) for one in call.args):
        return False
    assert isinstance(call.func, ast.Attribute)
    return is_keras_model(module, call.func.value) and not any(
        word.arg in _VALIDATES for word in call.keywords
    )


def _finding(
    cause: Cause,
    module: Module,
    node: ast.Subscript,
    call: ast.Call,
    confidence: Confidence,
    evidence: list[Evidence],
) -> Finding:
    return cause.finding(
        f"the history has no `{_key(node)}`: `fit` gets no validation data",
        subject=f"history key {_key(node)}",
        location=module.location(node),
        evidence=[
            Evidence(
                claim="the history comes from this call",
                observed="no validation data",
                location=module.location(call),
            ),
            *evidence,
        ],
        fixes=[
            unsafe("validate on part of the data", set_argument(module.code(call), "validation_split", "0.2"))
        ],
        confidence=confidence,
    )

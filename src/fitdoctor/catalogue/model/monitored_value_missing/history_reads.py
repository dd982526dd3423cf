"""Reads of keys that the history of a `fit` does not have."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fitdoctor.catalogue import Cause
from fitdoctor.catalogue.model.monitored_value_missing.logged_values import writes_logs
from fitdoctor.catalogue.words import listing
from fitdoctor.diagnosis import Confidence, Edit, Evidence, Finding
from fitdoctor.edits import fix, set_argument, unsafe
from fitdoctor.facts import FailureFacts, Unknown
from fitdoctor.failure.failed_line import at_frame, module_of, raised_here
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


# --- keys that no metric has ------------------------------------------------------------------------------------------


def unknown_keys(cause: Cause, module: Module, project: Project) -> Iterator[Finding]:
    """Report the first read of a key that the history cannot have, for each `fit` call."""
    told: set[ast.Call] = set()
    for node in _history_reads(module):
        call = module.made_by(node.value.value)  # type: ignore[attr-defined]
        if not isinstance(call, ast.Call) or call in told or is_conditional(module, node):
            continue
        names = _names_of(module, call, project)
        if names is None or _key(node) in names or _may_validate_itself(project):
            continue
        told.add(call)
        yield _unknown(cause, module, node, call, names, Confidence.LIKELY, [])


def failed_key(cause: Cause, failure: FailureFacts, project: Project | Unknown) -> Iterator[Finding]:
    """Explain the `KeyError` of a key that no metric has."""
    frame = failure.last_user_frame
    module = module_of(project, frame)
    if failure.type != "KeyError" or frame is None or module is None or isinstance(project, Unknown):
        return
    for node in _history_reads(module):
        if not at_frame(module, node, frame) or repr(_key(node)) != failure.message.strip():
            continue
        made = module.made_by(node.value.value)  # type: ignore[attr-defined]
        call = made if isinstance(made, ast.Call) else None
        names = _names_of(module, call, project) if call is not None else None
        if _key(node).startswith("val_") and call is not None and _fits_without_validation(module, call):
            return  # told as such
        yield _unknown(cause, module, node, call, names, Confidence.CERTAIN, [raised_here(failure)])
        return


def _history_reads(module: Module) -> Iterator[ast.Subscript]:
    """Yield `history.history["accuracy"]`."""
    for node in module.nodes(ast.Subscript):
        holder = node.value
        # `acc` is the older name of a metric that is there: another cause.
        told = _key(node) and _key(node).removeprefix("val_") != "acc"
        if told and isinstance(holder, ast.Attribute) and holder.attr == "history":
            yield node


def _names_of(module: Module, call: ast.Call, project: Project) -> tuple[str, ...] | None:
    """Return the keys of the history that a `fit` call returns; None if unknown."""
    from fitdoctor.catalogue.model.monitored_value_missing.value_names import available
    from fitdoctor.source.fits.fit_sites import fit_sites

    place = module.location(call)
    for site in fit_sites(module):
        code = site.fit.code
        if isinstance(code, Unknown) or code.location != place or site.fit.method != "fit":
            continue
        return available(site.model, site.fit, project) if site.metrics_known else None
    return None


def _unknown(
    cause: Cause,
    module: Module,
    node: ast.Subscript,
    call: ast.Call | None,
    names: tuple[str, ...] | None,
    confidence: Confidence,
    evidence: list[Evidence],
) -> Finding:
    from fitdoctor.catalogue.model.monitored_value_missing.value_names import ADDED, closest, twins

    key = _key(node)
    there = [name for name in names or () if name not in ADDED]
    other = closest(key, names or ADDED)
    same = other is not None and other.removeprefix("val_") in twins(key.removeprefix("val_"))
    if same and other is not None:
        text = module.segment(node.slice).replace(key, other)
        remedy = fix(f"read `{other}`", (Edit(module.location(node.slice), text),))
    else:
        metric = key.removeprefix("val_")
        remedy = fix(
            f'add the metric to `compile`: `metrics=["{metric}"]`, or read a key that the history has'
        )
    keys = f"it has {listing(there, 8)}" if there else "its keys are the names of the compiled metrics"
    if same and other in ADDED:
        keys = f"this Keras calls it `{other}`, and only callbacks that change the learning rate add it"
        there = []
    return cause.finding(
        f"the history has no `{key}`: {keys}",
        module.location(node),
        Evidence(
            "key read",
            f"`{key}`",
            listing(there, 8),
            location=module.location(call) if call is not None else None,
        ),
        *evidence,
        remedy,
        subject=f"history key {key}",
        confidence=confidence,
    )


# --- validation values without validation data ------------------------------------------------------------------------


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
        f"the history has no `{_key(node)}`: `fit` receives no validation data",
        module.location(node),
        Evidence("the history comes from this call", "no validation data", location=module.location(call)),
        *evidence,
        unsafe("validate on part of the data", set_argument(module.code(call), "validation_split", "0.2")),
        subject=f"history key {_key(node)}",
        confidence=confidence,
    )

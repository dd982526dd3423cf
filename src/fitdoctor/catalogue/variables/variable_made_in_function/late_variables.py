"""An optimizer or model that creates its variables after the first trace of a `tf.function`."""

from __future__ import annotations

import ast

from fitdoctor.catalogue import Cause
from fitdoctor.catalogue.knowledge.tracing.renewed_in_loops import (
    APPLYING,
    Renewed,
    compiled_for_each,
    renewed_optimizers,
)
from fitdoctor.diagnosis import Evidence, Finding, Fix
from fitdoctor.edits import fix
from fitdoctor.facts import FailureFacts, Frame
from fitdoctor.failure.failed_line import at_frame, raised_here
from fitdoctor.failure.frames import is_keras
from fitdoctor.failure.traced_code import library_behind
from fitdoctor.source.keras_objects import kind_of_call
from fitdoctor.source.module import CallSite, Module


def late_optimizer(cause: Cause, failure: FailureFacts, module: Module | None) -> Finding | None:
    """Return a finding if the user's last line applies gradients and Keras creates the optimizer's variables there.

    Args:
        cause: the cause to report.
        failure: the failure.
        module: the file of the user's last line, if known.
    """
    frame = failure.last_user_frame
    if frame is None or not any("/optimizers/" in each.path for each in library_behind(failure)):
        return None
    site = _at(module, frame) if module is not None else None
    if site is None and not any(f".{name}(" in frame.text for name in APPLYING):
        return None
    made = _made(module, site) if module is not None and site is not None else None
    location = made[0].location(made[1]) if made is not None else frame.location
    name = made[0].code(made[1]).target if made is not None else ""
    return cause.certain(
        "a second optimizer creates its variables in a `tf.function` that is already traced",
        location,
        raised_here(failure),
        Evidence("an optimizer creates its variables at its first step", location=frame.location),
        fix(f"create them before the first step: `{name or 'optimizer'}.build(model.trainable_variables)`"),
        _for_each(module),
        subject=f"optimizer {name}" if name else "optimizer",
    )


def renewed(cause: Cause, found: Renewed) -> Finding:
    """Return the same finding from source: a loop creates the optimizer, and a function outside it is traced once.

    Args:
        cause: the cause to report.
        found: the optimizer and the function.
    """
    return cause.finding(
        f"`{found.function.name}` is a `tf.function` that receives a new optimizer in each iteration, but only the first "
        "one can create its variables there",
        found.module.location(found.made),
        Evidence(
            "an optimizer creates its variables at its first step", location=found.module.location(found.call)
        ),
        fix(_EACH, compiled_for_each(found)),
        subject=f"optimizer {found.name}",
    )


_EACH = "create a `tf.function` for each model and its optimizer"


def _for_each(module: Module | None) -> Fix:
    found = next(renewed_optimizers(module), None) if module is not None else None
    return fix(_EACH, compiled_for_each(found) if found is not None else ())


def late_model(cause: Cause, failure: FailureFacts, module: Module) -> Finding | None:
    """Return the same finding for a model without an input shape, which creates its weights at its first call.

    Args:
        cause: the cause to report.
        failure: the failure.
        module: the file of the user's last line.
    """
    frame = failure.last_user_frame
    if frame is None or not any(is_keras(each.path) for each in library_behind(failure)):
        return None
    for site in module.calls:
        if site.name or not isinstance(site.node.func, ast.Name) or not at_frame(module, site.node, frame):
            continue
        origin = module.origin(site.node.func)
        made = origin.node if isinstance(origin.node, ast.Call) else None
        around = origin.module.function_of(made) if made is not None else None
        given = site.function is not None and site.node.func.id in site.function.parameters
        if made is None and not given or around is not None and around.traced is not None:
            continue  # a variable created in the function itself is FIT502
        if made is not None and kind_of_call(origin.module, made) not in ("Model", "Layer"):
            continue
        return cause.finding(
            "a second model creates its weights in a `tf.function` that is already traced",
            origin.module.location(made) if made is not None else frame.location,
            raised_here(failure),
            Evidence("a model without an input shape is built at its first call", location=frame.location),
            fix("build the model before the first step: add an `Input`, or call it once on a batch"),
            _for_each(module),
            subject=f"model {site.node.func.id}",
        )
    return None


def _at(module: Module, frame: Frame) -> CallSite | None:
    sites = module.method_calls(*APPLYING)
    return next((site for site in sites if at_frame(module, site.node, frame)), None)


def _made(module: Module, site: CallSite) -> tuple[Module, ast.Call] | None:
    """Return where the optimizer is created, also if it is passed as an argument."""
    origin = module.origin(site.receiver)
    if isinstance(origin.node, ast.Call) and kind_of_call(origin.module, origin.node) == "Optimizer":
        return origin.module, origin.node
    return None

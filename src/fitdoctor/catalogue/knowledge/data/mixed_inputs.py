"""Several inputs of which some are tensors and some are not."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fitdoctor.catalogue import Cause
from fitdoctor.catalogue.knowledge.tracing.gradient_ways import tape_cut_of_model
from fitdoctor.diagnosis import Finding
from fitdoctor.edits import fix
from fitdoctor.facts import FailureFacts
from fitdoctor.failure.failed_line import function_at, module_of, raised_here
from fitdoctor.source.project import Project
from fitdoctor.source.traced.gradients import PREDICTS, Cut

_SAID = "you cannot mix tensors and non-tensors"


def mixed_inputs(cause: Cause, failure: FailureFacts, project: Project) -> Iterator[Finding]:
    """Report a model called with both arrays and tensors."""
    frame = failure.last_user_frame
    if frame is None or _SAID not in failure.message:
        return
    if predicted_under_tape(failure, project) is not None:
        return  # a tensor would be accepted, but no gradient would flow (FIT505)
    yield cause.certain(
        "the model is called with tensors and arrays, but Keras does not accept a mix",
        frame.location,
        raised_here(failure),
        fix("convert all of them to tensors: `tf.convert_to_tensor(…)`"),
        subject="inputs of the call",
    )


def predicted_under_tape(failure: FailureFacts, project: Project) -> Cut | None:
    """Return the `predict` call under a tape that produced the array, if the failing function has one."""
    frame = failure.last_user_frame
    module = module_of(project, frame)
    if frame is None or module is None or _SAID not in failure.message or "GradientTape" not in module.text:
        return None
    cut = tape_cut_of_model(module)
    asks = cut.node.func if cut is not None and isinstance(cut.node, ast.Call) else None
    if cut is None or not isinstance(asks, ast.Attribute) or asks.attr not in PREDICTS:
        return None
    here = function_at(module, frame.line, frame.cell)
    return cut if here is not None and module.function_of(cut.node) == here else None

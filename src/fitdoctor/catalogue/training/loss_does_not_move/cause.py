"""Loss that does not change.

## What happens

The loss stays about the same, epoch after epoch.

## Why

The learning rate is far too small. Or it is far too large and has driven every unit into a region without gradient
(dead relu units). Or all kernels start at zero, so every unit computes and learns the same. Or the gradient of the
loss is 0 from the first step, as with a relu output that is 0 for every sample; the loss is then identical in every
epoch, to the last digit.

## Fix

Use a typical learning rate (1e-3 for Adam, 1e-2 for SGD) and the default initializers.

## Known limits

Labels that are unrelated to the data also keep the loss constant; without one of the reasons above, nothing is
reported. At least four epochs are needed.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from fitdoctor.catalogue import Cause
from fitdoctor.catalogue.knowledge.models.learning_rate import rate_edit, rate_of, rate_place
from fitdoctor.catalogue.words import number, place
from fitdoctor.diagnosis import Evidence, Finding, Severity
from fitdoctor.edits import fix, unsafe
from fitdoctor.facts import DataFacts, LayerFacts, ModelFacts, TrainingFacts, Unknown
from fitdoctor.source.project import Project

CAUSE = Cause(id="FIT002", slug="loss-does-not-move", severity=Severity.WARNING, stage=2)

EPOCHS = 4
SMALL, LARGE = 1e-6, 1.0
LARGE_FOR_SGD = 0.05


@CAUSE.while_training
def from_training(
    training: TrainingFacts, model: ModelFacts, data: DataFacts, project: Project
) -> Iterator[Finding]:
    """Report a constant loss if a reason is found."""
    losses = training.losses
    if data.role != "training" or len(losses) < EPOCHS or not all(map(math.isfinite, losses)):
        return
    if abs(losses[-1]) < 1e-6:
        return
    seen = Evidence("loss by epoch", ", ".join(f"{loss:.5g}" for loss in losses[:6]), fact="training.losses")
    rate = rate_of(model)
    zero = _all_zero(model)
    if rate is not None and rate < SMALL and _moved(losses) < 1e-3:
        yield CAUSE.finding(
            f"the loss does not change: the learning rate of {rate:g} is too small",
            rate_place(model, project),
            seen,
            unsafe("use a typical learning rate", rate_edit(model, project, 1e-3)),
            subject="training",
        )
    elif zero is not None and _moved(losses) < 1e-2:
        yield CAUSE.finding(
            "the loss does not change: all kernels start at zero, so all units stay identical",
            place(zero.code),
            seen,
            fix("use the default kernel initializer"),
            subject="training",
        )
    elif rate is not None and _stuck(losses, rate, model):
        yield CAUSE.finding(
            f"the loss no longer changes: a learning rate of {number(rate)} has driven the units into a region "
            "without gradient",
            rate_place(model, project),
            seen,
            unsafe("use a typical learning rate", rate_edit(model, project, 1e-3)),
            subject="training",
        )
    elif (
        # The loss of a converged model is constant, too.
        training.first and rate is not None and rate >= SMALL and _never_moved(losses) and not model.overrides
    ):
        yield _without_gradient(model, seen)


def _never_moved(losses: tuple[float, ...]) -> bool:
    """Whether the loss is identical in every epoch, except for rounding."""
    return max(losses) - min(losses) <= 1e-6 * abs(losses[-1])


def _without_gradient(model: ModelFacts, seen: Evidence) -> Finding:
    """Build the finding for a zero gradient, caused by a dead relu output or by the loss itself."""
    output = next(
        (
            layer
            for layer in model.every_layer()
            if model.output_paths and model.output_paths[0][:1] == (layer.name,)
        ),
        None,
    )
    dead = output is not None and (output.setting("activation") or "") == "relu"
    return CAUSE.finding(
        "the loss does not change: the relu output is 0 for every sample, so its gradient is 0"
        if dead
        else "the loss is identical in every epoch, to the last digit: its gradient is 0",
        place(output.code if dead and output is not None else None, model.compile_code),
        seen,
        fix("use a linear output activation")
        if dead
        else fix("find the operation that blocks the gradient: a hard threshold, a clipped or dead output"),
        subject="training",
    )


def _stuck(losses: tuple[float, ...], rate: float, model: ModelFacts) -> bool:
    """Whether the first steps were so large that no unit has a gradient any more."""
    if "Ada" in model.optimizer:
        return rate >= LARGE and min(losses[2:]) > 0.95 * losses[1]
    if rate >= LARGE and min(losses[2:]) > 0.8 * losses[1] and _worse_than_chance(losses, model):
        return True
    # With dead relu units only the last bias is trained: after its peak the loss settles and then repeats to the last
    # digit, which the loss of a network that learns never does.
    last = losses[-EPOCHS:]
    still = max(last) - min(last) <= 1e-6 * abs(losses[-1])
    relu = any((layer.setting("activation") or "") == "relu" for layer in model.every_layer())
    return rate >= LARGE_FOR_SGD and relu and still and max(losses[:3]) > 4 * losses[-1]


def _worse_than_chance(losses: tuple[float, ...], model: ModelFacts) -> bool:
    """Whether a classifier stays far above the loss of uniform predictions."""
    if len(model.losses) != 1 or isinstance(model.outputs, Unknown) or len(model.outputs) != 1:
        return False
    shape = model.outputs[0].shape
    units = shape[-1] if isinstance(shape, tuple) and shape else None
    if units is None or not model.losses[0].name.endswith("crossentropy"):
        return False
    return min(losses[2:]) > 1.5 * math.log(max(units, 2))


def _moved(losses: tuple[float, ...]) -> float:
    """Return the relative change of the loss from the first epoch to the last."""
    return abs(losses[0] - losses[-1]) / abs(losses[-1])


def _all_zero(model: ModelFacts) -> LayerFacts | None:
    """Return the first layer if the kernels of all layers start at zero."""
    dense = [layer for layer in model.every_layer() if layer.setting("units") is not None]
    zero = [layer for layer in dense if (layer.setting("kernel_initializer") or "").lower() == "zeros"]
    return zero[0] if len(zero) > 1 and len(zero) == len(dense) else None

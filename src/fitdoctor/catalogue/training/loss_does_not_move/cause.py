"""The loss does not move.

## What happens

Epoch after epoch the loss is about the same.

## Why

A learning rate far too small; one far too large, which has driven every unit into a region without gradient (a dead
relu); kernels that all start at zero, so that every unit computes, and learns, the same; or a loss whose gradient is 0
from the first step on, such as that of a relu output which gives 0 for every sample. Such a loss is the same to the last
digit in every epoch.

## Fix

A learning rate of the usual size (1e-3 for Adam, 1e-2 for SGD), and the default initialisers.

## Known limits

Labels that have nothing to do with the data keep the loss where it is, too: without one of the reasons above nothing is
reported. At least four epochs are needed.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from fitdoctor.catalogue import Cause
from fitdoctor.catalogue.training.learning_rate import rate_edit, rate_of, rate_place
from fitdoctor.catalogue.words import number, place
from fitdoctor.diagnosis import Confidence, Evidence, Finding, Severity
from fitdoctor.edits import fix, unsafe
from fitdoctor.facts import DataFacts, LayerFacts, ModelFacts, TrainingFacts, Unknown
from fitdoctor.source.project import Project

CAUSE = Cause(id="FIT002", slug="loss-does-not-move", severity=Severity.WARNING)

EPOCHS = 4
SMALL, LARGE = 1e-6, 1.0
LARGE_FOR_SGD = 0.05


@CAUSE.while_training
def from_training(
    training: TrainingFacts, model: ModelFacts, data: DataFacts, project: Project | Unknown
) -> Iterator[Finding]:
    """The loss stays where it is, and there is a reason."""
    losses = training.losses
    if data.role != "training" or len(losses) < EPOCHS or not all(map(math.isfinite, losses)):
        return
    if abs(losses[-1]) < 1e-6:
        return
    seen = Evidence(
        claim="loss of the epochs",
        observed=", ".join(f"{loss:.5g}" for loss in losses[:6]),
        fact="training.losses",
    )
    rate = rate_of(model)
    zero = _all_zero(model)
    if rate is not None and rate < SMALL and _moved(losses) < 1e-3:
        yield CAUSE.finding(
            f"the loss does not move: the learning rate is {rate:g}",
            subject="training",
            location=rate_place(model, project),
            evidence=[seen],
            fixes=[unsafe("use a learning rate of the usual size", rate_edit(model, project, 1e-3))],
            confidence=Confidence.LIKELY,
        )
    elif zero is not None and _moved(losses) < 1e-2:
        yield CAUSE.finding(
            "the loss does not move: the kernels start at zero, so that all units stay the same",
            subject="training",
            location=place(zero.code),
            evidence=[seen],
            fixes=[fix("leave the initialiser of the kernels as it is by default")],
            confidence=Confidence.LIKELY,
        )
    elif rate is not None and _stuck(losses, rate, model):
        yield CAUSE.finding(
            f"the loss does not move any more: a learning rate of {number(rate)} has driven the units where they "
            "have no gradient",
            subject="training",
            location=rate_place(model, project),
            evidence=[seen],
            fixes=[unsafe("use a learning rate of the usual size", rate_edit(model, project, 1e-3))],
            confidence=Confidence.LIKELY,
        )
    elif (
        # A model that has learned what it can stays where it is, too.
        training.first and rate is not None and rate >= SMALL and _never_moved(losses) and not model.overrides
    ):
        yield _without_gradient(model, seen)


def _never_moved(losses: tuple[float, ...]) -> bool:
    """Whether every epoch ended with the same loss, but for the order in which it was summed up."""
    return max(losses) - min(losses) <= 1e-6 * abs(losses[-1])


def _without_gradient(model: ModelFacts, seen: Evidence) -> Finding:
    """No step has changed what the loss is computed from: by an output of relu that is 0, or by the loss itself."""
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
        "the loss does not move: the relu of the output gives 0 everywhere, where it has no gradient"
        if dead
        else "the loss is the same in every epoch, to the last digit: its gradient is 0",
        subject="training",
        location=place(output.code if dead and output is not None else None, model.compile_code),
        evidence=[seen],
        fixes=[
            fix("leave the activation of the output linear")
            if dead
            else fix(
                "look for what the loss takes no gradient through: a hard decision, a clipped or dead output"
            )
        ],
        confidence=Confidence.LIKELY,
    )


def _stuck(losses: tuple[float, ...], rate: float, model: ModelFacts) -> bool:
    """Whether the first steps went so far that nothing has a gradient any more."""
    if "Ada" in model.optimizer:
        return rate >= LARGE and min(losses[2:]) > 0.95 * losses[1]
    if rate >= LARGE and min(losses[2:]) > 0.8 * losses[1] and _worse_than_chance(losses, model):
        return True
    # Relu units that are dead leave only the last bias to train: the loss comes to rest far below where it was thrown
    # to, at the same number to the last digit. A network that learns never repeats its loss so exactly.
    last = losses[-EPOCHS:]
    still = max(last) - min(last) <= 1e-6 * abs(losses[-1])
    relu = any((layer.setting("activation") or "") == "relu" for layer in model.every_layer())
    return rate >= LARGE_FOR_SGD and relu and still and max(losses[:3]) > 4 * losses[-1]


def _worse_than_chance(losses: tuple[float, ...], model: ModelFacts) -> bool:
    """Whether a classifier never came near the loss of one that gives every class the same probability."""
    if len(model.losses) != 1 or isinstance(model.outputs, Unknown) or len(model.outputs) != 1:
        return False
    shape = model.outputs[0].shape
    units = shape[-1] if isinstance(shape, tuple) and shape else None
    if units is None or not model.losses[0].name.endswith("crossentropy"):
        return False
    return min(losses[2:]) > 1.5 * math.log(max(units, 2))


def _moved(losses: tuple[float, ...]) -> float:
    """How far the loss moved from the first epoch to the last, as a share."""
    return abs(losses[0] - losses[-1]) / abs(losses[-1])


def _all_zero(model: ModelFacts) -> LayerFacts | None:
    """The first of several layers, all of whose kernels start at zero."""
    dense = [layer for layer in model.every_layer() if layer.setting("units") is not None]
    zero = [layer for layer in dense if (layer.setting("kernel_initializer") or "").lower() == "zeros"]
    return zero[0] if len(zero) > 1 and len(zero) == len(dense) else None

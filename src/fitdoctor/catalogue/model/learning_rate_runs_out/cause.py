"""Learning-rate schedule that ends long before the training.

## What happens

Training runs to its end, but the loss stops improving early. The learning rate of the optimizer is at its last value,
often 0, after a small part of the steps: `CosineDecay(0.001, decay_steps=epochs)` reaches 0 after that many *batches*.

## Why

A schedule counts steps, one per batch. Its `decay_steps` or boundaries were given in epochs, for one epoch instead of
all of them, or for another batch size or amount of data.

## Fix

Give the number of steps: `steps_per_epoch * epochs`, with `steps_per_epoch = math.ceil(len(x_train) / batch_size)`. For
rates per epoch, use the callback `LearningRateScheduler` instead of a schedule.

## Known limits

Custom schedules and `CosineDecayRestarts` are not checked. A schedule whose last rate still trains is reported only
if it ends within as many steps as there are epochs.
"""

from __future__ import annotations

from collections.abc import Iterator

from fitdoctor.catalogue import Cause, mentions
from fitdoctor.catalogue.words import place
from fitdoctor.diagnosis import Confidence, Edit, Evidence, Finding, Severity
from fitdoctor.edits import fix, unsafe
from fitdoctor.facts import Code, DataFacts, FitFacts, ModelFacts, ScheduleFacts

CAUSE = Cause(id="FIT330", slug="learning-rate-runs-out", severity=Severity.WARNING)

_VANISHED = 1e-3
"""The part of its highest value below which a rate trains next to nothing."""
_FEW_STEPS, _FEW_EPOCHS = 8, 3


@CAUSE.in_source
@CAUSE.before_fit
@mentions("Decay")
def from_call(model: ModelFacts, fit: FitFacts, data: DataFacts) -> Iterator[Finding]:
    """Compare the steps of the schedule with the steps that the call asks for."""
    schedule = model.schedule
    if schedule is None or data.role != "training" or fit.method != "fit":
        return
    steps = fit.steps_per_epoch or (data.batches if isinstance(data.batches, int) else None)
    if steps is None or steps * fit.epochs < _FEW_STEPS * _FEW_EPOCHS:
        return
    total = steps * fit.epochs
    gone = schedule.last <= _VANISHED * schedule.highest
    in_epochs = schedule.steps <= fit.epochs and steps >= _FEW_STEPS and fit.epochs >= _FEW_EPOCHS
    if (gone and schedule.steps * 3 <= total) or (in_epochs and schedule.last < schedule.highest):
        yield _finding(schedule, fit, steps, gone)


def _finding(schedule: ScheduleFacts, fit: FitFacts, steps: int, gone: bool) -> Finding:
    total = steps * fit.epochs
    left = "is next to 0" if gone else f"stays at {schedule.last:g}"
    return CAUSE.finding(
        f"the learning rate {left} after {schedule.steps:,} of {total:,} steps: `{schedule.name}` counts steps, not epochs",
        place(schedule.code),
        Evidence(
            "steps of the schedule",
            f"{schedule.steps:,}",
            f"{total:,} ({fit.epochs:,} epochs of {steps:,} steps)",
            fact="model.schedule",
            location=place(fit.code),
        ),
        unsafe(
            f"multiply the epochs by the {steps:,} steps per epoch",
            _in_steps(schedule, steps) if schedule.steps <= fit.epochs else (),
        )
        if schedule.steps <= fit.epochs
        else fix(f"let the schedule last for all {total:,} steps"),
        subject="learning rate",
        confidence=Confidence.CERTAIN if gone else Confidence.LIKELY,
    )


def _in_steps(schedule: ScheduleFacts, steps: int) -> tuple[Edit, ...]:
    """Multiply `decay_steps`, or each of the boundaries."""
    code = schedule.code
    listed = schedule.name == "PiecewiseConstantDecay"
    name, position = ("boundaries", 0) if listed else ("decay_steps", 1)
    argument = code.argument(name, position) if isinstance(code, Code) else None
    if argument is None:
        return ()
    if listed:
        return (Edit(argument.location, f"[epoch * {steps} for epoch in {argument.text}]"),)
    simple = argument.text.replace(".", "").replace("_", "").isalnum()
    text = argument.text if simple else f"({argument.text})"
    return (Edit(argument.location, f"{text} * {steps}"),)

"""Learning-rate schedule that ends long before the training.

## What happens

Training runs to its end, but the loss stops improving early. The learning rate of the optimizer is at its last value,
often 0, after a small part of the steps: `CosineDecay(0.001, decay_steps=epochs)` reaches 0 after that many *batches*.

## Why

A schedule counts steps, one per batch. Its `decay_steps` or boundaries were given in epochs, for one epoch instead of
all of them, or for another batch size or amount of data. A function for `LearningRateScheduler` gets the current
rate, which is the one of the epoch before. So `lr * 0.5 ** epoch` compounds: after ten epochs, the rate is not 0.5 ** 9 but
0.5 ** 45 of the first one.

## Fix

Give the number of steps: `steps_per_epoch * epochs`, with `steps_per_epoch = math.ceil(len(x_train) / batch_size)`. For
rates per epoch, use the callback `LearningRateScheduler` instead of a schedule. In its function, compute the rate from the
first one, or multiply `lr` by the same factor in each epoch.

## Known limits

Custom schedules and `CosineDecayRestarts` are not checked, and functions for `LearningRateScheduler` only for powers and
exponentials. A schedule whose last rate still trains is reported only
if it ends within as many steps as there are epochs.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fitdoctor.catalogue import Cause, mentions
from fitdoctor.catalogue.words import place
from fitdoctor.diagnosis import Confidence, Edit, Evidence, Finding, Severity
from fitdoctor.edits import fix, unsafe
from fitdoctor.facts import Code, DataFacts, FitFacts, ModelFacts, ScheduleFacts
from fitdoctor.source.callees import function_given
from fitdoctor.source.module import Module

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


@CAUSE.rule("LearningRateScheduler")
def compounded(module: Module) -> Iterator[Finding]:
    """Find functions for `LearningRateScheduler` that multiply the last rate by a power that grows with the epoch."""
    for site in module.calls_to("keras.callbacks.LearningRateScheduler"):
        given = site.argument("schedule", 0)
        function = function_given(module, given) if given is not None else None
        parameters = function.node.args.args if function is not None else []
        if function is None or len(parameters) != 2:
            continue
        where, node = function.module, function.node
        epoch, rate = (each.arg for each in parameters)
        for product in (each for each in ast.walk(node) if isinstance(each, ast.BinOp)):
            if not isinstance(product.op, ast.Mult):
                continue
            factors = _factors(product)
            power = next((each for each in factors if _vanishes(where, each, epoch)), None)
            if power is None or not any(isinstance(each, ast.Name) and each.id == rate for each in factors):
                continue
            yield CAUSE.finding(
                f"`{rate}` is the rate of the epoch before, so its factor `{where.segment(power)}` compounds: it "
                "shrinks faster from epoch to epoch",
                where.location(product),
                Evidence("called once per epoch, with the current rate", location=module.location(site.node)),
                unsafe(
                    f"compute the rate from the first one, or multiply `{rate}` by the same factor in each epoch"
                ),
                subject="learning rate",
            )
            break


def _factors(product: ast.expr) -> list[ast.expr]:
    if isinstance(product, ast.BinOp) and isinstance(product.op, ast.Mult):
        return [*_factors(product.left), *_factors(product.right)]
    return [product]


def _vanishes(module: Module, factor: ast.expr, epoch: str) -> bool:
    """Whether a factor is a power or an exponential of the epoch."""
    name = module.called(factor).rpartition(".")[2] if isinstance(factor, ast.Call) else ""
    if isinstance(factor, ast.BinOp) and isinstance(factor.op, ast.Pow):
        exponent: ast.expr = factor.right
    elif isinstance(factor, ast.Call) and name in ("exp", "pow", "power") and factor.args:
        exponent = factor.args[-1]
    else:
        return False
    return any(isinstance(each, ast.Name) and each.id == epoch for each in ast.walk(exponent))

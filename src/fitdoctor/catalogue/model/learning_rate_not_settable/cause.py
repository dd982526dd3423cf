"""Callback that sets a scheduled learning rate.

## What happens

`TypeError: This optimizer was created with a `LearningRateSchedule` object as its `learning_rate` constructor argument,
hence its learning rate is not settable.` With `LearningRateScheduler`, that happens in the first epoch; with
`ReduceLROnPlateau`, when training first stops improving, which may be after hours.

Keras 2 raises this only if a custom callback assigns to `optimizer.learning_rate`. Its two built-in callbacks set a value
that nothing reads, so they have no effect. With an optimizer from `optimizers.legacy`, they raise `AttributeError:
'ExponentialDecay' object has no attribute 'dtype'`.

## Why

An optimizer created with a schedule computes its learning rate from the step count. Nothing else can set it.

## Fix

Keep one of the two: pass the initial learning rate to the optimizer as a number, or remove the callback.

## Known limits

A custom callback that sets the learning rate is reported only after the failure.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from fitdoctor.catalogue import Cause, mentions
from fitdoctor.catalogue.knowledge.models.learning_rate import schedule_of
from fitdoctor.catalogue.words import place
from fitdoctor.diagnosis import Confidence, Edit, Evidence, Finding, Fix, Location, Severity
from fitdoctor.edits import fix, unsafe
from fitdoctor.facts import FailureFacts, FitFacts, ModelFacts, Unknown
from fitdoctor.failure.failed_line import raised_here
from fitdoctor.records import replace
from fitdoctor.source.project import Project

CAUSE = Cause(
    id="FIT325",
    slug="learning-rate-not-settable",
    severity=Severity.ERROR,
    raises=("TypeError", "AttributeError", "ValueError"),
    # Raised when the callback acts.
    stage=2,
)

_SAID = "hence its learning rate is not settable"
_LEGACY = re.compile(
    r"'(?:ExponentialDecay|PiecewiseConstantDecay|PolynomialDecay|InverseTimeDecay|CosineDecay|CosineDecayRestarts)'"
    r" object has no attribute 'dtype'"
)
_ACTS = {
    "LearningRateScheduler": "at the start of every epoch",
    "ReduceLROnPlateau": "when training stops improving",
}


@CAUSE.likely_in_source
@CAUSE.before_fit
@mentions("LearningRateScheduler", "ReduceLROnPlateau")
def from_call(model: ModelFacts, fit: FitFacts, project: Project) -> Iterator[Finding]:
    """Report a callback that sets the learning rate of an optimizer with a schedule."""
    rate = dict(model.optimizer_settings).get("learning_rate", "")
    if fit.method != "fit" or not rate.isidentifier():
        return
    for callback in fit.callbacks:
        if callback.class_name in _ACTS and model.keras == 2:
            yield replace(
                _finding(
                    f"`{callback.class_name}` has no effect: a schedule (`{rate}`) sets the learning rate",
                    place(callback.code, fit.code),
                    [Evidence("learning rate of the optimizer", rate, "a number")],
                    _number_instead(model, project),
                    Confidence.CERTAIN,
                ),
                severity=Severity.WARNING,
            )
        elif callback.class_name in _ACTS:
            yield _finding(
                f"`{callback.class_name}` sets the learning rate {_ACTS[callback.class_name]}, "
                f"but the optimizer has a schedule (`{rate}`)",
                place(callback.code, fit.code),
                [Evidence("learning rate of the optimizer", rate, "a number")],
                _number_instead(model, project),
                Confidence.CERTAIN if callback.class_name == "LearningRateScheduler" else Confidence.LIKELY,
            )


@CAUSE.after_failure
def from_failure(
    failure: FailureFacts, model: ModelFacts | Unknown, fit: FitFacts | Unknown, project: Project
) -> Iterator[Finding]:
    """Explain the Keras error."""
    if _SAID not in failure.message and not _LEGACY.search(failure.message):
        return
    callbacks = fit.callbacks if isinstance(fit, FitFacts) else ()
    acting = next((each.code for each in callbacks if each.class_name in _ACTS), None)
    yield _finding(
        "a callback sets the learning rate, but the optimizer has a schedule",
        place(acting, failure.location),
        [raised_here(failure)],
        _number_instead(model, project) if isinstance(model, ModelFacts) else (),
        Confidence.CERTAIN,
    )


CAUSE.message(
    r"Optimizer must have an? [\"'](?:lr|learning_rate)[\"'] attribute",
    "a callback sets the learning rate, but the optimizer has no learning rate that Keras can set",
    "use an optimizer of the Keras that trains the model, and no object of another package, or remove the callback",
    subject="learning rate",
    types=("ValueError",),
)


def _finding(
    message: str,
    location: Location | None,
    evidence: list[Evidence],
    edits: tuple[Edit, ...],
    confidence: Confidence,
) -> Finding:
    remedies: list[Fix] = [fix("remove the callback and keep the schedule")]
    if edits:
        remedies.insert(0, unsafe("pass the schedule's initial learning rate to the optimizer", edits))
    return CAUSE.finding(
        message, location, *evidence, *remedies, subject="learning rate", confidence=confidence
    )


def _number_instead(model: ModelFacts, project: Project) -> tuple[Edit, ...]:
    """Replace the schedule by its initial learning rate, if its call is known."""
    found = schedule_of(model, project)
    if found is None:
        return ()
    given, schedule, module = found
    names = ("initial_learning_rate",)
    first = next((word.value for word in schedule.keywords if word.arg in names), None)
    first = first or (schedule.args[0] if schedule.args else None)
    if not isinstance(first, ast.Constant) or not isinstance(first.value, (int, float)):
        return ()
    return (Edit(given, module.segment(first)),)

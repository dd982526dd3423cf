"""A callback sets a learning rate that a schedule decides.

## What happens

`TypeError: This optimizer was created with a `LearningRateSchedule` object as its `learning_rate` constructor argument,
hence its learning rate is not settable.` With `LearningRateScheduler` at the first epoch; with `ReduceLROnPlateau` when
training first stops getting better, perhaps after hours.

Keras 2 raises this only where a callback of your own assigns to `optimizer.learning_rate`. Its two callbacks write a number
that nobody reads: the weights are those of a training without them. With an optimizer of `optimizers.legacy` they end
with `AttributeError: 'ExponentialDecay' object has no attribute 'dtype'`.

## Why

An optimizer that was made with a schedule computes its rate from the number of steps. Nothing else can set it.

## Fix

Keep one of the two: give the optimizer the number that it begins with, or leave the callback out.

## Known limits

Of callbacks of your own that set the rate, only the failure is told.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fitdoctor.catalogue import Cause, mentions
from fitdoctor.catalogue.graph.traced import raised_here
from fitdoctor.catalogue.training.learning_rate import schedule_of
from fitdoctor.catalogue.words import place
from fitdoctor.diagnosis import Confidence, Edit, Evidence, Finding, Fix, Location, Severity
from fitdoctor.edits import fix, unsafe
from fitdoctor.facts import FailureFacts, FitFacts, ModelFacts, Unknown
from fitdoctor.patterns import pattern
from fitdoctor.records import replace
from fitdoctor.source.project import Project

CAUSE = Cause(
    id="FIT325",
    slug="learning-rate-not-settable",
    severity=Severity.ERROR,
    raises=("TypeError", "AttributeError"),
    # When the callback acts.
    stage=2,
)

_SAID = "hence its learning rate is not settable"
_LEGACY = pattern(
    r"'(?:ExponentialDecay|PiecewiseConstantDecay|PolynomialDecay|InverseTimeDecay|CosineDecay|CosineDecayRestarts)'"
    r" object has no attribute 'dtype'"
)
_ACTS = {
    "LearningRateScheduler": "at the beginning of an epoch",
    "ReduceLROnPlateau": "when training stops getting better",
}


@CAUSE.in_source
@mentions("LearningRateScheduler", "ReduceLROnPlateau")
def from_source(model: ModelFacts, fit: FitFacts, project: Project) -> Iterator[Finding]:
    """The same, as far as the source tells."""
    for finding in from_call(model, fit, project):
        yield replace(finding, confidence=Confidence.LIKELY)


@CAUSE.before_fit
def from_call(model: ModelFacts, fit: FitFacts, project: Project | Unknown) -> Iterator[Finding]:
    """The optimizer has a schedule, and fit a callback that sets the rate."""
    rate = dict(model.optimizer_settings).get("learning_rate", "")
    if fit.method != "fit" or not rate.isidentifier():
        return
    for callback in fit.callbacks:
        if callback.class_name in _ACTS and model.keras == 2:
            yield replace(
                _finding(
                    f"`{callback.class_name}` has no effect: the optimizer takes its rate from a schedule (`{rate}`)",
                    place(callback.code, fit.code),
                    [
                        Evidence(
                            claim="the learning rate of the optimizer", observed=rate, expected="a number"
                        )
                    ],
                    _number_instead(model, project),
                    Confidence.CERTAIN,
                ),
                severity=Severity.WARNING,
            )
        elif callback.class_name in _ACTS:
            yield _finding(
                f"`{callback.class_name}` sets the learning rate {_ACTS[callback.class_name]}, "
                f"and the optimizer has a schedule (`{rate}`)",
                place(callback.code, fit.code),
                [Evidence(claim="the learning rate of the optimizer", observed=rate, expected="a number")],
                _number_instead(model, project),
                Confidence.CERTAIN if callback.class_name == "LearningRateScheduler" else Confidence.LIKELY,
            )


@CAUSE.after_failure
def from_failure(
    failure: FailureFacts, model: ModelFacts | Unknown, fit: FitFacts | Unknown, project: Project | Unknown
) -> Iterator[Finding]:
    """Keras says it."""
    if _SAID not in failure.message and not _LEGACY.search(failure.message):
        return
    frame = failure.last_user_frame
    callbacks = fit.callbacks if isinstance(fit, FitFacts) else ()
    acting = next((each.code for each in callbacks if each.class_name in _ACTS), None)
    yield _finding(
        "a callback sets the learning rate, and the optimizer has a schedule",
        place(acting, frame.location if frame is not None else None),
        [raised_here(failure)],
        _number_instead(model, project) if isinstance(model, ModelFacts) else (),
        Confidence.CERTAIN,
    )


def _finding(
    message: str,
    location: Location | None,
    evidence: list[Evidence],
    edits: tuple[Edit, ...],
    confidence: Confidence,
) -> Finding:
    remedies: list[Fix] = [fix("leave the callback out, and let the schedule decide")]
    if edits:
        remedies.insert(0, unsafe("give the optimizer the number that its schedule begins with", edits))
    return CAUSE.finding(
        message,
        subject="learning rate",
        location=location,
        evidence=evidence,
        fixes=remedies,
        confidence=confidence,
    )


def _number_instead(model: ModelFacts, project: Project | Unknown) -> tuple[Edit, ...]:
    """The first number of a schedule whose call is known, in the place of the schedule."""
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

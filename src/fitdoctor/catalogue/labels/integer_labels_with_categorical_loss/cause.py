"""Class numbers with a loss that wants one-hot rows.

## What happens

`categorical_crossentropy` compares each output row with a row of the same width. Given class numbers of shape (n,) or
(n, 1), fit raises before the first step: `ValueError: Arguments target and output must have the same rank (ndim)` or
`… must have the same shape`.

## Why

The labels are class numbers (0, 1, 2, …) and the loss expects one-hot rows. The two crossentropies compute the same;
they differ in how they read the labels.

## Fix

Use `sparse_categorical_crossentropy` (and `sparse_categorical_accuracy`, or plain `"accuracy"`), or turn the labels
into one-hot rows with `keras.utils.to_categorical`.

## Known limits

With one output unit the same labels are accepted and the loss is 0 for ever: that is `softmax-over-one-unit` or
`output-units-mismatch`. From a saved message alone the labels' values are not known.
"""

from __future__ import annotations

from collections.abc import Iterator

from fitdoctor.catalogue import Cause, mentions
from fitdoctor.catalogue.labels.label_edits import SPARSE_METRICS, one_hot_fix, respell, respell_metrics
from fitdoctor.catalogue.labels.label_shapes import (
    CLASS_NUMBERS,
    Refused,
    after_training,
    is_row_of_one_class,
    refusal_finding,
    refused_after,
    refused_before,
)
from fitdoctor.catalogue.labels.targets import CATEGORICAL, SPARSE, metrics_for
from fitdoctor.catalogue.words import number
from fitdoctor.diagnosis import Finding, Fix, Severity
from fitdoctor.edits import fix
from fitdoctor.facts import DataFacts, FailureFacts, FitFacts, ModelFacts, Unknown
from fitdoctor.source.project import Project

CAUSE = Cause(
    id="FIT201",
    slug="integer-labels-with-categorical-loss",
    severity=Severity.ERROR,
    raises="ValueError",
    explains=("FIT205", "FIT207", "FIT211", "FIT218"),
)


@CAUSE.in_source
@CAUSE.before_fit
@mentions("ategorical", "kl_divergence", "kullback", "KLD", "kld", "KLDivergence")
def from_data(
    model: ModelFacts, fit: FitFacts, data: DataFacts, project: Project | Unknown
) -> Iterator[Finding]:
    """Whole numbers without a class axis meet a loss that compares rows."""
    for refused in refused_before(model, data, CLASS_NUMBERS):
        if not is_row_of_one_class(refused, data, project):  # output-units-mismatch says so
            yield _finding(refused, model, data, after_training(fit, refused, project))


@CAUSE.after_failure
def from_failure(
    failure: FailureFacts,
    model: ModelFacts | Unknown,
    fit: FitFacts | Unknown,
    data: DataFacts | Unknown,
    project: Project | Unknown,
) -> Iterator[Finding]:
    """The message holds both shapes: labels without a class axis against an output with one."""
    for refused in refused_after(failure, model, data, CLASS_NUMBERS, project):
        if not is_row_of_one_class(refused, data, project):
            yield _finding(refused, model, data, after_training(fit, refused))


def _finding(
    refused: Refused, model: ModelFacts | Unknown, data: DataFacts | Unknown, trained: bool
) -> Finding:
    loss = refused.target.loss if refused.target is not None else None
    return refusal_finding(
        CAUSE,
        refused,
        model,
        f"`{loss.name if loss else CATEGORICAL}` wants one-hot rows, but the labels are class numbers",
        f"shape of the labels{_range(refused)}",
        refused.output,
        _fixes(refused, model, data),
        trained,
    )


def _range(refused: Refused) -> str:
    statistics = refused.target.label_statistics if refused.target is not None else None
    if statistics is None or statistics.minimum is None or statistics.maximum is None:
        return ""
    return f", whole numbers from {number(statistics.minimum)} to {number(statistics.maximum)}"


def _fixes(refused: Refused, model: ModelFacts | Unknown, data: DataFacts | Unknown) -> list[Fix]:
    target = refused.target
    use_sparse = f"use the loss for class numbers, `{SPARSE}`"
    if target is None or target.labels is None or target.loss is None:
        called = respell(refused.called, SPARSE, without=("label_smoothing", "axis"))
        return [
            fix(use_sparse, called),
            fix("turn the labels into one-hot rows with `keras.utils.to_categorical`"),
        ]
    assert isinstance(model, ModelFacts)
    assert isinstance(data, DataFacts)
    fixes = []
    if target.loss_name == CATEGORICAL:
        edits = respell(target.loss.code, SPARSE, without=("label_smoothing", "axis"))
        if edits:
            fixes.append(fix(use_sparse, edits, respell_metrics(metrics_for(model, target), SPARSE_METRICS)))
        else:
            fixes.append(fix(use_sparse))
    fixes.append(one_hot_fix(target.labels, data, target.units, target.role))
    return fixes

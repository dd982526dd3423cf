"""Validation rows that are also in the training data.

## What happens

Nothing raises. The validation metrics are better than the model performs on new data, and early stopping stops too
late.

## Why

The validation data was split off, but the model is trained on everything; the slices overlap; rows were copied
(oversampled) before the split; or the training data itself is used for validation.

## Fix

Split first, then oversample only the training part. Train only on the training part of the split.

## Known limits

Rows are compared byte by byte, in arrays and in datasets that slice arrays. A few equal rows do not count as a leak.
Data whose rows naturally repeat (few columns with few values) is not checked.
"""

from __future__ import annotations

from collections.abc import Iterator

from fitdoctor.catalogue import Cause
from fitdoctor.catalogue.inputs.bindings import binding_line
from fitdoctor.catalogue.words import place
from fitdoctor.diagnosis import Confidence, Evidence, Finding, Location, Severity
from fitdoctor.edits import fix
from fitdoctor.facts import DataFacts, FitFacts, Unknown
from fitdoctor.source.project import Project

CAUSE = Cause(id="FIT003", slug="dataset-leak", severity=Severity.WARNING)

LEAST_SHARE = 0.15
LEAST_ROWS = 5


@CAUSE.before_fit
def from_rows(
    fit: FitFacts, training: DataFacts, validation: DataFacts, project: Project | Unknown
) -> Iterator[Finding]:
    """Report validation rows that are also in the training data, if there are many."""
    if training.role != "training" or validation.role != "validation":
        return
    shared, rows = validation.shared_rows, validation.samples
    if (
        not isinstance(shared, int)
        or not isinstance(rows, int)
        or shared < LEAST_ROWS
        or shared < LEAST_SHARE * rows
    ):
        return
    all_of_them = shared == rows
    yield CAUSE.finding(
        f"{'all' if all_of_them else f'{shared:,} of the'} {rows:,} validation rows are also in the training data",
        subject="argument validation_data of fit",
        location=_line(fit, training, validation, project),
        evidence=[
            Evidence(
                claim="validation rows in the training data",
                observed=f"{shared:,} of {rows:,}",
                expected="none",
                fact="data.shared_rows",
                location=place(validation.code),
            )
        ],
        fixes=[
            fix("remove the validation rows from the training data"),
            fix("split the data before copying or augmenting rows"),
        ],
        confidence=Confidence.CERTAIN,
    )


def _line(
    fit_call: FitFacts, training: DataFacts, validation: DataFacts, project: Project | Unknown
) -> Location | None:
    """Return the line of the split if both parts come from it, else the data passed to fit."""
    if not training.x or not validation.x:
        return place(fit_call.code)
    ours, theirs = training.x[0], validation.x[0]
    one, other = binding_line(project, ours.use), binding_line(project, theirs.use)
    if one is not None and one == other:
        return one
    if training.samples == validation.samples:
        return place(theirs.use, fit_call.code)
    return place(ours.use, fit_call.code)

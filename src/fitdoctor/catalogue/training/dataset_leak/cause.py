"""Rows of the training data in the validation data.

## What happens

Nothing shows: the validation metrics are better than the model is on new data, and stopping early by them stops too
late.

## Why

The validation data was split off and the whole was trained on; the slices overlap; rows were copied (oversampled)
before the split; or the training data itself was given for validation.

## Fix

Split first, then oversample the training part only; train on the part that the split left for training.

## Known limits

Rows are compared byte by byte in arrays and in datasets that slice arrays. A few equal rows are no leak; data whose
rows repeat by nature (a few columns with few values) is not judged.
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
    """A substantial share of the validation rows is in the training data."""
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
        f"{'all' if all_of_them else shared} of the {rows} validation rows are in the training data too",
        subject="argument validation_data of fit",
        location=_line(fit, training, validation, project),
        evidence=[
            Evidence(
                claim="validation rows that are in the training data",
                observed=f"{shared} of {rows}",
                expected="none",
                fact="data.shared_rows",
                location=place(validation.code),
            )
        ],
        fixes=[
            fix("train on the rows that are left when the validation rows are set aside"),
            fix("split before rows are copied or augmented"),
        ],
        confidence=Confidence.CERTAIN,
    )


def _line(
    fit_call: FitFacts, training: DataFacts, validation: DataFacts, project: Project | Unknown
) -> Location | None:
    """The line that made the split where one evidently did, else the data given to fit."""
    if not training.x or not validation.x:
        return place(fit_call.code)
    ours, theirs = training.x[0], validation.x[0]
    one, other = binding_line(project, ours.use), binding_line(project, theirs.use)
    if one is not None and one == other:
        return one
    if training.samples == validation.samples:
        return place(theirs.use, fit_call.code)
    return place(ours.use, fit_call.code)

"""Training and validation data on different scales.

## What happens

Nothing fails. The model learns from values between 0 and 1 and is validated on values up to 255, or vice versa.
`val_loss` is huge or stays at 0, and says nothing about the model, but early stopping and the choice of the best
checkpoint depend on it.

## Why

The training data was divided, standardized or otherwise scaled, but the validation data was not. Or the targets were
scaled for training only.

## Fix

Prepare both with the same code: the same divisor, or the scaler fitted to the training data.

## Known limits

Reported only if the mean of one is more than 10 times as large as any value of the other.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fitdoctor.catalogue import Cause
from fitdoctor.catalogue.pipeline.generator_sources import expression_of
from fitdoctor.catalogue.words import place
from fitdoctor.diagnosis import Confidence, Edit, Evidence, Finding, Fix, Severity
from fitdoctor.edits import fix, rework, unsafe
from fitdoctor.facts import ArrayFacts, DataFacts, FitFacts, ModelFacts, Statistics, Unknown
from fitdoctor.source.project import Project

CAUSE = Cause(id="FIT717", slug="validation-on-another-scale", severity=Severity.WARNING)

_FAR = 10
_ROWS = 8
"""The minimum number of rows for a meaningful mean."""


@CAUSE.before_fit
def from_data(
    model: ModelFacts, fit: FitFacts, training: DataFacts, validation: DataFacts, project: Project | Unknown
) -> Iterator[Finding]:
    """Report numeric data if the mean of one is far beyond every value of the other."""
    if (training.role, validation.role) != ("training", "validation") or fit.method != "fit":
        return
    if {"train_step", "test_step"} & set(model.overrides):
        return  # a custom step may scale the data
    for ours, theirs in ((training.x, validation.x), (training.y, validation.y)):
        if len(ours) != len(theirs):
            continue
        for one, other in zip(ours, theirs, strict=True):
            if _is_far(one, other) or _is_far(other, one):
                yield _finding(one, other, project)
                return


def _is_far(near: ArrayFacts, far: ArrayFacts) -> bool:
    """Return whether the mean of one is many times as large as any value of the other."""
    small, large = near.statistics, far.statistics
    if isinstance(small, Unknown) or isinstance(large, Unknown) or min(small.count, large.count) < _ROWS:
        return False
    if small.minimum is None or small.maximum is None or large.mean is None:
        return False
    return abs(large.mean) > _FAR * max(abs(small.minimum), abs(small.maximum)) > 0


def _finding(ours: ArrayFacts, theirs: ArrayFacts, project: Project | Unknown) -> Finding:
    return CAUSE.finding(
        f"`{theirs.path}` ranges from {_span(theirs)}, but the training data ranges from {_span(ours)}",
        subject="argument validation_data of fit",
        location=place(theirs.code, theirs.use),
        evidence=[
            Evidence(
                claim=f"values of `{theirs.path}`",
                observed=_range(theirs),
                expected=_range(ours),
                fact="data.x.statistics",
                location=place(ours.code, ours.use),
            )
        ],
        fixes=[_remedy(ours, theirs, project)],
        confidence=Confidence.LIKELY,
    )


def _span(array: ArrayFacts) -> str:
    return _range(array).replace("..", " to ")


def _range(array: ArrayFacts) -> str:
    assert isinstance(array.statistics, Statistics)
    return f"{array.statistics.minimum:.4g}..{array.statistics.maximum:.4g}"


def _remedy(ours: ArrayFacts, theirs: ArrayFacts, project: Project | Unknown) -> Fix:
    """Apply the division of the training data to the validation data too."""
    divisor = _divisor(ours, project) if _is_far(ours, theirs) else ""
    edits: tuple[Edit, ...] = rework(theirs.code, theirs.use, f"{{}} / {divisor}") if divisor else ()
    if edits:
        return unsafe(f"divide the validation data by {divisor}, like the training data", edits)
    return fix("prepare training and validation data with the same code")


def _divisor(array: ArrayFacts, project: Project | Unknown) -> str:
    found = expression_of(project, array.use)
    if found is None:
        return ""
    module, node = found
    made = module.origin(node).node
    if isinstance(made, ast.BinOp) and isinstance(made.op, ast.Div) and isinstance(made.right, ast.Constant):
        return module.segment(made.right)
    return ""

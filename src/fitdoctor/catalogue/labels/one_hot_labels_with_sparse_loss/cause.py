"""One-hot labels with a loss for integer labels.

## What happens

`sparse_categorical_crossentropy` expects one integer class label per output row. With one-hot labels of shape (n,
k), `fit` raises before the first step: `ValueError: Argument output must have rank (ndim) target.ndim - 1`. The
message states the rule backwards: the labels must have one axis fewer than the output.

## Why

The labels went through `to_categorical`, `get_dummies`, `tf.one_hot` or a binarizer, but the loss expects integer
labels. Both cross-entropy losses compute the same value; they differ only in the label format they expect.

## Fix

Use `categorical_crossentropy`, or convert the labels back to integers with `argmax(axis=-1)`.

## Known limits

A saved message does not show the values of the labels. Rows with several ones (several labels per sample) look the
same; they need `binary_crossentropy` with sigmoid outputs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from fitdoctor.catalogue import Cause, mentions
from fitdoctor.catalogue.knowledge.labels.label_shapes import (
    ONE_HOT,
    Refused,
    after_training,
    refusal_finding,
    refused_after,
    refused_before,
)
from fitdoctor.catalogue.knowledge.labels.targets import BINARY, CATEGORICAL, SPARSE, is_binary, metrics_for
from fitdoctor.catalogue.labels.label_edits import ROW_METRICS, respell, respell_metrics, rework_labels
from fitdoctor.diagnosis import Confidence, Finding, Fix, Severity
from fitdoctor.edits import fix, unsafe
from fitdoctor.facts import DataFacts, FailureFacts, FitFacts, ModelFacts, Unknown
from fitdoctor.source.project import Project

CAUSE = Cause(
    id="FIT202",
    slug="one-hot-labels-with-sparse-loss",
    severity=Severity.ERROR,
    raises="ValueError",
    explains=("FIT203", "FIT205", "FIT218"),
)


@CAUSE.in_source
@CAUSE.before_fit
@mentions("sparse", "Sparse")
def from_data(model: ModelFacts, fit: FitFacts, data: DataFacts, project: Project) -> Iterator[Finding]:
    """Report labels of the same rank as the output with the sparse loss."""
    for refused in refused_before(model, data, ONE_HOT):
        yield _finding(refused, model, data, after_training(fit, refused, project))


@CAUSE.after_failure
def from_failure(
    failure: FailureFacts,
    model: ModelFacts | Unknown,
    fit: FitFacts | Unknown,
    data: DataFacts | Unknown,
    project: Project,
) -> Iterator[Finding]:
    """Report the shapes in the message; the metric of Keras 2 shows only that of the labels."""
    squeezed = _SQUEEZED.search(failure.message)
    said = failure.raw_message + "".join(frame.function for frame in failure.frames)
    if squeezed and ("sparse_" in said or _SPARSE_ACCURACY.match(failure.node)):
        rows = (None, int(squeezed["width"]))
        frame = failure.last_user_frame
        place = frame.location if frame is not None else None
        yield _finding(Refused(None, rows, rows, Confidence.LIKELY, place), model, data, False)
    for refused in refused_after(failure, model, data, ONE_HOT, project):
        yield _finding(refused, model, data, after_training(fit, refused))


_SPARSE_ACCURACY = re.compile(r"metrics/\w+/Squeeze$")
"""Before Keras 2.4, `accuracy` squeezes the labels only beside a sparse loss."""
_SQUEEZED = re.compile(r"Can not squeeze dim\[-?\d+\], expected a dimension of 1, got (?P<width>\d+)")


def _finding(
    refused: Refused, model: ModelFacts | Unknown, data: DataFacts | Unknown, trained: bool
) -> Finding:
    kind = "multi-hot" if _several(refused) else "one-hot"
    return refusal_finding(
        CAUSE,
        refused,
        model,
        f"`{SPARSE}` expects one integer class label per sample, but the labels are {kind}",
        "shape of the labels",
        refused.output[:-1],
        _fixes(refused, model, data),
        trained,
    )


def _several(refused: Refused) -> bool:
    """Whether rows contain several ones, so that the classes are not mutually exclusive."""
    statistics = refused.target.label_statistics if refused.target is not None else None
    return (
        statistics is not None
        and is_binary(statistics)
        and statistics.row_sums is not None
        and statistics.row_sums[1] > 1
    )


def _fixes(refused: Refused, model: ModelFacts | Unknown, data: DataFacts | Unknown) -> list[Fix]:
    target = refused.target
    use_rows = f"use `{CATEGORICAL}`, the loss for one-hot labels"
    if target is None or target.labels is None or target.loss is None:
        called = respell(refused.called, CATEGORICAL, without=("ignore_class",))
        return [fix(use_rows, called), fix("convert the labels to integer classes with `argmax(axis=-1)`")]
    assert isinstance(model, ModelFacts)
    assert isinstance(data, DataFacts)
    if _several(refused):
        return [unsafe(f"use `{BINARY}` with sigmoid outputs: samples have several labels")]
    edits = respell(target.loss.code, CATEGORICAL, without=("ignore_class",))
    metrics = respell_metrics(metrics_for(model, target), ROW_METRICS) if edits else ()
    numbers = rework_labels(target.labels, data, "np.argmax({}, axis=-1)", "tf.argmax(y, axis=-1)")
    return [
        fix(use_rows, edits, metrics),
        fix("convert the labels to integer classes", numbers if target.role == "training" else ()),
    ]

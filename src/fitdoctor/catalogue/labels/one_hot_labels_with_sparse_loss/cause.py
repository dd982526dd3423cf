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
    explains_labels,
)
from fitdoctor.catalogue.knowledge.labels.targets import BINARY, CATEGORICAL, SPARSE, is_binary, metrics_for
from fitdoctor.catalogue.labels.label_edits import ROW_METRICS, respell, respell_metrics, rework_labels
from fitdoctor.diagnosis import Confidence, Finding, Fix, Severity
from fitdoctor.edits import fix, unsafe
from fitdoctor.facts import DataFacts, FailureFacts, Unknown
from fitdoctor.source.project import Project

CAUSE = Cause(
    id="FIT202",
    slug="one-hot-labels-with-sparse-loss",
    severity=Severity.ERROR,
    raises="ValueError",
    explains=("FIT203", "FIT205", "FIT218"),
)


@CAUSE.after_failure
def from_metric(failure: FailureFacts, data: DataFacts | Unknown, project: Project) -> Iterator[Finding]:
    """Report the metric of Keras 2, which shows only the shape of the labels."""
    squeezed = _SQUEEZED.search(failure.message)
    said = failure.raw_message + "".join(frame.function for frame in failure.frames)
    if squeezed and ("sparse_" in said or _SPARSE_ACCURACY.match(failure.node)):
        labels = (None, int(squeezed["width"]))
        model = Unknown("only the metric raised")
        yield from _explain(
            Refused(ONE_HOT, None, labels, labels, Confidence.LIKELY, model, data, project, failure)
        )


_SPARSE_ACCURACY = re.compile(r"metrics/\w+/Squeeze$")
"""Before Keras 2.4, `accuracy` squeezes the labels only beside a sparse loss."""
_SQUEEZED = re.compile(r"Can not squeeze dim\[-?\d+\], expected a dimension of 1, got (?P<width>\d+)")


def _explain(refused: Refused) -> Iterator[Finding]:
    kind = "multi-hot" if _several(refused) else "one-hot"
    yield refused.finding_at_loss(
        CAUSE,
        f"`{SPARSE}` expects one integer class label per sample, but the labels are {kind}",
        "shape of the labels",
        refused.output[:-1],
        _fixes(refused),
    )


explains_labels(CAUSE, _explain, ONE_HOT, narrowed=mentions("sparse", "Sparse"))


def _several(refused: Refused) -> bool:
    """Whether rows contain several ones, so that the classes are not mutually exclusive."""
    statistics = refused.statistics
    return (
        statistics is not None
        and is_binary(statistics)
        and statistics.row_sums is not None
        and statistics.row_sums[1] > 1
    )


def _fixes(refused: Refused) -> list[Fix]:
    target = refused.target
    use_rows = f"use `{CATEGORICAL}`, the loss for one-hot labels"
    if target is None or target.labels is None or target.loss is None:
        called = respell(refused.called, CATEGORICAL, without=("ignore_class",))
        return [fix(use_rows, called), fix("convert the labels to integer classes with `argmax(axis=-1)`")]
    if _several(refused):
        return [unsafe(f"use `{BINARY}` with sigmoid outputs: samples have several labels")]
    edits = respell(target.loss.code, CATEGORICAL, without=("ignore_class",))
    metrics = respell_metrics(metrics_for(target.model, target), ROW_METRICS) if edits else ()
    numbers = rework_labels(target.labels, target.data, "np.argmax({}, axis=-1)", "tf.argmax(y, axis=-1)")
    return [
        fix(use_rows, edits, metrics),
        fix("convert the labels to integer classes", numbers if target.data.role == "training" else ()),
    ]

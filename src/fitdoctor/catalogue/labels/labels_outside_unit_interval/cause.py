"""Labels below 0 or above 1 with a binary loss.

## What happens

`binary_crossentropy` computes `-(y * log(p) + (1 - y) * log(1 - p))` and does not check y. With masks of 0 and 255,
labels of -1 and 1, or standardized targets, the loss falls far below 0 and the outputs saturate the sigmoid. Nothing
raises.

## Why

The labels are not encoded as 0 and 1: pixels of a mask file, the -1 and 1 of support vector machines, classes 1 and
2, or standardized images that serve as their own target.

## Fix

Bring the labels into 0..1: divide a mask by 255, map -1 and 1 to 0 and 1. For more than two classes, use softmax
with `sparse_categorical_crossentropy`.

## Known limits

Soft labels between 0 and 1 are fine and not reported. Labels from a dataset or a generator are known only as far as
they were read.
"""

from __future__ import annotations

from collections.abc import Iterator

from fitdoctor.catalogue import Cause
from fitdoctor.catalogue.knowledge.labels.label_shapes import FITS, verdict
from fitdoctor.catalogue.knowledge.labels.targets import BINARY_LOSSES, SPARSE, Target, targets
from fitdoctor.catalogue.labels.label_edits import respell, rework_labels, with_activation, with_units
from fitdoctor.catalogue.words import number, place
from fitdoctor.diagnosis import Evidence, Finding, Fix, Severity
from fitdoctor.edits import rework_place, unsafe
from fitdoctor.facts import DataFacts, ModelFacts, Statistics

CAUSE = Cause(
    id="FIT208",
    slug="labels-outside-unit-interval",
    severity=Severity.WARNING,
    aspect="range",
    explains=("FIT218",),
)

_TOLERANCE = 1e-3


@CAUSE.before_fit
def from_data(model: ModelFacts, data: DataFacts) -> Iterator[Finding]:
    """Report labels outside 0..1."""
    for target in targets(model, data) if data.role == "training" else ():
        statistics, labels = target.label_statistics, target.label_shape
        if target.loss_name not in BINARY_LOSSES or statistics is None or labels is None:
            continue
        if verdict(target.loss_name, labels, target.output_shape or ()) not in (FITS, ""):
            continue
        least, most = statistics.minimum, statistics.maximum
        if least is None or most is None or (least >= -_TOLERANCE and most <= 1 + _TOLERANCE):
            continue
        assert target.labels is not None
        assert target.loss is not None
        yield CAUSE.certain(
            f"labels run from {number(least)} to {number(most)}, but `{target.loss_name}` expects 0 to 1",
            place(
                target.loss.code if _classes(target, statistics) else None,
                target.labels.code,
                target.labels.use,
                data.code,
                target.loss.code,
            ),
            Evidence(
                _values(statistics),
                f"{number(least)}..{number(most)}",
                "0..1",
                fact="data.y.statistics",
                location=place(target.labels.use, target.labels.code),
            ),
            *_fixes(target, data, statistics, least, most),
            subject=target.subject,
        )


def _values(statistics: Statistics) -> str:
    values = [value for value, _count in statistics.histogram or ()]
    if not values or len(values) > 6:
        return "range of the labels"
    return "distinct labels: " + ", ".join(number(value) for value in values)


def _classes(target: Target, statistics: Statistics) -> int:
    """Return the number of classes if the labels count from 0 without gaps for a single unit, else 0."""
    values = [value for value, _count in statistics.histogram or ()]
    numbered = statistics.integral and values == list(range(len(values)))
    return len(values) if numbered and target.units == 1 and 2 < len(values) <= 100 else 0


def _fixes(target: Target, data: DataFacts, statistics: Statistics, least: float, most: float) -> list[Fix]:
    labels = target.labels
    assert labels is not None
    values = [value for value, _count in statistics.histogram or ()]
    if values == [-1.0, 1.0]:
        return [unsafe("map -1 and 1 to 0 and 1", rework_labels(labels, data, "({} + 1) / 2", "(y + 1) / 2"))]
    if (least, most) == (-1.0, 1.0):
        return [
            unsafe("map -1..1 to 0..1", rework_labels(labels, data, "({} + 1) / 2", "(y + 1) / 2")),
        ]
    if values == [1.0, 2.0]:
        return [unsafe("map 1 and 2 to 0 and 1", rework_labels(labels, data, "{} - 1", "y - 1"))]
    if least >= 0 and 100 < most <= 255:
        # The targets of an autoencoder are its inputs, so both must be scaled together.
        own = any(labels.code == array.code for array in data.x)
        apart = own and rework_place(labels.code, labels.use) is labels.use
        edits = () if apart else rework_labels(labels, data, "{} / 255", "y / 255")
        return [unsafe("divide the labels by 255", edits)]
    classes = _classes(target, statistics)
    if classes and target.activation == "sigmoid" and target.loss is not None:
        loss = respell(target.loss.code, SPARSE, without=("label_smoothing", "gamma", "axis", "from_logits"))
        head = with_units(target.layer, classes), with_activation(target.layer, "softmax")
        whole = bool(loss) and all(head)
        title = f"use {classes} softmax units, one per class, with `{SPARSE}`"
        return [unsafe(title, *((*head, loss) if whole else ()))]
    if statistics.integral and 2 < len(values) <= 100:
        return [unsafe(f"use {len(values)} softmax units, one per class, with `{SPARSE}`")]
    return [unsafe("scale the targets to 0..1, or use a regression loss with a linear output")]

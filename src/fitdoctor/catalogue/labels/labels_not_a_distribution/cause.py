"""Labels that are not probabilities.

## What happens

`categorical_crossentropy` computes `-sum(y * log(p))` and does not check y. Rows that sum to more than 1 (several
ones per row, counts, scores) scale the loss. Negative values flip its sign, so that training lowers it without
bound. Nothing raises, and the loss value is meaningless.

## Why

Samples with several labels were encoded as rows with several ones. The classes are then not mutually exclusive, and
softmax cannot give two of them a probability near 1. Or the targets are counts, or were standardized like features.

## Fix

Several labels per sample: use sigmoid outputs with `binary_crossentropy`. Counts: divide each row by its sum.
Standardized targets: use the original values.

## Known limits

Rows that sum to less than 1, including rows of zeros, count as masked and are not reported. Neither are rows with a
single non-zero value that differs between rows: these are one-hot labels multiplied by a sample weight, as in policy
gradients.
"""

from __future__ import annotations

from collections.abc import Iterator

from fitdoctor.catalogue import Cause
from fitdoctor.catalogue.knowledge.labels.label_shapes import FITS, verdict
from fitdoctor.catalogue.knowledge.labels.targets import BINARY, ROW_LOSSES, Target, is_binary, targets
from fitdoctor.catalogue.labels.label_edits import respell, with_activation
from fitdoctor.catalogue.words import number, place
from fitdoctor.diagnosis import Edit, Evidence, Finding, Fix, Severity
from fitdoctor.edits import insert_after, unsafe, wrap
from fitdoctor.facts import ArrayFacts, Code, DataFacts, ModelFacts, Statistics, Unknown

CAUSE = Cause(
    id="FIT207",
    slug="labels-not-a-distribution",
    severity=Severity.WARNING,
    aspect="range",
    explains=("FIT211", "FIT218"),
)

_TOLERANCE = 0.02


@CAUSE.before_fit
def from_data(model: ModelFacts, data: DataFacts) -> Iterator[Finding]:
    """Report label rows that sum to more than 1 or contain a negative value."""
    for target in targets(model, data) if data.role == "training" else ():
        statistics, labels = target.label_statistics, target.label_shape
        if target.loss_name not in ROW_LOSSES or statistics is None or labels is None or target.loss is None:
            continue
        if (target.units or 0) < 2 or verdict(target.loss_name, labels, target.output_shape or ()) != FITS:
            continue
        if statistics.minimum is None or statistics.row_sums is None or _weighs_one_class(statistics):
            continue
        least, most = statistics.row_sums
        if statistics.minimum < -_TOLERANCE or most > 1 + _TOLERANCE:
            yield _finding(target, statistics, least, most)


def _weighs_one_class(statistics: Statistics) -> bool:
    """Whether the rows are one-hot labels multiplied by a sample weight, which is intended."""
    if statistics.row_filled is None or statistics.row_filled > 1:
        return False
    weights = [value for value, _ in statistics.histogram or () if value != 0]
    return statistics.histogram is None or len(weights) > 1 or (statistics.minimum or 0) < 0


def _finding(target: Target, statistics: Statistics, least: float, most: float) -> Finding:
    assert target.labels is not None
    assert target.loss is not None
    several = is_binary(statistics)
    made = (target.labels.code, target.labels.use)
    if several:
        message = f"label rows contain up to {number(most)} ones, but `{target.loss_name}` expects one class per row"
    elif (statistics.minimum or 0) < -_TOLERANCE:
        lowest = number(statistics.minimum or 0)
        message = f"labels go down to {lowest}, but `{target.loss_name}` expects probabilities"
    else:
        message = f"label rows sum to up to {number(most)}, but `{target.loss_name}` expects probabilities"
    return CAUSE.certain(
        message,
        place(target.loss.code, *made) if several else place(*made, target.loss.code),
        Evidence(
            "sums of the label rows",
            f"{number(least)}..{number(most)}",
            "1",
            fact="data.y.statistics",
            location=place(*made),
        ),
        *_fixes(target, statistics, several),
        subject=target.subject,
    )


def _fixes(target: Target, statistics: Statistics, several: bool) -> list[Fix]:
    assert target.labels is not None
    assert target.loss is not None
    if several:
        activation: tuple[Edit, ...] = ()
        if target.last is not None and target.activation == "softmax":
            activation = with_activation(target.last.layer, "sigmoid")
        edits = respell(target.loss.code, BINARY, without=("axis", "gamma", "alpha"))
        both = (edits, activation) if edits and activation else ()
        return [unsafe(f"use `{BINARY}` with sigmoid outputs: every class is independent", *both)]
    if (statistics.minimum or 0) < -_TOLERANCE:
        return [unsafe("use the original proportions as labels, not standardized ones")]
    return [unsafe("divide each row by its sum", _shares(target.labels))]


def _shares(labels: ArrayFacts) -> tuple[Edit, ...]:
    """Divide the rows by their sums, only if they have a name: the edit writes the expression twice."""
    shares = "{} / {}.sum(axis=-1, keepdims=True)"
    if "numpy" not in labels.container:
        return ()
    for code in (labels.use, labels.code):
        if isinstance(code, Code) and code.text.isidentifier():
            return wrap(code, shares)
    made = labels.code
    if isinstance(made, Unknown) or not made.target.isidentifier():
        return ()
    return insert_after(made, f"{made.target} = {shares.replace('{}', made.target)}")

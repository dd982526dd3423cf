"""Labels outside the range of the output layer.

## What happens

`sparse_categorical_crossentropy` reads each label as the index of an output unit. A model with 10 units knows the
classes 0 to 9; a label of 10 or -1 ends the training with `InvalidArgumentError: Received a label value of 10 which
is outside the valid range of [0, 10)`, at the first batch that holds such a label, which may be hours in. Compiled
with `jit_compile=True` the same labels raise nothing and the loss turns to NaN.

## Why

The labels count from 1, -1 marks a missing label, or there is one class more than units.

## Fix

Labels that run from 1 to the number of units: subtract 1. Otherwise give the last layer as many units as there are
classes, or remove the rows with the stray label. A marker such as -1 can stay when the loss is told so:
`SparseCategoricalCrossentropy(ignore_class=-1)`.

## Known limits

Labels that come from a generator or a dataset are known only as far as they were looked at.
"""

from __future__ import annotations

from collections.abc import Iterator

from fitdoctor.catalogue import Cause
from fitdoctor.catalogue.targets import SPARSE, Target, targets
from fitdoctor.catalogue.words import number, place
from fitdoctor.diagnosis import Confidence, Evidence, Finding, Fix, Severity
from fitdoctor.edits import fix, rework, set_argument, unsafe
from fitdoctor.facts import DataFacts, FailureFacts, ModelFacts, Statistics, Unknown
from fitdoctor.failure.patterns import label_out_of_range

CAUSE = Cause(
    id="FIT203",
    slug="labels-out-of-range",
    severity=Severity.ERROR,
    raises="InvalidArgumentError",
)


@CAUSE.in_source
@CAUSE.before_fit
def from_data(model: ModelFacts, data: DataFacts) -> Iterator[Finding]:
    """A label that was seen has no unit."""
    for target in targets(model, data):
        statistics = target.label_statistics
        units = target.units
        if statistics is None or units is None or target.loss is None or target.labels is None:
            continue
        if target.loss.kind != "builtin" or target.loss.name != SPARSE or not statistics.integral:
            continue
        stray = _stray_label(statistics, units, dict(target.loss.settings).get("ignore_class"))
        if stray is None:
            continue
        label, row = stray
        least, most = statistics.minimum or 0, statistics.maximum or 0
        yield CAUSE.finding(
            f"labels run from {number(least)} to {number(most)}, but the model has {units} units: "
            f"classes 0 to {units - 1}",
            subject=target.subject,
            location=place(target.labels.code, target.labels.use),
            evidence=[
                Evidence(
                    claim=f"the label {number(label)}" + (f" stands in row {row}" if row is not None else ""),
                    observed=f"{number(least)}..{number(most)}",
                    expected=f"0..{units - 1}",
                    fact="data.y.statistics",
                ),
                *_layer_evidence(target, units),
            ],
            fixes=_fixes(target, statistics, units),
            # Under XLA the operation does not check: no exception, but a loss of NaN.
            notes=["compiled with `jit_compile=True` this raises nothing and the loss becomes NaN"]
            if model.jit_compile
            else [],
            confidence=Confidence.CERTAIN if statistics.complete else Confidence.LIKELY,
            severity=Severity.WARNING if model.jit_compile else Severity.ERROR,
        )


def _stray_label(
    statistics: Statistics, units: int, ignored: str | None
) -> tuple[float, int | None] | None:
    """A label without a unit, and the first row that has it."""
    if statistics.histogram is not None:
        labels = [value for value, _count in statistics.histogram if str(int(value)) != ignored]
    else:
        labels = [v for v in (statistics.minimum, statistics.maximum) if v is not None]
    stray = [label for label in labels if not 0 <= label < units]
    if not stray:
        return None
    label = max(stray)
    if label == statistics.maximum:
        return label, statistics.first_maximum
    return label, statistics.first_minimum if label == statistics.minimum else None


def _layer_evidence(target: Target, units: int) -> list[Evidence]:
    if target.layer is None:
        return []
    return [
        Evidence(
            claim=f"the last layer `{target.layer.name}` has {units} units",
            fact="model.outputs",
            location=place(target.layer.code),
        )
    ]


def _fixes(target: Target, statistics: Statistics, units: int) -> list[Fix]:
    least, most = statistics.minimum, statistics.maximum
    labels = target.labels
    if labels is None or least is None or most is None:
        return []
    if least == 1 and most == units:
        return [
            fix(
                f"shift the labels: they run 1..{units}, the loss counts from 0",
                rework(labels.code, labels.use, "{} - 1"),
            )
        ]
    if least < 0:
        return [unsafe(f"remove or relabel the rows with the label {number(least)}")]
    classes = int(most) + 1
    code = target.layer.code if target.layer is not None else Unknown("the last layer is not known")
    setting = "filters" if target.layer is not None and target.layer.setting("filters") else "units"
    return [
        fix(
            f"give the last layer {classes} units, one for each class",
            set_argument(code, setting, str(classes), position=0),
        )
    ]


@CAUSE.after_failure
def from_failure(
    failure: FailureFacts, model: ModelFacts | Unknown, data: DataFacts | Unknown
) -> Iterator[Finding]:
    """TensorFlow names the label and the range."""
    seen = label_out_of_range(failure.message)
    if seen is None:
        return
    labels = data.y[0] if isinstance(data, DataFacts) and len(data.y) == 1 else None
    frame = failure.last_user_frame
    fixes: list[Fix] = []
    if isinstance(model, ModelFacts) and isinstance(data, DataFacts):
        for target in targets(model, data):
            if target.label_statistics is not None:
                fixes = _fixes(target, target.label_statistics, seen.high)
    if not fixes:
        fixes = [
            fix("shift the labels so that they start at 0, or give the last layer one unit more")
            if seen.value == seen.high
            else fix("keep the labels within the range of the output units")
        ]
    yield CAUSE.finding(
        f"a label of {seen.value} was met, but the model has {seen.high} units: classes 0 to {seen.high - 1}",
        subject="labels",
        location=place(labels.code if labels else None, labels.use if labels else None)
        or (frame.location if frame else None),
        evidence=[
            Evidence(
                claim="TensorFlow refused the label",
                observed=str(seen.value),
                expected=f"0..{seen.high - 1}",
                fact="failure.message",
                location=frame.location if frame else None,
            )
        ],
        fixes=fixes,
        confidence=Confidence.CERTAIN,
    )

"""Labels and outputs of different shapes, compared by broadcasting.

## What happens

Regression losses subtract. Labels of shape (n, 1) against outputs of shape (n, 3), or (n, 3) against (n, 1), broadcast
without a word: every label is compared with every unit, training runs to its end, and the model learns an average.
A loss class of your own, or a `train_step` of your own, gets labels of shape (n,) as they are: against outputs of
(n, 1) the difference has shape (n, n).

## Why

The number of units is not the number of targets, or an axis was lost (`df["price"]` has shape (n,), `df[["price"]]`
has (n, 1)). The crossentropies check shapes and raise; the regression losses do not. Losses built into Keras, and loss
functions of your own, get the ranks of labels and outputs aligned by fit; a subclass of `Loss` does not.

## Fix

Give the last layer as many units as there are targets. In a loss class or `train_step`, reshape the labels to the
shape of the predictions first.

## Known limits

Broadcasting that is written out inside a loss of your own is not looked into. Outputs with an axis more than the
labels (sequence outputs) are `sequence-output-single-target`.
"""

from __future__ import annotations

from collections.abc import Iterator

from fitdoctor.catalogue import Cause
from fitdoctor.catalogue.targets import REGRESSION, Target, targets
from fitdoctor.catalogue.words import place, shape_words
from fitdoctor.diagnosis import Confidence, Evidence, Finding, Fix, Severity
from fitdoctor.edits import fix, rework, set_argument, unsafe
from fitdoctor.facts import DataFacts, ModelFacts, Unknown

CAUSE = Cause(id="FIT204", slug="label-shape-broadcast", severity=Severity.WARNING)


@CAUSE.in_source
@CAUSE.before_fit
def from_shapes(model: ModelFacts, data: DataFacts) -> Iterator[Finding]:
    """The last axes differ and one of them is 1, so that the loss broadcasts."""
    for target in targets(model, data):
        labels, loss, output = target.label_shape, target.loss, target.output.shape
        if labels is None or loss is None or target.labels is None or isinstance(output, Unknown):
            continue
        if loss.kind == "class" and len(labels) == 1 and len(output) == 2 and output[1] == 1:
            yield _lost_axis(target)
        if loss.kind != "builtin" or loss.name not in REGRESSION or len(labels) != len(output):
            continue
        if len(output) == 2 and labels[1] != output[1] and 1 in (labels[1], output[1]):
            if labels[1] is not None and output[1] is not None:
                yield _other_width(target, labels[1], output[1])


def _other_width(target: Target, labels: int, units: int) -> Finding:
    assert target.labels is not None
    each = (
        f"every label is compared with all {units} units"
        if labels == 1
        else f"the one unit is compared with all {labels} targets"
    )
    return CAUSE.finding(
        f"{labels} target{'s' * (labels != 1)} a sample against {units} unit{'s' * (units != 1)}: {each}",
        subject=target.subject,
        location=place(
            target.layer.code if target.layer else None, target.labels.code, target.labels.use
        ),
        evidence=[
            Evidence(
                claim="labels and outputs are compared by broadcasting",
                observed=f"labels {shape_words(target.labels.shape)}",
                expected=f"outputs {shape_words(target.output.shape)}",
                fact="data.y.shape",
                location=place(target.labels.code, target.labels.use),
            )
        ],
        fixes=_unit_fix(target, labels),
        confidence=Confidence.CERTAIN,
    )


def _unit_fix(target: Target, units: int) -> list[Fix]:
    if target.layer is None:
        return [fix(f"give the last layer {units} unit{'s' * (units != 1)}")]
    setting = "filters" if target.layer.setting("filters") else "units"
    return [
        unsafe(
            f"give the last layer {units} unit{'s' * (units != 1)}, one for each target",
            set_argument(target.layer.code, setting, str(units), position=0),
        )
    ]


def _lost_axis(target: Target) -> Finding:
    assert target.labels is not None and target.loss is not None
    return CAUSE.finding(
        f"the loss class `{target.loss.name}` gets labels of shape (n,) against outputs of (n, 1): "
        "their difference has shape (n, n)",
        subject=target.subject,
        location=place(target.labels.code, target.labels.use),
        evidence=[
            Evidence(
                claim="fit aligns the ranks for functions and for its own losses, not for a subclass of `Loss`",
                observed=f"labels {shape_words(target.labels.shape)}",
                expected=f"outputs {shape_words(target.output.shape)}",
                fact="data.y.shape",
                location=place(target.loss.code),
            )
        ],
        fixes=[
            fix(
                "give the labels the axis of the outputs",
                rework(target.labels.code, target.labels.use, "{}.reshape(-1, 1)"),
            )
        ],
        confidence=Confidence.LIKELY,
    )

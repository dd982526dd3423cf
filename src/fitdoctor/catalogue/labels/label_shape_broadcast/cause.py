"""Labels and outputs that broadcast silently.

## What happens

Regression losses subtract. Labels of shape (n, 1) and outputs of shape (n, 3), or (n, 3) and (n, 1), broadcast
without a warning: every label is compared with every unit, training runs to the end, and the model learns an
average. A custom `Loss` subclass or `train_step` receives labels of shape (n,) unchanged. With outputs of shape (n,
1), the difference then has shape (n, n).

## Why

The number of units differs from the number of targets, or an axis was lost (`df["price"]` has shape (n,),
`df[["price"]]` has shape (n, 1)). The cross-entropy losses check the shapes and raise; the regression losses do not.
`fit` aligns the ranks of labels and outputs for built-in losses and for custom loss functions, but not for
subclasses of `Loss`.

## Fix

Set the units of the last layer to the number of targets. In a custom `Loss` or `train_step`, reshape the labels to
the shape of the predictions first.

## Known limits

In a custom `Loss`, `train_step` or training loop, only the simple case is detected: labels and predictions that are
subtracted or multiplied with their original axes. Outputs with one axis more than the labels (sequence outputs) are
covered by FIT217 (`sequence-output-single-target`).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fitdoctor.catalogue import Cause, doubting, mentions
from fitdoctor.catalogue.doubts import LABELS
from fitdoctor.catalogue.labels.label_shapes import BROADCAST, rows, verdict
from fitdoctor.catalogue.labels.targets import Target, deciding_layer, targets
from fitdoctor.catalogue.words import place
from fitdoctor.diagnosis import Confidence, Evidence, Finding, Severity
from fitdoctor.edits import spell, unsafe, wrap
from fitdoctor.facts import ArrayFacts, DataFacts, FailureFacts, ModelFacts, Shape
from fitdoctor.records import replace
from fitdoctor.source.module import FunctionInfo
from fitdoctor.source.project import Project

TYPE_CHECKING = False
if TYPE_CHECKING:
    from fitdoctor.source.fits.fit_sites import SpreadSite

CAUSE = Cause(
    id="FIT204", slug="label-shape-broadcast", severity=Severity.WARNING, aspect="rank", explains=("FIT218",)
)


_REFUSED = ("must have the same rank", "must have the same shape")


@CAUSE.in_source
@doubting(LABELS)
@CAUSE.before_fit
def from_shapes(model: ModelFacts, data: DataFacts) -> Iterator[Finding]:
    """Report last axes that differ where one of them is 1, so the loss broadcasts."""
    for target in targets(model, data):
        labels, output = target.label_shape, target.output_shape
        if labels is None or output is None or target.labels is None:
            continue
        if verdict(target.loss_name, labels, output) == BROADCAST and None not in (labels[-1], output[-1]):
            yield _other_width(target, labels, output)


def _other_width(target: Target, labels: Shape, output: Shape) -> Finding:
    from fitdoctor.catalogue.labels.label_edits import with_units

    assert target.labels is not None
    count, units = labels[-1] or 1, output[-1] or 1
    each = (
        f"every label is compared with all {units} units"
        if count == 1
        else f"the only unit is compared with all {count} targets"
    )
    wanted = f"{count} unit{'s' * (count != 1)}"
    return CAUSE.finding(
        f"the labels have {count} target{'s' * (count != 1)} per sample, but the output has "
        f"{units} unit{'s' * (units != 1)}: {each}",
        subject=target.subject,
        location=place(target.layer.code if target.layer else None, target.labels.code, target.labels.use),
        evidence=[
            Evidence(
                claim="labels and outputs are compared by broadcasting",
                observed=f"labels {rows(labels)}",
                expected=f"outputs {rows(output)}",
                fact="data.y.shape",
                location=place(target.labels.code, target.labels.use),
            )
        ],
        fixes=[unsafe(f"use {wanted} in the last layer, one per target", with_units(target.layer, count))],
        confidence=Confidence.CERTAIN,
    )


@CAUSE.in_source
@doubting(LABELS)
@CAUSE.before_fit
def from_own_code(model: ModelFacts, data: DataFacts, project: Project) -> Iterator[Finding]:
    """Report a `Loss` subclass or training step that subtracts shapes fit does not align."""
    if data.role != "training" or len(data.y) != 1 or not isinstance(data.y[0].shape, tuple):
        return
    labels = data.y[0]
    assert isinstance(labels.shape, tuple)
    for name, function, output in _own_comparisons(model, data, project):
        if {len(labels.shape), len(output)} != {1, 2} or (*labels.shape, *output).count(1) < 1:
            continue
        if (labels.shape[1:] or output[1:]) != (1,):
            continue
        from fitdoctor.catalogue.labels.comparisons import refused_comparison, unaligned_comparison

        node, refused = unaligned_comparison(function), refused_comparison(function)
        if refused is not None:
            yield _lost_axis(labels, data, name, function, refused, output, raises=True)
        elif node is not None:
            yield _lost_axis(labels, data, name, function, node, output)


@CAUSE.after_failure
def from_failure(
    failure: FailureFacts, model: ModelFacts, data: DataFacts, project: Project
) -> Iterator[Finding]:
    """Report a crossentropy in the user's code that rejects shapes fit does not align."""
    if failure.type == "ValueError" and any(said in failure.message for said in _REFUSED):
        for finding in from_own_code(model, data, project):
            if finding.severity is Severity.ERROR:
                yield replace(finding, confidence=Confidence.CERTAIN)


@CAUSE.in_source
@mentions("GradientTape")
def from_own_loop(site: SpreadSite) -> Iterator[Finding]:
    """Report a custom loop that subtracts labels (n,) from predictions (n, 1)."""
    flat = len(site.labels) == 1
    tensorflow, imports = spell(site.code, "tensorflow", "tf")
    template = f"{tensorflow}.expand_dims({{}}, axis=-1)" if flat else f"{tensorflow}.squeeze({{}}, axis=-1)"
    yield CAUSE.finding(
        f"labels have shape {rows(site.labels)}, but outputs have shape {rows(site.predictions)}: "
        "their difference has shape (n, n)",
        subject="labels",
        location=place(site.given),
        evidence=[
            Evidence(
                claim="every label is subtracted from every output",
                observed=f"labels {rows(site.labels)}",
                expected=f"outputs {rows(site.predictions)}",
                location=place(site.code),
            )
        ],
        fixes=[
            unsafe("reshape the labels to the shape of the outputs", (*wrap(site.given, template), *imports))
        ],
        confidence=Confidence.LIKELY,
    )


def _own_comparisons(
    model: ModelFacts, data: DataFacts, project: Project
) -> Iterator[tuple[str, FunctionInfo, Shape]]:
    """Yield the user's functions that compare the only output with the labels, with the shape of that output."""
    own = {"train_step", "compute_loss"} & set(model.overrides)
    if own:
        owner = project.class_named(model.class_name)
        layer = deciding_layer(model)
        if owner is None or layer is None or layer.setting("units") != "1":
            return
        for name in sorted(own):
            method = owner.module.method(owner, name)
            if method is not None:
                yield f"`{name}`", method, (None, 1)
        return
    for target in targets(model, data):
        if target.loss is None or target.loss.kind != "class" or target.output_shape is None:
            continue
        owner = project.class_named(target.loss.name)
        method = owner.module.method(owner, "call") if owner is not None else None
        if method is not None:
            yield f"the custom loss `{target.loss.name}`", method, target.output_shape


def _lost_axis(
    labels: ArrayFacts,
    data: DataFacts,
    name: str,
    function: FunctionInfo,
    node: ast.expr,
    output: Shape,
    raises: bool = False,
) -> Finding:
    from fitdoctor.catalogue.labels.label_edits import rework_labels

    assert isinstance(labels.shape, tuple)
    flat = len(labels.shape) == 1
    return CAUSE.finding(
        f"{name} receives labels of shape {rows(labels.shape)}, but outputs of shape {rows(output)}: "
        + ("their ranks must be equal" if raises else "their difference has shape (n, n)"),
        subject="labels",
        location=function.module.location(node),
        severity=Severity.ERROR if raises else Severity.WARNING,
        evidence=[
            Evidence(
                claim="`fit` aligns ranks for built-in losses and loss functions, not for a `Loss` subclass or a step",
                observed=f"labels {rows(labels.shape)}",
                expected=f"outputs {rows(output)}",
                fact="data.y.shape",
                location=place(labels.code, labels.use),
            )
        ],
        fixes=[
            unsafe(
                "reshape the labels to the shape of the outputs",
                rework_labels(labels, data, "np.reshape({}, (-1, 1))", "tf.expand_dims(y, axis=-1)")
                if flat
                else (),
            )
        ],
        confidence=Confidence.LIKELY,
    )

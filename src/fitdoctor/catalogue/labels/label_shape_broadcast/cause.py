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
from fitdoctor.catalogue.knowledge.data.generator_sources import expression_of
from fitdoctor.catalogue.knowledge.labels.label_shapes import BROADCAST, compared_labels, rows, verdict
from fitdoctor.catalogue.knowledge.labels.targets import SPARSE, Target, deciding_layer, targets
from fitdoctor.catalogue.labels.comparisons import refused_comparison, unaligned_comparison
from fitdoctor.catalogue.labels.label_edits import respell, rework_labels, with_units
from fitdoctor.catalogue.prefilter import LABELS
from fitdoctor.catalogue.words import place
from fitdoctor.diagnosis import Confidence, Edit, Evidence, Finding, Fix, Severity
from fitdoctor.edits import spell, unsafe, wrap
from fitdoctor.facts import ArrayFacts, Code, DataFacts, FailureFacts, LayerFacts, ModelFacts, Shape
from fitdoctor.records import dataclass, replace
from fitdoctor.source.fits.fit_sites import SpreadSite
from fitdoctor.source.module import FunctionInfo
from fitdoctor.source.project import Project

CAUSE = Cause(
    id="FIT204", slug="label-shape-broadcast", severity=Severity.WARNING, aspect="rank", explains=("FIT218",)
)


_REFUSED = ("must have the same rank", "must have the same shape")


@CAUSE.in_source
@doubting(LABELS)
@CAUSE.before_fit
def from_shapes(model: ModelFacts, data: DataFacts, project: Project) -> Iterator[Finding]:
    """Report last axes that differ where one of them is 1, so the loss broadcasts."""
    for target in targets(model, data):
        labels, output = compared_labels(model, target, data), target.output_shape
        if labels is None or output is None or target.labels is None:
            continue
        if verdict(target.loss_name, labels, output) == BROADCAST and None not in (labels[-1], output[-1]):
            yield _other_width(target, labels, output, data, project)


def _other_width(target: Target, labels: Shape, output: Shape, data: DataFacts, project: Project) -> Finding:
    assert target.labels is not None
    count, units = labels[-1] or 1, output[-1] or 1
    each = (
        f"every label is compared with all {units} units"
        if count == 1
        else f"the only unit is compared with all {count} targets"
    )
    wanted = f"{count} unit{'s' * (count != 1)}"
    fixes = [unsafe(f"use {wanted} in the last layer, one per target", with_units(target.layer, count))]
    if count == 1 and target.activation == "softmax":
        fixes = list(_as_classes(target, data, units))
    short = _short_targets(project, target.layer, target.labels) if count == 1 else None
    if short is not None:
        fixes.insert(0, unsafe(f"cut `{short.horizon}` values per target, one per unit", short.edits))
    return CAUSE.certain(
        f"the labels have {count} target{'s' * (count != 1)} per sample, but the output has "
        f"{units} unit{'s' * (units != 1)}: {each}",
        place(
            short.code if short is not None else None,
            target.layer.code if target.layer else None,
            target.labels.code,
            target.labels.use,
        ),
        Evidence(
            "labels and outputs are compared by broadcasting",
            f"labels {rows(labels)}",
            f"outputs {rows(output)}",
            fact="data.y.shape",
            location=place(target.labels.code, target.labels.use),
        ),
        *fixes,
        subject=target.subject,
    )


def _as_classes(target: Target, data: DataFacts, units: int) -> Iterator[Fix]:
    """Yield the fixes for class labels compared with probabilities: another loss, or one-hot labels."""
    assert target.labels is not None
    if target.loss is not None:
        yield unsafe(f"use `{SPARSE}`, which expects class labels", respell(target.loss.code, SPARSE))
    keras, imports = spell(target.labels.use, "keras", "keras")
    text = f"{keras}.utils.to_categorical({{}}, num_classes={units})"
    mapped = f"tf.one_hot(tf.cast(tf.squeeze(y, -1), tf.int32), {units})"
    edits = rework_labels(target.labels, data, text, mapped)
    yield unsafe("one-hot encode the labels", edits, imports if edits else ())


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
        place(site.given),
        Evidence(
            "every label is subtracted from every output",
            f"labels {rows(site.labels)}",
            f"outputs {rows(site.predictions)}",
            location=place(site.code),
        ),
        unsafe("reshape the labels to the shape of the outputs", (*wrap(site.given, template), *imports)),
        subject="labels",
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
        if owner is None or owner.module.method(owner, "__call__") is not None:
            continue  # it may align the ranks before `call`
        method = owner.module.method(owner, "call")
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
    assert isinstance(labels.shape, tuple)
    flat = len(labels.shape) == 1
    return CAUSE.finding(
        f"{name} receives labels of shape {rows(labels.shape)}, but outputs of shape {rows(output)}: "
        + ("their ranks must be equal" if raises else "their difference has shape (n, n)"),
        function.module.location(node),
        Evidence(
            "`fit` aligns ranks for built-in losses and loss functions, not for a `Loss` subclass or a step",
            f"labels {rows(labels.shape)}",
            f"outputs {rows(output)}",
            fact="data.y.shape",
            location=place(labels.code, labels.use),
        ),
        unsafe(
            "reshape the labels to the shape of the outputs",
            rework_labels(labels, data, "np.reshape({}, (-1, 1))", "tf.expand_dims(y, axis=-1)")
            if flat
            else (),
        ),
        subject="labels",
        severity=Severity.ERROR if raises else Severity.WARNING,
    )


# --- windows of targets ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _ShortTargets:
    """The expression that cuts the targets, and how many values it should cut."""

    code: Code
    horizon: str
    """The parameter with the number of units."""
    edits: tuple[Edit, ...]


def _short_targets(project: Project, layer: LayerFacts | None, labels: ArrayFacts) -> _ShortTargets | None:
    """Return the only expression that cuts one-step targets beside a parameter that is named like the layer's units."""
    found = expression_of(project, labels.code)
    name = _units_name(layer)
    function = found[0].function_of(found[1]) if found is not None else None
    if found is None or function is None or name not in function.parameters:
        return None
    module = found[0]
    cut = [
        (node, size)
        for node in ast.walk(function.node)
        if isinstance(node, ast.Subscript) and (size := _one_step(node)) is not None
    ]
    if len(cut) != 1:
        return None
    node, size = cut[0]
    return _ShortTargets(module.code(node), name, (Edit(module.location(size), name),))


def _units_name(layer: LayerFacts | None) -> str:
    """Return the name in `Dense(horizon)` or `Dense(cfg.horizon)`."""
    code = layer.code if layer is not None else None
    units = code.argument("units", 0) if isinstance(code, Code) else None
    return units.text.rpartition(".")[2] if units is not None else ""


def _one_step(node: ast.Subscript) -> ast.Constant | None:
    """Return the 1 of `series[i : i + 1]`."""
    rows = node.slice
    if not isinstance(rows, ast.Slice) or rows.lower is None or not isinstance(rows.upper, ast.BinOp):
        return None
    end = rows.upper
    if not isinstance(end.op, ast.Add) or ast.dump(end.left) != ast.dump(rows.lower):
        return None
    return end.right if isinstance(end.right, ast.Constant) and end.right.value == 1 else None

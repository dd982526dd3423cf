"""Features that overflow in uint8 or are not scaled.

## What happens

Nothing raises. Images are uint8 arrays: `frames - 128` is also computed in uint8, and 100 - 128 is 228. The
difference of two frames is full of such jumps. Features on very different scales, or images from 0 to 255, are
accepted as they are; a network with the usual initial weights learns from them slowly, or only from the largest.
Images that are divided by 255 twice, in the data and by a `Rescaling` layer or `preprocess_input`, reach the weights as
almost the same number. So do features that go through a `Normalization` layer which was adapted to them before they were
transformed.

## Why

NumPy keeps the dtype of the array if the other operand is a small integer or has the same dtype. A float operand
(`frames / 255.0`, `frames - 127.5`) produces floats.

## Fix

Cast before the arithmetic: `frames.astype("float32") - 128`. Scale the features: `/ 255`, `StandardScaler`, or a
`Rescaling` or `Normalization` layer.

## Known limits

That an array is uint8 is read from the source. Large values are reported as info only, because they can be intended.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator

from fitdoctor.catalogue import Cause, mentions
from fitdoctor.catalogue.inputs.unscaled_or_wrapped_input.byte_arithmetic import (
    BYTE_WORDS,
    reads_bytes,
    wraps,
)
from fitdoctor.catalogue.knowledge.data.data_trail import nearest, trail
from fitdoctor.catalogue.knowledge.data.feature_scale import (
    data_is_finite,
    is_large,
    meets_weights,
    rescaling_of_scaled,
    unscaled,
)
from fitdoctor.catalogue.knowledge.data.generator_sources import expression_of
from fitdoctor.catalogue.words import number, place
from fitdoctor.diagnosis import Edit, Evidence, Finding, Severity
from fitdoctor.edits import fix, replace_code, unsafe, wrap
from fitdoctor.facts import (
    ArrayFacts,
    Code,
    DataFacts,
    FitFacts,
    LayerFacts,
    ModelFacts,
    Statistics,
    TrainingFacts,
)
from fitdoctor.records import replace
from fitdoctor.source.module import Module
from fitdoctor.source.project import Project

CAUSE = Cause(
    id="FIT112", slug="unscaled-or-wrapped-input", severity=Severity.WARNING, aspect="scale", stage=0
)


@CAUSE.in_source
@mentions(*BYTE_WORDS)
def from_source(module: Module, project: Project) -> Iterator[Finding]:
    """Report an addition or subtraction of uint8 arrays that leaves their range."""
    if not reads_bytes(module) or not any("keras" in one.text for one in project.modules):
        return
    for node in (*module.nodes(ast.BinOp), *module.nodes(ast.AugAssign)):
        if wraps(module, node):
            yield _wrapped(module, node)


@CAUSE.before_fit
def from_data(model: ModelFacts, fit: FitFacts, data: DataFacts, project: Project) -> Iterator[Finding]:
    """Report features that went through such arithmetic, or large features that are not scaled."""
    if fit.method not in ("fit", "train_on_batch") or data.role != "training":
        return
    bytes_there = project and any(reads_bytes(module) for module in project.modules)
    for array in data.x:
        links = trail(project, data, array) if bytes_there else iter(())
        wrapping = nearest(links, lambda link: wraps(link.module, link.node))
        if wrapping is not None:
            yield _wrapped(wrapping.module, wrapping.node)
        elif meets_weights(model) and is_large(array) and not _scales_in_between(project):
            yield _unscaled(array)
        layer = rescaling_of_scaled(model, array)
        if layer is not None:
            yield _scaled_twice(array, layer, project)
        elif model.kind == "functional" and _is_scaled_image(array):
            yield from _preprocessed_twice(array, project)


def _scales_in_between(project: Project) -> bool:
    """Whether the model may scale its input by operations, which are no layers."""
    return any("preprocess_input" in module.text for module in project.modules)


@CAUSE.before_fit
def from_normalization(fit: FitFacts, data: DataFacts, project: Project) -> Iterator[Finding]:
    """Report features that are far off the scale that the first `Normalization` layer was adapted to."""
    found = data.off_scale
    if found is None or fit.method != "fit" or data.role != "training" or not data.x:
        return
    calls = [site for module in project.modules for site in module.method_calls("adapt")] if project else []
    adapted = calls[0] if len(calls) == 1 else None
    given = adapted.argument("data", 0) if adapted is not None else None
    use = data.x[0].use
    edits: tuple[Edit, ...] = ()
    if adapted is not None and given is not None and isinstance(use, Code):
        if use.location.path == adapted.module.path and data.form == "arrays":
            edits = replace_code(adapted.module.code(given), use.text)
    yield CAUSE.certain(
        f"`{found.layer}` was adapted to other data: after it, feature {found.column} has mean {found.mean:.3g} and "
        f"deviation {found.deviation:.3g}",
        place(
            adapted.module.location(adapted.node) if adapted is not None else None, data.x[0].use, fit.code
        ),
        Evidence(
            f"feature {found.column} after `{found.layer}`",
            f"{found.mean:.3g} ± {found.deviation:.3g}",
            "0 ± 1",
            fact="data.off_scale",
            location=place(data.x[0].code, data.x[0].use),
        ),
        unsafe("adapt the layer to the features that it gets in training", edits),
        subject="scale of the features",
    )


@CAUSE.while_training
def from_training(training: TrainingFacts, model: ModelFacts, data: DataFacts) -> Iterator[Finding]:
    """Report large features as the reason for a loss that is not finite."""
    bad = [epoch for epoch, loss in enumerate(training.losses, 1) if not math.isfinite(loss)]
    if not bad or data.role != "training" or not data_is_finite(data):
        return
    for array in unscaled(model, data):
        found = _unscaled(array)
        yield replace(
            found,
            message=f"{found.message}: the loss is not finite in epoch {bad[0]}",
            severity=Severity.WARNING,
        )


def _wrapped(module: Module, node: ast.AST) -> Finding:
    text = " ".join(module.segment(node).split())
    left = node.left if isinstance(node, ast.BinOp) else None
    if isinstance(left, ast.Constant) and isinstance(node, ast.BinOp):
        left = node.right
    template = '{}.astype("float32")'
    return CAUSE.finding(
        f"`{text[:60]}` is computed in uint8: results outside 0 to 255 wrap around",
        module.location(node),
        Evidence("dtype of the operands", "uint8", "a float dtype"),
        unsafe("cast before the arithmetic", wrap(module.code(left), template))
        if left is not None
        else fix("cast to float32 before the arithmetic"),
        subject="dtype of the features",
    )


def _scaled_twice(array: ArrayFacts, layer: LayerFacts, project: Project) -> Finding:
    low, high, seen = _range(array, "0..255")
    return CAUSE.finding(
        f"`{array.path}` is scaled twice: it ranges from {low} to {high}, and the layer `{layer.name}` divides it again",
        place(layer.code, array.code, array.use),
        seen,
        unsafe("remove the `Rescaling` layer", _without_layer(layer, project)),
        fix("pass the values as they were before they were scaled"),
        subject="scale of the features",
    )


_KEEP_BYTES = frozenset({"efficientnet", "efficientnet_v2", "mobilenet_v3", "convnext"})
"""Networks of `keras.applications` that scale their input themselves: their `preprocess_input` returns it as it is."""


def _is_scaled_image(array: ArrayFacts) -> bool:
    """Whether it contains color images with values from 0 to 1."""
    known = array.statistics
    if not isinstance(known, Statistics) or known.minimum is None or known.maximum is None or known.integral:
        return False
    shape = array.shape if isinstance(array.shape, tuple) else ()
    return shape[3:] == (3,) and 0 <= known.minimum < 0.5 < known.maximum <= 1


def _preprocessed_twice(array: ArrayFacts, project: Project) -> Iterator[Finding]:
    """Report images that were divided by 255 although the model prepares bytes for its network."""
    calls = [
        (module, site)
        for module in project.modules
        for site in module.calls_under("keras.applications.")
        if site.name.endswith(".preprocess_input") and not _KEEP_BYTES & set(site.name.split("."))
    ]
    if len(calls) != 1 or not calls[0][1].node.args:
        return
    module, site = calls[0]
    given = site.node.args[0]
    if module.called(module.made_by(given)) not in ("keras.Input", "keras.layers.Input"):
        return
    low, high, seen = _range(array, "0..255")
    yield CAUSE.finding(
        f"`{array.path}` is scaled twice: it ranges from {low} to {high}, but `preprocess_input` expects 0 to 255",
        module.location(site.node),
        seen,
        unsafe("scale the images back before", wrap(module.code(given), "{} * 255.0")),
        fix("pass the images as they were before they were divided by 255"),
        subject="scale of the features",
    )


def _without_layer(layer: LayerFacts, project: Project) -> tuple[Edit, ...]:
    """Return the edit that removes a layer from a list of layers or a chain of calls, or lets it pass its input on."""
    found = expression_of(project, layer.code)
    if found is None or not isinstance(made := found[1], ast.Call):
        return ()
    module = found[0]
    around, here = module.parent(made), module.location(made)
    if isinstance(around, ast.List):
        at = around.elts.index(made)
        if at + 1 < len(around.elts):
            after = module.location(around.elts[at + 1])
            return (Edit(replace(here, end_line=after.line, end_column=after.column), ""),)
        before = module.location(around.elts[at - 1])
        return (Edit(replace(here, line=before.end_line, column=before.end_column), ""),) if at else ()
    if isinstance(around, ast.Call) and around.func is made and len(around.args) == 1:
        return (Edit(module.location(around), module.segment(around.args[0])),)
    holder = module.segment(made.func.value) if isinstance(made.func, ast.Attribute) else ""
    return (Edit(here, f"{holder}.Identity()"),) if holder else ()


def _unscaled(array: ArrayFacts) -> Finding:
    low, high, seen = _range(array, "about -1..1")
    return CAUSE.finding(
        f"`{array.path}` ranges from {low} to {high}, but nothing scales it before the first weights",
        place(array.code, array.use),
        seen,
        fix("scale the features: a `Rescaling` or `Normalization` layer, or `StandardScaler`"),
        subject="size of the features",
        severity=Severity.INFO,
    )


def _range(array: ArrayFacts, expected: str) -> tuple[str, str, Evidence]:
    statistics = array.statistics
    assert isinstance(statistics, Statistics)
    low, high = number(statistics.minimum or 0), number(statistics.maximum or 0)
    where = place(array.code, array.use)
    return (
        low,
        high,
        Evidence(f"values of `{array.path}`", f"{low}..{high}", expected, "data.x.statistics", where),
    )

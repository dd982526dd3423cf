"""Layer with the wrong number of axes in its input.

## What happens

A layer rejects the output of the previous layer: `ValueError: Input 0 of layer "lstm_1" is incompatible with the layer:
expected ndim=3, found ndim=2`.

Or it accepts that output, and the mistake shows at the end. `Dense` works along the last axis of any tensor, so after a
convolution without `Flatten` the output keeps its height and width. Cross-entropy losses then reject the labels (`must
have the same rank`, `must have rank (ndim) target.ndim - 1`). With `mse` and labels of shape (n,), `fit` runs to the end
and compares every label of the batch with every pixel.

## Why

A recurrent layer returns only its last time step unless `return_sequences=True` is set, and the next recurrent layer
needs all of them. `Flatten` and global pooling leave one vector per sample, which recurrent, convolution and pooling
layers do not accept. A convolution leaves an image, which `Dense` turns into another image. `Attention` accepts a value or
a query without a time axis and treats the batch axis as time: no error, but the output for a sample depends on the other
samples of its batch.

## Fix

Set `return_sequences=True` on the previous recurrent layer. Remove `Flatten` or global pooling before layers that need
the axes. Add `Flatten()` or global pooling between the last convolution and the first `Dense`.

## Known limits

A first layer that rejects the data, or the model's own `Input`, is a separate cause. In a subclassed model, the layers
are assumed to run in the order in which they are created.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fitdoctor.catalogue import Cause, doubting, mentions
from fitdoctor.catalogue.doubts import LABELS
from fitdoctor.catalogue.graph.traced import function_at, module_of
from fitdoctor.catalogue.labels.label_shapes import same_values, shapes_of_failure
from fitdoctor.catalogue.labels.targets import (
    CROSSENTROPIES,
    REGRESSION,
    Target,
    loss_accepted,
    loss_failure,
    targets,
    unwrapped,
)
from fitdoctor.catalogue.model.frames_of_films import refused_frames
from fitdoctor.catalogue.model.layer_ranks import (
    Ranks,
    adapting_fixes,
    axes_words,
    left_out_fix,
    ranks_in,
    recurrent_name,
    renamed_fix,
    same_for_rank,
    sequences_fix,
    sequences_in_loop,
    speaks_of_ranks,
)
from fitdoctor.catalogue.model.layer_refusals import Refusal, of_failure, of_site, of_trial
from fitdoctor.catalogue.model.layer_source import found_in, insert_layer
from fitdoctor.catalogue.model.model_inputs import first_layer, refused_input, refused_shape, refusing_site
from fitdoctor.catalogue.model.picture_convolutions import pictures_in_source, refused_pictures
from fitdoctor.catalogue.words import place, shape_words
from fitdoctor.diagnosis import Confidence, Evidence, Finding, Fix, Severity
from fitdoctor.edits import append_arguments, fix, unsafe
from fitdoctor.facts import DataFacts, FailureFacts, LayerFacts, ModelFacts, Shape, Unknown
from fitdoctor.failure.patterns import input_mismatch
from fitdoctor.patterns import pattern
from fitdoctor.source.module import FunctionInfo, Module
from fitdoctor.source.project import Project

TYPE_CHECKING = False
if TYPE_CHECKING:
    from fitdoctor.source.fits.fit_sites import ModelSite

CAUSE = Cause(
    id="FIT304",
    slug="layer-rank-mismatch",
    severity=Severity.ERROR,
    raises="ValueError",
    explains=("FIT201", "FIT202", "FIT204", "FIT205", "FIT216", "FIT218", "FIT320"),
)

RECURRENT = frozenset(
    {"LSTM", "GRU", "SimpleRNN", "RNN", "Bidirectional", "ConvLSTM1D", "ConvLSTM2D", "ConvLSTM3D"}
)
KEEPS_RANK = pattern(
    r"InputLayer|\w*Dropout\w*|\w*Normalization|Activation|\w*ReLU|ELU|Softmax|Gaussian\w+|Masking|Rescaling|Identity"
    r"|ActivityRegularization|Random\w+|Resizing|CenterCrop"
)
"""Layers that keep the axes of their input and accept any number of them."""


# --- a layer rejects the previous output --------------------------------------------------------------------------


@CAUSE.in_source
def from_source(site: ModelSite, project: Project) -> Iterator[Finding]:
    """Report a model in the source whose layers do not fit together."""
    refusal = of_site(site)
    if refusal is not None:
        yield from _refused(refusal, project)
    if site.failure is not None and refusing_site(site) is not None:
        yield from refused_frames(CAUSE, refusing_site(site), site.failure.message, project, proven=False)
        yield from pictures_in_source(CAUSE, site.layer, site.failure.inputs[0].shape, project)


@CAUSE.in_source
def from_pictures(model: ModelFacts, data: DataFacts, project: Project) -> Iterator[Finding]:
    """Report a first convolution over sequences that gets pictures."""
    if data.role == "training" and model.kind == "sequential" and len(data.x) == 1:
        yield from pictures_in_source(CAUSE, first_layer(model), data.x[0].shape, project)


@CAUSE.before_fit
def from_trial(model: ModelFacts, data: DataFacts, project: Project | Unknown) -> Iterator[Finding]:
    """Report the layer at which the abstract forward pass stopped."""
    refusal = of_trial(model, data) if data.role == "training" else None
    if refusal is not None and not _is_given_the_data(refusal, data):
        yield from _refused(refusal, project)


@CAUSE.after_failure
def outputs_passed_on(failure: FailureFacts, project: Project | Unknown) -> Iterator[Finding]:
    """Report a layer that received all outputs of the previous one."""
    from fitdoctor.catalogue.model.several_outputs import refused

    yield from refused(CAUSE, failure, project)


@CAUSE.after_failure
def frames_refused(failure: FailureFacts, project: Project | Unknown) -> Iterator[Finding]:
    """Report an image layer that received a sequence of images."""
    if failure.type == "ValueError" and refused_shape(failure.message) is not None:
        given = refused_input(failure, project)
        yield from refused_frames(CAUSE, given, failure.message, project, proven=True)


@CAUSE.after_failure
def pictures_for_sequences(failure: FailureFacts, project: Project | Unknown) -> Iterator[Finding]:
    """Report a convolution over sequences that got pictures; Keras does not name the layer."""
    yield from refused_pictures(CAUSE, failure, project)


@CAUSE.after_failure
def from_refusal(
    failure: FailureFacts, project: Project | Unknown, model: ModelFacts | Unknown, data: DataFacts | Unknown
) -> Iterator[Finding]:
    """Read the layer and its axes from the Keras error."""
    if not speaks_of_ranks(failure.message) or (isinstance(data, DataFacts) and data.role != "training"):
        return
    refusal = of_failure(failure, project, model, data, speaks_of_ranks)
    if refusal is None or (isinstance(data, DataFacts) and _is_given_the_data(refusal, data)):
        return
    if isinstance(project, Unknown) and failure.called not in _GIVEN_DATA and not _is_first(failure):
        yield from _while_making(refusal)
        return
    yield from _refused(refusal, project)


_GIVEN_DATA = ("fit", "evaluate", "predict", "train_on_batch", "test_on_batch", "predict_on_batch")


def _is_first(failure: FailureFacts) -> bool:
    """Whether the data goes into the layer unchanged, as far as a bare message tells: FIT102."""
    said = input_mismatch(failure.message)
    numbered = said is not None and said.layer.rpartition("_")[2].isdigit()
    return not failure.called and said is not None and not numbered and said.found is not None


def _while_making(refusal: Refusal) -> Iterator[Finding]:
    """Report from the message alone: there was no data yet, so one layer rejects another."""
    ranks = ranks_in(refusal.message)
    if ranks is None or ranks.found < 2:
        return
    yield CAUSE.finding(
        f"`{refusal.name}` expects {axes_words(ranks.expected)}, but the layer before it outputs {ranks.found}"
        if refusal.place is not None
        else f"`{refusal.name}` expects {axes_words(ranks.expected)}, but its input has {ranks.found}",
        subject=f"layer {refusal.name}",
        location=refusal.place,
        evidence=[
            Evidence(
                claim=f"input of `{refusal.name}`",
                observed=shape_words(ranks.shape) if ranks.shape is not None else f"{ranks.found} axes",
                expected=axes_words(ranks.expected),
                fact="failure.message",
            )
        ],
        fixes=[
            fix(
                "set `return_sequences=True` on the previous recurrent layer, or remove the `Flatten` or pooling"
                if ranks.found < ranks.expected
                else "flatten, pool or reshape before this layer"
            )
        ],
        confidence=Confidence.LIKELY,
    )


def _is_given_the_data(refusal: Refusal, data: DataFacts) -> bool:
    """Whether the layer received a model input unchanged: then the data or the `Input` is wrong."""
    ranks = ranks_in(refusal.message)
    if ranks is None or ranks.shape is None:
        return True
    return any(
        isinstance(array.shape, tuple)
        and array.shape[1:] == ranks.shape[1:]
        and len(array.shape) == ranks.found
        for array in data.x
    )


def _refused(refusal: Refusal, project: Project | Unknown) -> Iterator[Finding]:
    ranks = ranks_in(refusal.message)
    if ranks is None or ranks.found < 2 or refusal.layer is None:
        return
    culprit = _culprit(refusal)
    if culprit is None:
        return
    blamed, why, fixes = _judged(refusal, ranks, culprit, project)
    before = unwrapped(culprit)
    yield CAUSE.finding(
        f"`{refusal.layer.class_name}` expects {axes_words(ranks.expected)}, but `{before.class_name}` before it "
        f"outputs {ranks.found}",
        subject=f"layer {refusal.layer.class_name}",
        location=place(blamed.code, refusal.layer.code, refusal.place),
        evidence=[
            Evidence(
                claim=f"input of `{refusal.layer.class_name}`",
                observed=shape_words(ranks.shape) if ranks.shape is not None else f"{ranks.found} axes",
                expected=axes_words(ranks.expected),
                location=place(refusal.layer.code, refusal.place),
            ),
            Evidence(claim=why, location=place(culprit.code)),
        ],
        fixes=fixes,
        confidence=refusal.confidence,
    )


def _culprit(refusal: Refusal) -> LayerFacts | None:
    """Return the layer that set the number of axes; None if that is the model's input."""
    for layer in refusal.way:
        if not KEEPS_RANK.fullmatch(layer.class_name) and layer.class_name != "Dense":
            if layer.class_name == "Embedding" and _too_many_axes(refusal):
                return None
            return layer
    weighed = [layer for layer in refusal.way if not KEEPS_RANK.fullmatch(layer.class_name)]
    return weighed[0] if weighed and refusal.fixed_input else None


def _too_many_axes(refusal: Refusal) -> bool:
    """Whether the layer received more axes than it expects."""
    ranks = ranks_in(refusal.message)
    return ranks is not None and ranks.found > ranks.expected


def _judged(
    refusal: Refusal, ranks: Ranks, culprit: LayerFacts, project: Project | Unknown
) -> tuple[LayerFacts, str, list[Fix]]:
    """Return the layer to change, the reason, and the fixes."""
    layer = refusal.layer
    assert layer is not None
    name = culprit.class_name
    if ranks.found < ranks.expected:
        if name in RECURRENT:
            why = f"without `return_sequences=True`, `{recurrent_name(culprit)}` outputs only its last time step"
            looped = sequences_in_loop(culprit, layer, project)
            return culprit, why, [*looped, sequences_fix(culprit, project, "True")]
        if name.startswith("Global") or name == "Flatten":
            why = f"`{name}` leaves one vector per sample"
            return culprit, why, [left_out_fix(culprit, project, ranks.expected)]
    elif name in RECURRENT and ranks.expected == 2:
        why = f"with `return_sequences=True`, `{recurrent_name(culprit)}` outputs every time step"
        return culprit, why, [sequences_fix(culprit, project, "False")]
    other = same_for_rank(layer, ranks.found)
    if other:
        why = f"the input has {ranks.found} axes, which `{other}` expects"
        return layer, why, [renamed_fix(layer, other)]
    return layer, f"`{name}` outputs {ranks.found} axes", adapting_fixes(layer, ranks, project)


# --- an axis reduced away in a custom layer -------------------------------------------------------------------------


@CAUSE.after_failure
def from_reduction(
    failure: FailureFacts, project: Project, model: ModelFacts | Unknown, data: DataFacts | Unknown
) -> Iterator[Finding]:
    """Report a sum or mean that removed the axis which the next layer needs."""
    ranks = ranks_in(failure.message)
    if ranks is None or ranks.found != 1 or ranks.expected < 2:
        return
    refusal = of_failure(failure, project, model, data, speaks_of_ranks)
    if refusal is not None and isinstance(data, DataFacts) and _is_given_the_data(refusal, data):
        return
    reductions = _reductions(failure, project)
    if not reductions:
        return
    module, call = reductions[-1]
    needs = refusal.name if refusal is not None else "the next layer"
    yield CAUSE.finding(
        f"`{module.segment(call)[:60]}` leaves only the batch axis, but `{needs}` expects {axes_words(ranks.expected)}",
        subject=f"layer {needs}",
        location=module.location(call),
        evidence=[
            Evidence(
                claim=f"input of `{needs}`",
                observed="(None,)",
                expected="(None, 1)",
                location=failure.last_user_frame.location if failure.last_user_frame is not None else None,
            )
        ],
        fixes=[
            fix(
                "keep the reduced axis with size 1: `keepdims=True`",
                append_arguments(module.code(call), "keepdims=True"),
            )
        ],
        confidence=Confidence.LIKELY,
    )


def _reductions(failure: FailureFacts, project: Project) -> list[tuple[Module, ast.Call]]:
    """Return reductions over the second or last axis: in the traceback's functions, else in all forward passes."""
    for frame in reversed(failure.user_frames):
        module = module_of(project, frame)
        function = function_at(module, frame.line, frame.cell) if module is not None else None
        found = _reduced_away(function) if function is not None else []
        if found:
            return found
    return [
        found
        for module in project.modules
        for function in module.functions
        if function.traced is not None and function.traced.how in ("call", "lambda layer")
        for found in _reduced_away(function)
    ]


def _reduced_away(function: FunctionInfo) -> list[tuple[Module, ast.Call]]:
    from fitdoctor.catalogue.model.reductions import reduction_calls

    return [(function.module, call) for call, axis in reduction_calls(function) if axis in (1, -1)]


# --- attention without a time axis ----------------------------------------------------------------------------------


@CAUSE.in_source
@mentions("Attention")
@CAUSE.before_fit
def from_attention(model: ModelFacts, project: Project | Unknown) -> Iterator[Finding]:
    """Report attention that treats the batch axis as time."""
    from fitdoctor.catalogue.model.attention_axes import mixed_samples

    yield from mixed_samples(CAUSE, model, project, Severity.WARNING)


@CAUSE.after_failure
def from_spread_attention(
    failure: FailureFacts, model: ModelFacts, project: Project | Unknown
) -> Iterator[Finding]:
    """Report a loss that rejected the output of attention over the batch axis."""
    from fitdoctor.catalogue.model.attention_axes import mixed_samples

    if shapes_of_failure(failure) is not None:
        yield from mixed_samples(CAUSE, model, project, Severity.ERROR)


# --- Dense after a convolution, without Flatten -------------------------------------------------------------------


@CAUSE.in_source
@doubting(LABELS)
@CAUSE.before_fit
def from_labels(model: ModelFacts, data: DataFacts, project: Project | Unknown) -> Iterator[Finding]:
    """Report one label per sample for an output that still has height and width."""
    if data.role != "training":
        return
    for target in targets(model, data):
        labels, output = target.label_shape, target.output_shape
        if labels is None or output is None or not _is_unflattened(target, labels, output):
            continue
        if target.loss_name not in CROSSENTROPIES | REGRESSION:
            continue
        if loss_accepted(data) and all(length == 1 for length in output[1:-1]):
            continue
        yield _unflattened(target, labels, output, data, project)


def _has_image_for_row(labels: Shape, output: Shape) -> bool:
    """Whether there is one row of labels per sample but an image, or volume, of outputs."""
    return len(output) >= 4 and 1 <= len(labels) <= 2


def _is_unflattened(target: Target, labels: Shape, output: Shape) -> bool:
    """Whether `Flatten` is missing; for a 1 x 1 image, only a following `Dense` proves it."""
    if not _has_image_for_row(labels, output):
        return False
    return not same_values(labels[1:], output[1:]) or _first_dense(target)[0] is not None


def _unflattened(
    target: Target, labels: Shape, output: Shape, data: DataFacts, project: Project | Unknown
) -> Finding:
    raised = loss_failure(data) is not None
    silent = not raised and (loss_accepted(data) or target.loss_name in REGRESSION)
    dense, before = _first_dense(target)
    blamed = dense or before
    outcome = "broadcasts the labels" if silent else "rejects the labels"
    return CAUSE.finding(
        f"the output is an image of shape {shape_words((None, *output[1:]))}, but there is one label per sample: "
        f"`{target.loss_name}` {outcome}",
        subject="output shape",
        location=place(*(layer.code for layer in (dense, before) if layer is not None), data.code),
        evidence=[
            Evidence(
                claim="output shape",
                observed=shape_words((None, *output[1:])),
                expected=shape_words((None, *labels[1:])),
                fact="model.outputs",
            ),
            *_image_evidence(before),
        ],
        fixes=_flattening(blamed if dense is not None else None, project, silent),
        confidence=Confidence.CERTAIN if raised else Confidence.LIKELY,
        severity=Severity.WARNING if silent else Severity.ERROR,
    )


def _image_evidence(layer: LayerFacts | None) -> list[Evidence]:
    if layer is None:
        return []
    shapes = layer.output_shapes
    observed = shape_words(shapes[0]) if isinstance(shapes, tuple) and shapes else ""
    return [
        Evidence(
            claim=f"`{layer.class_name}` outputs an image", observed=observed, location=place(layer.code)
        )
    ]


def _first_dense(target: Target) -> tuple[LayerFacts | None, LayerFacts | None]:
    """Return the first `Dense` after the convolutions, and the layer before it."""
    dense: LayerFacts | None = None
    for step in target.way:
        if not isinstance(step, LayerFacts):
            return dense, None
        if step.class_name == "Dense":
            dense = step
        elif not KEEPS_RANK.fullmatch(step.class_name):
            return dense, step
    return dense, None


def _flattening(dense: LayerFacts | None, project: Project | Unknown, silent: bool) -> list[Fix]:
    found = found_in(project, dense.code) if dense is not None else None
    make = unsafe if silent else fix
    return [
        make(
            "add `Flatten()` before the first `Dense`",
            insert_layer(*found, "Flatten") if found is not None else (),
        ),
        make(
            "add global average pooling before the first `Dense`",
            insert_layer(*found, "GlobalAveragePooling2D") if found is not None else (),
        ),
    ]


@CAUSE.after_failure
def from_label_failure(
    failure: FailureFacts, model: ModelFacts | Unknown, data: DataFacts | Unknown, project: Project | Unknown
) -> Iterator[Finding]:
    """Report a loss that rejected one label per sample for an image of outputs."""
    shapes = shapes_of_failure(failure)
    if shapes is None or not _has_image_for_row(shapes.target, shapes.output):
        return
    if isinstance(model, ModelFacts) and isinstance(data, DataFacts):
        if data.role != "training":
            return
        for target in targets(model, data):
            labels, output = target.label_shape, target.output_shape
            if labels is not None and output is not None and _is_unflattened(target, labels, output):
                found = _unflattened(target, labels, output, data, project)
                yield CAUSE.finding(
                    found.message.replace("broadcasts the labels", "cannot compare them"),
                    subject=found.subject,
                    location=found.location,
                    evidence=found.evidence,
                    fixes=_flattening(_first_dense(target)[0], project, silent=False),
                    confidence=Confidence.CERTAIN,
                )
                return
    if same_values(shapes.target[1:], shapes.output[1:]):
        return
    frame = failure.last_user_frame
    yield CAUSE.finding(
        f"the output is an image of shape {shape_words((None, *shapes.output[1:]))}, but there is one label per sample",
        subject="output shape",
        location=frame.location if frame is not None else None,
        evidence=[
            Evidence(
                claim="output shape",
                observed=shape_words(shapes.output),
                expected=shape_words(shapes.target),
                fact="failure.message",
            )
        ],
        fixes=[fix("add `Flatten()` or global pooling before the first `Dense`")],
        confidence=Confidence.LIKELY,
    )

"""Two neighbouring layers do not fit: an axis too many or too few.

## What happens

A layer refuses what the layer before it makes: `ValueError: Input 0 of layer "lstm_1" is incompatible with the layer:
expected ndim=3, found ndim=2`. Or it takes it and the mistake shows at the end: `Dense` works along the last axis of
anything, so after a convolution without `Flatten` the output keeps its height and width. Crossentropies then refuse the
labels (`must have the same rank`, `must have rank (ndim) target.ndim - 1`); with `mse` and labels of shape (n,) fit runs
to its end and compares every label of the batch with every pixel.

## Why

A recurrent layer gives only its last step unless it is told `return_sequences=True`, and the next recurrent layer needs
all steps. `Flatten` and global pooling leave one row a sample, which no recurrent layer, convolution or pooling takes.
A convolution leaves an image, which `Dense` turns into another image. `Attention` takes a value, or a query, without a
time axis and takes the batch for the time: no error, and what a sample gives depends on the others of its batch.

## Fix

`return_sequences=True` on the recurrent layer before; no `Flatten` or global pooling before layers that need the axes;
`Flatten()` or global pooling between the last convolution and the first `Dense`.

## Known limits

A first layer that refuses the data, or the model's own `Input`, is another cause. In a model of one's own class the
layers are taken to be called in the order in which they were made.
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
from fitdoctor.catalogue.model.model_inputs import refused_input, refused_shape, refusing_site
from fitdoctor.catalogue.words import place, shape_words
from fitdoctor.diagnosis import Confidence, Evidence, Finding, Fix, Severity
from fitdoctor.edits import append_arguments, fix, unsafe
from fitdoctor.facts import DataFacts, FailureFacts, LayerFacts, ModelFacts, Shape, Unknown
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
"""Layers that hand on the axes as they come, and say nothing about how many there should be."""


# --- a layer refuses what comes before it -------------------------------------------------------------------------


@CAUSE.in_source
def from_source(site: ModelSite, project: Project) -> Iterator[Finding]:
    """The source makes a model whose layers do not fit."""
    refusal = of_site(site)
    if refusal is not None:
        yield from _refused(refusal, project)
    if site.failure is not None and refusing_site(site) is not None:
        yield from refused_frames(CAUSE, refusing_site(site), site.failure.message, project, proven=False)


@CAUSE.before_fit
def from_trial(model: ModelFacts, data: DataFacts, project: Project | Unknown) -> Iterator[Finding]:
    """The abstract forward pass stopped at a layer inside the model."""
    refusal = of_trial(model, data) if data.role == "training" else None
    if refusal is not None and not _is_given_the_data(refusal, data):
        yield from _refused(refusal, project)


@CAUSE.after_failure
def outputs_passed_on(failure: FailureFacts, project: Project | Unknown) -> Iterator[Finding]:
    """A layer got all the outputs of the one before it."""
    from fitdoctor.catalogue.model.several_outputs import refused

    yield from refused(CAUSE, failure, project)


@CAUSE.after_failure
def frames_refused(failure: FailureFacts, project: Project | Unknown) -> Iterator[Finding]:
    """A layer for pictures got the frames of a film at once."""
    if failure.type == "ValueError" and refused_shape(failure.message) is not None:
        given = refused_input(failure, project)
        yield from refused_frames(CAUSE, given, failure.message, project, proven=True)


@CAUSE.after_failure
def from_refusal(
    failure: FailureFacts, project: Project | Unknown, model: ModelFacts | Unknown, data: DataFacts | Unknown
) -> Iterator[Finding]:
    """Keras names the layer and the axes."""
    if not speaks_of_ranks(failure.message) or (isinstance(data, DataFacts) and data.role != "training"):
        return
    refusal = of_failure(failure, project, model, data, speaks_of_ranks)
    if refusal is None or (isinstance(data, DataFacts) and _is_given_the_data(refusal, data)):
        return
    if isinstance(project, Unknown) and failure.called and failure.called not in _GIVEN_DATA:
        yield from _while_making(refusal)
        return
    yield from _refused(refusal, project)


_GIVEN_DATA = ("fit", "evaluate", "predict", "train_on_batch", "test_on_batch", "predict_on_batch")


def _while_making(refusal: Refusal) -> Iterator[Finding]:
    """The words alone: no data was there yet, so one layer of the model refuses another."""
    ranks = ranks_in(refusal.message)
    if ranks is None or ranks.found < 2:
        return
    yield CAUSE.finding(
        f"`{refusal.name}` needs {axes_words(ranks.expected)}, and what comes before it in the model gives {ranks.found}",
        subject=f"layer {refusal.name}",
        location=refusal.place,
        evidence=[
            Evidence(
                claim=f"`{refusal.name}` gets",
                observed=shape_words(ranks.shape) if ranks.shape is not None else f"{ranks.found} axes",
                expected=axes_words(ranks.expected),
                fact="failure.message",
            )
        ],
        fixes=[
            fix(
                "set `return_sequences=True` on the recurrent layer before, or leave out the `Flatten` or pooling"
                if ranks.found < ranks.expected
                else "flatten, pool or reshape before this layer"
            )
        ],
        confidence=Confidence.LIKELY,
    )


def _is_given_the_data(refusal: Refusal, data: DataFacts) -> bool:
    """Whether the layer got an input of the model as it is: then the data, or the `Input`, is to blame."""
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
        f"`{refusal.layer.class_name}` needs {axes_words(ranks.expected)}, and `{before.class_name}` before it gives "
        f"{ranks.found}",
        subject=f"layer {refusal.layer.class_name}",
        location=place(blamed.code, refusal.layer.code, refusal.place),
        evidence=[
            Evidence(
                claim=f"`{refusal.layer.class_name}` gets",
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
    """The layer that decided how many axes there are; None when that is the model's input."""
    for layer in refusal.way:
        if not KEEPS_RANK.fullmatch(layer.class_name) and layer.class_name != "Dense":
            if layer.class_name == "Embedding" and _too_many_axes(refusal):
                return None
            return layer
    weighed = [layer for layer in refusal.way if not KEEPS_RANK.fullmatch(layer.class_name)]
    return weighed[0] if weighed and refusal.fixed_input else None


def _too_many_axes(refusal: Refusal) -> bool:
    """Whether the layer got more axes than it wants."""
    ranks = ranks_in(refusal.message)
    return ranks is not None and ranks.found > ranks.expected


def _judged(
    refusal: Refusal, ranks: Ranks, culprit: LayerFacts, project: Project | Unknown
) -> tuple[LayerFacts, str, list[Fix]]:
    """The layer to change, why, and how."""
    layer = refusal.layer
    assert layer is not None
    name = culprit.class_name
    if ranks.found < ranks.expected:
        if name in RECURRENT:
            why = f"without `return_sequences=True`, `{recurrent_name(culprit)}` gives only its last step"
            looped = sequences_in_loop(culprit, layer, project)
            return culprit, why, [*looped, sequences_fix(culprit, project, "True")]
        if name.startswith("Global") or name == "Flatten":
            why = f"`{name}` leaves one row a sample"
            return culprit, why, [left_out_fix(culprit, project, ranks.expected)]
    elif name in RECURRENT and ranks.expected == 2:
        why = f"with `return_sequences=True`, `{recurrent_name(culprit)}` gives every step"
        return culprit, why, [sequences_fix(culprit, project, "False")]
    other = same_for_rank(layer, ranks.found)
    if other:
        why = f"`{name}` gives {ranks.found} axes, for which there is `{other}`"
        return layer, why, [renamed_fix(layer, other)]
    return layer, f"`{name}` gives {ranks.found} axes", adapting_fixes(layer, ranks, project)


# --- an axis summed away in a layer of one's own --------------------------------------------------------------------


@CAUSE.after_failure
def from_reduction(
    failure: FailureFacts, project: Project, model: ModelFacts | Unknown, data: DataFacts | Unknown
) -> Iterator[Finding]:
    """A layer got one number a sample: the sum or the mean before it took away the axis that it needs."""
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
        f"`{module.segment(call)[:60]}` leaves no axis beside the batch, and `{needs}` needs {axes_words(ranks.expected)}",
        subject=f"layer {needs}",
        location=module.location(call),
        evidence=[
            Evidence(
                claim=f"`{needs}` gets",
                observed="(None,)",
                expected="(None, 1)",
                location=failure.last_user_frame.location if failure.last_user_frame is not None else None,
            )
        ],
        fixes=[
            fix(
                "keep the reduced axis with length 1: `keepdims=True`",
                append_arguments(module.code(call), "keepdims=True"),
            )
        ],
        confidence=Confidence.LIKELY,
    )


def _reductions(failure: FailureFacts, project: Project) -> list[tuple[Module, ast.Call]]:
    """Reductions over the second or the last axis: in the functions of the traceback, else in what the layers compute."""
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
    """Attention takes the batch for the time."""
    from fitdoctor.catalogue.model.attention_axes import mixed_samples

    yield from mixed_samples(CAUSE, model, project, Severity.WARNING)


@CAUSE.after_failure
def from_spread_attention(
    failure: FailureFacts, model: ModelFacts, project: Project | Unknown
) -> Iterator[Finding]:
    """The loss refused what attention over the samples of the batch gave."""
    from fitdoctor.catalogue.model.attention_axes import mixed_samples

    if shapes_of_failure(failure) is not None:
        yield from mixed_samples(CAUSE, model, project, Severity.ERROR)


# --- Dense behind a convolution, without Flatten ------------------------------------------------------------------


@CAUSE.in_source
@doubting(LABELS)
@CAUSE.before_fit
def from_labels(model: ModelFacts, data: DataFacts, project: Project | Unknown) -> Iterator[Finding]:
    """One label a sample against an output that still has height and width."""
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
    """Whether there is one row of labels a sample and an image, or volume, of outputs."""
    return len(output) >= 4 and 1 <= len(labels) <= 2


def _is_unflattened(target: Target, labels: Shape, output: Shape) -> bool:
    """An image of 1 x 1 holds as many values as the row: then only a `Dense` tells that it should have been one."""
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
    outcome = "compares them by broadcasting" if silent else "refuses them"
    return CAUSE.finding(
        f"the output has shape {shape_words((None, *output[1:]))} for one label a sample: nothing flattens it, and "
        f"`{target.loss_name}` {outcome}",
        subject="output shape",
        location=place(*(layer.code for layer in (dense, before) if layer is not None), data.code),
        evidence=[
            Evidence(
                claim="output against labels",
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
        Evidence(claim=f"`{layer.class_name}` gives an image", observed=observed, location=place(layer.code))
    ]


def _first_dense(target: Target) -> tuple[LayerFacts | None, LayerFacts | None]:
    """The first `Dense` behind the convolutions, and the layer before it."""
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
            "flatten before the first `Dense`", insert_layer(*found, "Flatten") if found is not None else ()
        ),
        make(
            "average over the image before the first `Dense`",
            insert_layer(*found, "GlobalAveragePooling2D") if found is not None else (),
        ),
    ]


@CAUSE.after_failure
def from_label_failure(
    failure: FailureFacts, model: ModelFacts | Unknown, data: DataFacts | Unknown, project: Project | Unknown
) -> Iterator[Finding]:
    """The loss refused one label a sample for an image of outputs."""
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
                    found.message.replace("compares them by broadcasting", "cannot compare them"),
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
        f"the output has shape {shape_words((None, *shapes.output[1:]))} for one label a sample: nothing flattens it",
        subject="output shape",
        location=frame.location if frame is not None else None,
        evidence=[
            Evidence(
                claim="output against labels",
                observed=shape_words(shapes.output),
                expected=shape_words(shapes.target),
                fact="failure.message",
            )
        ],
        fixes=[fix("flatten, or pool over the image, before the first `Dense`")],
        confidence=Confidence.LIKELY,
    )

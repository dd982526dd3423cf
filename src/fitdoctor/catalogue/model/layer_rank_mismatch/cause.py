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
import re
from collections.abc import Iterator

from fitdoctor.catalogue import Cause, doubting, mentions
from fitdoctor.catalogue.knowledge.data.shapes import GIVEN_DATA
from fitdoctor.catalogue.knowledge.labels.label_shapes import flattened_alike, same_values, shapes_of_failure
from fitdoctor.catalogue.knowledge.labels.targets import (
    CROSSENTROPIES,
    REGRESSION,
    Target,
    loss_accepted,
    loss_failure,
    targets,
    unwrapped,
)
from fitdoctor.catalogue.knowledge.models.layer_source import (
    found_in,
    insert_layer,
    is_layer_call,
    layer_of,
    nodes_after,
    wrapped_in,
)
from fitdoctor.catalogue.knowledge.models.model_inputs import (
    first_layer,
    goes_by_frames,
    inside_model,
    is_picture,
    is_seldom_first,
    is_sequence_layer_for_pictures,
    refused_input,
    refused_shape,
)
from fitdoctor.catalogue.knowledge.models.rank_edits import (
    left_out_fix,
    recurrent_name,
    sequences_fix,
    sequences_in_loop,
)
from fitdoctor.catalogue.knowledge.models.refusals import (
    Ranks,
    Refusal,
    axes_words,
    explains_refusals,
    speaks_of_ranks,
)
from fitdoctor.catalogue.model.reductions import reduction_calls
from fitdoctor.catalogue.prefilter import LABELS
from fitdoctor.catalogue.words import place, shape_words
from fitdoctor.diagnosis import Confidence, Edit, Evidence, Finding, Fix, Location, Severity
from fitdoctor.edits import append_arguments, fix, unsafe
from fitdoctor.facts import Code, DataFacts, FailureFacts, Frame, LayerFacts, ModelFacts, Shape, Unknown
from fitdoctor.failure.failed_line import function_at, module_of, nodes_at, raised_here
from fitdoctor.failure.shapes import input_count, parse_shape
from fitdoctor.records import replace
from fitdoctor.source.module import FunctionInfo, Module
from fitdoctor.source.project import Project

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
KEEPS_RANK = re.compile(
    r"InputLayer|\w*Dropout\w*|\w*Normalization|Activation|\w*ReLU|ELU|Softmax|Gaussian\w+|Masking|Rescaling|Identity"
    r"|ActivityRegularization|Random\w+|Resizing|CenterCrop"
)
"""Layers that keep the axes of their input and accept any number of them."""


# --- a layer rejects the previous output --------------------------------------------------------------------------


def _speaks(message: str) -> bool:
    return speaks_of_ranks(message) or refused_shape(message) is not None


@explains_refusals(CAUSE, _speaks, tried=True)
def rank_refused(refusal: Refusal, project: Project) -> Iterator[Finding]:
    """Report layers that do not fit together, by the number of axes."""
    yield from _frames_refused(refusal, project)
    yield from _pictures_refused(refusal, project)
    if not refusal.is_of_data and refusal.ranks is not None:
        found = list(_refused(refusal, refusal.ranks, project))
        yield from found or _while_making(refusal, refusal.ranks, project)
        yield from _reduced(refusal, refusal.ranks, project)


def _refused(refusal: Refusal, ranks: Ranks, project: Project) -> Iterator[Finding]:
    """Report the layer before the one that rejects its output."""
    culprit = _culprit(refusal, ranks)
    if ranks.found < 2 or refusal.layer is None or culprit is None:
        return
    blamed, why, fixes = _judged(refusal.layer, ranks, culprit, project)
    yield refusal.finding(
        CAUSE,
        f"`{refusal.name}` expects {axes_words(ranks.expected)}, but `{unwrapped(culprit).class_name}` before it "
        f"outputs {ranks.found}",
        place(blamed.code, refusal.location),
        refusal.received(axes_words(ranks.expected)),
        Evidence(why, location=place(culprit.code)),
        *fixes,
    )


def _while_making(refusal: Refusal, ranks: Ranks, project: Project) -> Iterator[Finding]:
    """Report from the message alone: there was no data yet, so one layer rejects another.

    The source may leave open which layer comes before, in a loop of unknown length for example.
    """
    failure, said = refusal.failure, refusal.said
    if failure is None or refusal.way or failure.called in GIVEN_DATA or ranks.found < 2:
        return
    # The name of the layer says whether another one of its class was made before it.
    first = said is None or not (said.layer.rpartition("_")[2].isdigit() or is_seldom_first(said.layer))
    if first and (project or not failure.called and said and said.found is not None):
        return  # the data goes into the layer unchanged, as far as a bare message tells: FIT102
    layer = refusal.layer
    # Nothing before it in the source removes an axis, so it follows itself, in the next round of a loop.
    repeated = layer is not None and layer.class_name in RECURRENT and ranks.found < ranks.expected
    found = f"the layer before it outputs {ranks.found}" if refusal.place else f"its input has {ranks.found}"
    yield CAUSE.finding(
        f"{refusal.shown} expects {axes_words(ranks.expected)}, but {found}",
        refusal.place,
        refusal.received(axes_words(ranks.expected)),
        *(sequences_in_loop(layer, layer, project) if layer is not None and repeated else ()),
        fix(_brings_axes(refusal.name, ranks)),
        subject=f"layer {refusal.name}",
    )


def _brings_axes(layer: str, ranks: Ranks) -> str:
    """Return what gives a layer the number of axes that it expects, if the one before it is unknown."""
    if ranks.found > ranks.expected:
        return "flatten, pool or reshape before this layer"
    if layer.lower().startswith("flatten"):
        return "remove this `Flatten`: its input is already one vector per sample, as after global pooling"
    if ranks.expected > 3:
        return (
            "keep the axes of the images before this layer: remove a `Flatten` or global pooling, or add the missing "
            "axis, such as the channels, with `Reshape`"
        )
    return (
        "give it one row per time step: `return_sequences=True` on a recurrent layer before it, no `Flatten` or global "
        "pooling, or `Reshape` after a `Dense`"
    )


def _culprit(refusal: Refusal, ranks: Ranks) -> LayerFacts | None:
    """Return the layer that set the number of axes; None if that is the model's input."""
    changing = [layer for layer in refusal.way if not KEEPS_RANK.fullmatch(layer.class_name)]
    setting = next((layer for layer in changing if layer.class_name != "Dense"), None)
    if setting is not None:
        return None if setting.class_name == "Embedding" and ranks.found > ranks.expected else setting
    return changing[0] if changing and refusal.fixed_input else None


def _judged(
    layer: LayerFacts, ranks: Ranks, culprit: LayerFacts, project: Project
) -> tuple[LayerFacts, str, list[Fix]]:
    """Return the layer to change, the reason, and the fixes."""
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
    other = _same_for_rank(layer, ranks.found)
    if other:
        why = f"the input has {ranks.found} axes, which `{other}` expects"
        return layer, why, [_renamed_fix(layer, other)]
    return layer, f"`{name}` outputs {ranks.found} axes", _adapting_fixes(layer, ranks, project)


_OF_A_RANK = re.compile(
    r"(?P<stem>(?:Global)?(?:Max|Average)Pooling|Conv|SeparableConv|UpSampling|ZeroPadding)\dD"
)


def _same_for_rank(layer: LayerFacts, rank: int) -> str:
    """Return the variant of a layer for a number of axes: `Conv1D`, `Conv2D`, `Conv3D`."""
    match = _OF_A_RANK.fullmatch(layer.class_name)
    if match is None or not 3 <= rank <= 5 or (match["stem"] == "SeparableConv" and rank == 5):
        return ""
    return f"{match['stem']}{rank - 2}D"


def _renamed_fix(layer: LayerFacts, name: str) -> Fix:
    """Replace the class of a layer."""
    code = layer.code
    title = f"use `{name}`"
    if isinstance(code, Unknown) or any("(" in argument.text for argument in code.arguments):
        return fix(title)
    spelt, here = code.text.split("(")[0], code.location
    path, dot, last = spelt.rpartition(".")
    if not dot or "\n" in spelt or not last.isidentifier():
        return fix(title)
    span = Location(here.path, here.line, here.column, here.line, here.column + len(spelt), here.cell)
    return unsafe(title, (Edit(span, f"{path}.{name}"),))


def _adapting_fixes(layer: LayerFacts, ranks: Ranks, project: Project) -> list[Fix]:
    """Insert a layer that reshapes the input to the expected number of axes."""
    found = found_in(project, layer.code)
    shape = ranks.shape
    if ranks.found == 2 and ranks.expected == 3:
        title = "turn the vector into a sequence: `Reshape((-1, 1))` or `RepeatVector(steps)`"
        return [unsafe(title, insert_layer(*found, "Reshape", "(-1, 1)") if found is not None else ())]
    if ranks.found == 4 and ranks.expected == 3 and shape is not None and None not in shape[1:]:
        target = f"({shape[1]}, {(shape[2] or 0) * (shape[3] or 0)})"
        title = f"turn the rows of the image into a sequence: `Reshape({target})`"
        return [fix(title, insert_layer(*found, "Reshape", target) if found is not None else ())]
    if ranks.expected == 2:
        return [
            fix("add `Flatten()` before it", insert_layer(*found, "Flatten") if found is not None else ())
        ]
    return [fix(f"reshape the input of `{layer.class_name}` to {ranks.expected} axes with `Reshape`")]


# --- several outputs, frames and pictures -----------------------------------------------------------------------------


@CAUSE.after_failure
def outputs_passed_on(failure: FailureFacts, project: Project) -> Iterator[Finding]:
    """Report a layer that received all outputs of the previous one (`return_state=True`)."""
    said, frame = input_count(failure.message), failure.last_user_frame
    if said is None or frame is None or not inside_model(failure):
        return
    module = module_of(project, frame)
    made = _maker(module, frame) if module is not None else None
    yield CAUSE.certain(
        f"layer `{said.layer}` expects one tensor, but receives the {said.received} outputs of the previous layer",
        made or frame.location,
        Evidence("input tensors", str(said.received), "1", location=frame.location),
        raised_here(failure),
        fix("unpack the outputs and pass only one of them, or remove `return_state`"),
        subject=f"input of {said.layer}",
    )


def _maker(module: Module, frame: Frame) -> Location | None:
    """Return where the list comes from: the argument's call, or the only layer with several outputs."""
    called = [call for call in nodes_at(module, ast.Call, frame) if getattr(call.func, "attr", "") != "add"]
    given = [call.args[0] for call in called if len(call.args) == 1]
    for value in given:
        made = module.made_by(value)
        if isinstance(made, ast.Call) and made is not value:
            return module.location(made)
    several = [
        site.node
        for site in module.calls
        if is_layer_call(module, site.node)
        and any(word.arg in ("return_state", "return_attention_scores") for word in site.node.keywords)
    ]
    return module.location(several[0]) if len(several) == 1 else None


_OF_ONE_PICTURE = re.compile(
    r"(Separable|Depthwise)?Conv2D(Transpose)?|(Global)?(Max|Average)Pooling2D|ZeroPadding2D|UpSampling2D|Flatten"
)


def _frames_refused(refusal: Refusal, project: Project) -> Iterator[Finding]:
    """Report an image layer that received a sequence of images: it should be wrapped in `TimeDistributed`."""
    given = refused_input(refusal, project)
    if given is None or not goes_by_frames(*given, refusal.message, project):
        return
    found = found_in(project, given[0])
    layers = list(_of_pictures(*found)) if found is not None else []
    if found is None or not layers:
        return
    module, kind = found[0], layer_of(found[0], layers[0]).class_name
    edits = [edit for layer in layers for edit in wrapped_in(module, layer, "TimeDistributed")]
    seen, wanted = shape_words(given[1]), shape_words((None, *given[1][2:]))
    yield CAUSE.finding(
        f"`{kind}` expects one image per sample, but the input is a sequence of images",
        module.location(layers[0]),
        Evidence("input shape of the model", seen, wanted, location=given[0].location),
        fix(f"apply the layer to each time step: `TimeDistributed({kind}(…))`", dict.fromkeys(edits)),
        subject=f"layer {kind}",
        confidence=Confidence.CERTAIN if refusal.failure is not None else Confidence.LIKELY,
    )


def _of_pictures(module: Module, node: ast.Call) -> Iterator[ast.Call]:
    """Yield the image layers up to the first one that consumes the time steps."""
    chain = [node, *nodes_after(module, node)] if is_layer_call(module, node) else nodes_after(module, node)
    for each in chain:
        if not isinstance(each, ast.Call) or not is_layer_call(module, each):
            return
        name = layer_of(module, each).class_name
        if _OF_ONE_PICTURE.fullmatch(name):
            yield each
        elif name in ("TimeDistributed", "LSTM", "GRU", "SimpleRNN", "Bidirectional"):
            return


@CAUSE.in_source
def from_pictures(model: ModelFacts, data: DataFacts, project: Project) -> Iterator[Finding]:
    """Report a first convolution over sequences that gets pictures; Keras 2 takes the further axes as batch axes."""
    if data.role == "training" and model.kind == "sequential" and len(data.x) == 1 and model.keras == 3:
        layer, shape = first_layer(model), data.x[0].shape
        if isinstance(shape, tuple) and is_sequence_layer_for_pictures(layer, shape):
            yield _of_convolution(Refusal("", layer), shape, project)


def _pictures_refused(refusal: Refusal, project: Project) -> Iterator[Finding]:
    """Report a convolution over sequences that got pictures; Keras does not name the layer."""
    ranks, kernel = refusal.ranks, _KERNEL.search(refusal.message)
    shape = ranks.shape if ranks is not None else refused_shape(refusal.message)
    if shape is None or not is_picture(shape):
        return
    if refusal.failure is None and refused_input(refusal, project) is not None:
        if is_sequence_layer_for_pictures(refusal.layer, shape):
            yield _of_convolution(refusal, shape, project)
    elif refusal.failure is not None and kernel is not None:
        sizes = parse_shape(kernel[1])
        if sizes is not None and len(sizes) == 3:
            made = _convolution(project, sizes[-1])
            known = replace(refusal, layer=made, confidence=Confidence.CERTAIN)
            yield _of_convolution(known, shape, project, raised_here(refusal.failure))


_KERNEL = re.compile(r"received kernel of shape (\([^)]*\)) and input of shape")


def _of_convolution(refusal: Refusal, shape: Shape, project: Project, *evidence: Evidence) -> Finding:
    found = found_in(project, refusal.code)
    name = found[0].code(found[1].func) if found is not None else None
    edits = (Edit(name.location, name.text.replace("1D", "2D")),) if name is not None else ()
    return refusal.finding(
        CAUSE,
        f"`Conv1D` expects {axes_words(3)}, but the images have {len(shape)}",
        refusal.location,
        Evidence("input of `Conv1D`", shape_words(shape), "(batch, steps, channels)"),
        *evidence,
        unsafe("use `Conv2D` and 2D pooling layers", edits),
        subject="layer Conv1D",
    )


def _convolution(project: Project, filters: int | None) -> LayerFacts | None:
    """Return the only `Conv1D` of the program, or the only one with that many filters."""
    modules = project.modules
    calls = [(module, call) for module in modules for call in module.calls]
    every = [
        layer_of(module, call.node)
        for module, call in calls
        if call.name.rpartition(".")[2] in ("Conv1D", "Convolution1D")
    ]
    found = (
        every if len(every) == 1 else [layer for layer in every if layer.setting("filters") == str(filters)]
    )
    return found[0] if len(found) == 1 else None


# --- an axis reduced away in a custom layer -------------------------------------------------------------------------


def _reduced(refusal: Refusal, ranks: Ranks, project: Project) -> Iterator[Finding]:
    """Report a sum or mean that removed the axis which the next layer needs."""
    if refusal.failure is None or not project or ranks.found != 1 or ranks.expected < 2:
        return
    reductions = _reductions(refusal.failure, project)
    if not reductions:
        return
    module, call = reductions[-1]
    keep = append_arguments(module.code(call), "keepdims=True")
    yield CAUSE.finding(
        f"`{module.segment(call)[:60]}` leaves only the batch axis, but {refusal.shown} expects "
        f"{axes_words(ranks.expected)}",
        module.location(call),
        Evidence(f"input of {refusal.shown}", "(None,)", "(None, 1)", location=refusal.place),
        fix("keep the reduced axis with size 1: `keepdims=True`", keep),
        subject=f"layer {refusal.name}",
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
    return [(function.module, call) for call, axis in reduction_calls(function) if axis in (1, -1)]


# --- attention without a time axis ----------------------------------------------------------------------------------


@CAUSE.in_source
@mentions("Attention")
@CAUSE.before_fit
def from_attention(model: ModelFacts, project: Project) -> Iterator[Finding]:
    """Report attention that treats the batch axis as time."""
    yield from _mixed_samples(model, project, Severity.WARNING)


@CAUSE.after_failure
def from_spread_attention(failure: FailureFacts, model: ModelFacts, project: Project) -> Iterator[Finding]:
    """Report a loss that rejected the output of attention over the batch axis."""
    if shapes_of_failure(failure) is not None:
        yield from _mixed_samples(model, project, Severity.ERROR)


_ATTENTION = ("Attention", "AdditiveAttention")
"""Layers that accept any number of axes; `MultiHeadAttention` rejects fewer than three."""
_GIVES_ONE_STEP = ("LSTM", "GRU", "SimpleRNN", "RNN", "Bidirectional")


def _mixed_samples(model: ModelFacts, project: Project, severity: Severity) -> Iterator[Finding]:
    """Report attention in which only one of query and value has a time axis."""
    layers = {layer.name: layer for layer in model.every_layer()}
    for layer in layers.values():
        given = layer.input_shapes
        if layer.class_name not in _ATTENTION or not layer.builtin or isinstance(given, Unknown):
            continue
        flat = [index for index, shape in enumerate(given[:2]) if len(shape) == 2]
        if len(given) < 2 or len(flat) != 1 or {len(shape) for shape in given[:2]} != {2, 3}:
            continue
        what = ("query", "value")[flat[0]]
        last = _last_step(layer, given[1], layers) if what == "value" else None
        yield CAUSE.finding(
            f"the {what} of `{layer.class_name}` has no time axis, so each sample attends to the other samples of its batch",
            place(*(one.code for one in (last, layer) if one is not None)),
            Evidence(
                f"{what} of `{layer.class_name}`",
                shape_words(given[flat[0]]),
                "(None, time, features)",
                fact="model.layers",
                location=place(layer.code),
            ),
            *_gives_last(last),
            _repair(what, last, project),
            subject=f"layer {layer.name}",
            confidence=Confidence.LIKELY if severity is Severity.WARNING else Confidence.CERTAIN,
            severity=severity,
        )


def _last_step(layer: LayerFacts, value: Shape, layers: dict[str, LayerFacts]) -> LayerFacts | None:
    """Return the recurrent layer before the attention that returns only its last time step."""
    connected = any(one.fed_by for one in layers.values())  # not known from source alone
    given = [
        one
        for one in layers.values()
        if one.class_name in _GIVES_ONE_STEP
        and (one.name in layer.fed_by if connected else one.index < layer.index)
        and isinstance(one.output_shapes, tuple)
        and one.output_shapes
        and one.output_shapes[0] == value
    ]
    return given[0] if len(given) == 1 else None


def _gives_last(layer: LayerFacts | None) -> list[Evidence]:
    if layer is None:
        return []
    claim = f"without `return_sequences=True`, `{recurrent_name(layer)}` outputs only its last time step"
    return [Evidence(claim, location=place(layer.code))]


def _repair(what: str, last: LayerFacts | None, project: Project) -> Fix:
    if last is not None:
        return sequences_fix(last, project, "True")
    if what == "value":
        return fix("pass every time step as the value: set `return_sequences=True` on the previous layer")
    return fix("give the query a time axis of size 1 with `Reshape((1, features))`, and `Flatten` the output")


# --- Dense after a convolution, without Flatten -------------------------------------------------------------------


@CAUSE.in_source
@doubting(LABELS)
@CAUSE.before_fit
def from_labels(model: ModelFacts, data: DataFacts, project: Project) -> Iterator[Finding]:
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
        if flattened_alike(model, target.loss_name, labels, output):
            continue
        yield _unflattened(target, labels, output, data, project, loss_failure(data) is not None)


def _has_image_for_row(labels: Shape, output: Shape) -> bool:
    """Whether there is one row of labels per sample but an image, or volume, of outputs."""
    return len(output) >= 4 and 1 <= len(labels) <= 2


def _is_unflattened(target: Target, labels: Shape, output: Shape) -> bool:
    """Whether `Flatten` is missing; for a 1 x 1 image, only a following `Dense` proves it."""
    if not _has_image_for_row(labels, output):
        return False
    return not same_values(labels[1:], output[1:]) or _first_dense(target)[0] is not None


def _unflattened(
    target: Target, labels: Shape, output: Shape, data: DataFacts, project: Project, raised: bool
) -> Finding:
    silent = not raised and (loss_accepted(data) or target.loss_name in REGRESSION)
    dense, before = _first_dense(target)
    outcome = "broadcasts the labels" if silent else "rejects the labels"
    return CAUSE.finding(
        f"the output is an image of shape {shape_words((None, *output[1:]))}, but there is one label per sample: "
        f"`{target.loss_name}` {outcome}",
        place(*(layer.code for layer in (dense, before) if layer is not None), data.code),
        Evidence(
            "output shape",
            shape_words((None, *output[1:])),
            shape_words((None, *labels[1:])),
            fact="model.outputs",
        ),
        *_image_evidence(before),
        *_flattening(dense, project, silent),
        subject="output shape",
        confidence=Confidence.CERTAIN if raised else Confidence.LIKELY,
        severity=Severity.WARNING if silent else Severity.ERROR,
    )


def _image_evidence(layer: LayerFacts | None) -> list[Evidence]:
    if layer is None:
        return []
    shapes = layer.output_shapes
    observed = shape_words(shapes[0]) if isinstance(shapes, tuple) and shapes else ""
    called = layer.code.name.rpartition(".")[2] if isinstance(layer.code, Code) else ""
    # A model of `keras.applications` is known by the name of its function.
    name = called if layer.class_name == "Functional" and called[:1].isupper() else layer.class_name
    return [Evidence(f"`{name}` outputs an image", observed, location=place(layer.code))]


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


def _flattening(dense: LayerFacts | None, project: Project, silent: bool) -> list[Fix]:
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
    failure: FailureFacts, model: ModelFacts | Unknown, data: DataFacts | Unknown, project: Project
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
                yield _unflattened(target, labels, output, data, project, raised=True)
                return
    if same_values(shapes.target[1:], shapes.output[1:]):
        return
    known = any(size is not None for size in shapes.output[1:])
    of_shape = f" of shape {shape_words((None, *shapes.output[1:]))}" if known else ""
    yield CAUSE.finding(
        f"the output is an image{of_shape}, but there is one label per sample",
        failure.location,
        Evidence("output shape", shape_words(shapes.output), shape_words(shapes.target)),
        fix("add `Flatten()` or global pooling before the first `Dense`"),
        subject="output shape",
    )

"""Samples with a missing or an extra axis.

## What happens

A 2D convolution expects (batch, rows, columns, channels), a recurrent layer (batch, steps, features). Data with one
axis fewer or more makes `fit` raise before its first step: `expected min_ndim=4, found ndim=3. Full shape received:
(30, 20, 20)`, or `expected ndim=3, found ndim=2`.

## Why

Grayscale images have no channel axis, a series has no feature axis, or a single sample has no batch axis. With
`Input(shape=(20, 20, 1))` the same images are accepted: Keras adds a trailing axis of length 1 for Sequential and
functional models. Without an `Input`, and in subclassed models, it does not.

## Fix

Add the axis (`x[..., None]`), or drop the extra one (`np.squeeze`).

## Known limits

Without an `Input`, the shape does not show which axis is missing; the last one is assumed. An axis that is lost
between two layers of the model is a problem of the model, not of the data.
"""

from __future__ import annotations

from collections.abc import Iterator

from fitdoctor.catalogue import Cause, doubting
from fitdoctor.catalogue.doubts import INPUTS
from fitdoctor.catalogue.inputs.data_places import (
    map_samples,
    only_input_line,
    rework_data,
    reworked,
    shape_line,
)
from fitdoctor.catalogue.inputs.shapes import (
    fits,
    input_shape_edit,
    is_one_sample,
    lengthened,
    mismatches,
    proven,
    refused,
    relation,
    sample_given_by_hand,
    went_through,
    while_validating,
    without_one_axis,
)
from fitdoctor.catalogue.model.model_inputs import first_layer
from fitdoctor.catalogue.model.picture_convolutions import is_sequence_layer_for_pictures
from fitdoctor.catalogue.sayings import Saying, findings_from_message
from fitdoctor.catalogue.words import argument_words, counted, place, shape_words
from fitdoctor.diagnosis import Confidence, Edit, Evidence, Finding, Fix, Location, Severity
from fitdoctor.edits import fix, spell, wrap
from fitdoctor.facts import (
    CALLS,
    ArrayFacts,
    Code,
    DataFacts,
    FailureFacts,
    FitFacts,
    ModelFacts,
    Shape,
    Unknown,
)
from fitdoctor.failure.patterns import InputMismatch, input_mismatch
from fitdoctor.patterns import pattern
from fitdoctor.records import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from fitdoctor.source.fits.fit_sites import ModelSite
    from fitdoctor.source.project import Project

CAUSE = Cause(
    id="FIT102",
    slug="input-rank-mismatch",
    severity=Severity.ERROR,
    aspect="rank",
    raises="ValueError",
    explains=("FIT304", "FIT306", "FIT320"),
)

EXACT_RANKS = {
    **dict.fromkeys(("LSTM", "GRU", "SimpleRNN", "Conv1D", "MaxPooling1D", "AveragePooling1D"), 3),
    **dict.fromkeys(("Conv2D", "MaxPooling2D", "AveragePooling2D", "DepthwiseConv2D", "SeparableConv2D"), 4),
    **dict.fromkeys(("Conv3D", "MaxPooling3D", "AveragePooling3D", "ConvLSTM2D"), 5),
}
"""The number of axes, including the batch axis, that a layer expects."""


@CAUSE.in_source
@doubting(INPUTS)
@CAUSE.before_fit
def from_data(model: ModelFacts, fit: FitFacts, data: DataFacts) -> Iterator[Finding]:
    """Report data whose rank differs from the `Input` or from the first layer."""
    sure = proven(data) or data.problem is not None
    yield from _findings(model, fit, data, Confidence.CERTAIN if sure else Confidence.LIKELY)


def _findings(
    model: ModelFacts, fit_call: FitFacts | Unknown, data: DataFacts, confidence: Confidence
) -> Iterator[Finding]:
    for mismatch in mismatches(model, data):
        found, expected = mismatch.found_sample, mismatch.expected_sample
        by_axis = mismatch.kind == "axis" or (mismatch.kind == "rank" and _by_one_axis(found, expected))
        if by_axis or (mismatch.kind != "batch" and is_one_sample(mismatch.array.shape, expected)):
            yield _finding(mismatch.array, expected, mismatch.code, fit_call, data, confidence)
    if isinstance(model.inputs, Unknown):
        by_layer = _by_layer(model, data)
        if by_layer is not None:
            array, rank, layer = by_layer
            yield _finding(array, _supposed(array, rank), layer, fit_call, data, confidence, rank)


def _by_one_axis(found: Shape, expected: Shape) -> bool:
    return without_one_axis(found, expected) is not None or without_one_axis(expected, found) is not None


def _by_layer(model: ModelFacts, data: DataFacts) -> tuple[ArrayFacts, int, Code | Unknown] | None:
    """Return the array whose rank the first layer rejects, the expected rank, and the layer."""
    refusal = refused(model, data)
    if refusal is not None and refusal[1].expected_rank is not None:
        array, said, layer = refusal
        rank = refusal[1].expected_rank
        return array, rank, layer.code if layer is not None else _nowhere(said)
    if proven(data) or went_through(data) or model.kind != "sequential" or len(data.x) != 1:
        return None
    first = first_layer(model)
    wanted = EXACT_RANKS.get(first.class_name) if first is not None and first.builtin else None
    array = data.x[0]
    if first is None or wanted is None or not isinstance(array.shape, tuple) or data.role != "training":
        return None
    if is_sequence_layer_for_pictures(first, array.shape):
        return None  # the layer is the wrong one: FIT304
    return (array, wanted, first.code) if len(array.shape) not in (wanted, 0) else None


def _nowhere(said: InputMismatch) -> Unknown:
    return Unknown(f"the layer `{said.layer}` was not found in the source")


def _supposed(array: ArrayFacts, rank: int) -> Shape:
    """Return the sample shape for that rank: trailing axes of length 1 added, or axes of length 1 dropped."""
    assert isinstance(array.shape, tuple)
    sample = array.shape[1:]
    while len(sample) < rank - 1:
        sample = (*sample, 1)
    while len(sample) > rank - 1 and 1 in sample:
        at = len(sample) - 1 - sample[::-1].index(1)
        sample = (*sample[:at], *sample[at + 1 :])
    return sample


def _finding(
    array: ArrayFacts,
    expected: Shape,
    code: Code | Unknown,
    fit_call: FitFacts | Unknown,
    data: DataFacts,
    confidence: Confidence,
    rank: int | None = None,
) -> Finding:
    assert isinstance(array.shape, tuple)
    found = len(array.shape)
    wanted = rank if rank is not None else len(expected) + 1
    wants = (
        counted(wanted, "axis", "axes") if rank is not None else f"{wanted}, {shape_words((None, *expected))}"
    )
    alone = _by_call(fit_call) and relation(array.shape, expected) == "same"
    return CAUSE.finding(
        f"`{array.path}` has {counted(found, 'axis', 'axes')}, {shape_words(array.shape)}, but the model expects {wants}",
        subject=argument_words(array.path, fit_call),
        location=place(array.use if alone else None, shape_line(array, data)),
        evidence=[
            Evidence(
                claim=f"shape of `{array.path}`",
                observed=shape_words(array.shape),
                expected=f"{wanted} axes" if rank is not None else shape_words((None, *expected)),
                fact="data.x.shape",
                location=place(array.code, array.use),
            ),
            Evidence(claim="the expected number of axes is set here", location=place(code)),
        ],
        fixes=_fixes(array, expected, fit_call, data),
        confidence=confidence,
    )


def _by_call(fit_call: FitFacts | Unknown) -> bool:
    return isinstance(fit_call, FitFacts) and fit_call.method in CALLS


def _fixes(array: ArrayFacts, expected: Shape, fit_call: FitFacts | Unknown, data: DataFacts) -> list[Fix]:
    assert isinstance(array.shape, tuple)
    move = _move(array.shape, expected)
    if move is None:
        return [fix(f"pass samples of shape {shape_words(expected)}")]
    title, template = move
    if _by_call(fit_call):
        tensorflow, imports = spell(array.use, "tensorflow", "tf")
        template = _of_tensor(template).replace("tf.", f"{tensorflow}.")
        return [fix(title, wrap(array.use, template), imports if "(" in template else ())]
    numpy, imports = spell(reworked(array), "numpy", "np")
    template = template.replace("np.", f"{numpy}.")
    if data.form != "arrays" or "numpy" not in array.container:
        return [
            fix(f"{title}: `{template.replace('{}', 'x')}`", map_samples(data, array, _of_sample(template)))
        ]
    needed = imports if f"{numpy}." in template else ()
    return [fix(title, rework_data(array, fit_call, template), needed)]


_RESHAPES = pattern(r"\{\}\.reshape\((.*)\)$")
_EXPANDS = pattern(r"expand_dims\(\{\}, axis=(\d+)\)")
_SQUEEZES = pattern(r"squeeze\(\{\}, axis=(\d+)\)")
_SHAPES_ANEW = pattern(r"reshape\(-1, (.*)\)")


def _of_tensor(template: str) -> str:
    """Translate the NumPy template to TensorFlow."""
    return _RESHAPES.sub(r"tf.reshape({}, (\1))", template.replace("np.", "tf."))


def _of_sample(template: str) -> str:
    """Translate the template to one sample of a pipeline, which has no batch axis."""
    if "[..., None]" in template and "repeat" not in template:
        return "tf.expand_dims(x, axis=-1)"
    axis = _EXPANDS.search(template)
    if axis:
        return f"tf.expand_dims(x, axis={int(axis[1]) - 1})"
    axis = _SQUEEZES.search(template)
    if axis:
        return f"tf.squeeze(x, axis={int(axis[1]) - 1})"
    shape = _SHAPES_ANEW.search(template)
    if shape:
        return f"tf.reshape(x, ({shape[1]},))"
    return "tf.repeat(tf.expand_dims(x, axis=-1), 3, axis=-1)"


def _move(shape: Shape, expected: Shape) -> tuple[str, str] | None:
    """Return the title and the expression that reshapes an array."""
    sample = shape[1:]
    alone = relation(shape, expected) == "same" or is_one_sample(shape, expected)
    if alone and None not in shape[:1]:  # an unknown first axis is the batch axis
        return "add the batch axis", "np.expand_dims({}, axis=0)"
    missing = without_one_axis(expected, sample)
    if missing is not None:
        if expected[missing] in (1, None):
            if missing == len(expected) - 1:
                return "add the missing axis", "{}[..., None]"
            return "add the missing axis", f"np.expand_dims({{}}, axis={missing + 1})"
        if missing == len(expected) - 1 and expected[missing] == 3:
            return "repeat the gray channel three times", "np.repeat({}[..., None], 3, axis=-1)"
        return None
    extra = without_one_axis(sample, expected)
    if extra is not None and sample[extra] == 1:
        return "drop the axis of length 1", f"np.squeeze({{}}, axis={extra + 1})"
    if relation(sample, expected) in ("axis", "same") and None not in expected:
        axes = ", ".join(str(length) for length in expected)
        return f"reshape the samples to {shape_words(expected)}", f"{{}}.reshape(-1, {axes})"
    return None


# --- while the model is built -------------------------------------------------------------------------------------


@CAUSE.in_source
def from_model(site: ModelSite) -> Iterator[Finding]:
    """Report a first layer that rejects the rank of the model input."""
    from fitdoctor.catalogue.model.model_inputs import leads_with_batch, refusing_site

    if site.data is not None:
        yield from _inside_call(site, site.data)
        return
    given = refusing_site(site)
    if given is None or site.failure is None or is_sequence_layer_for_pictures(site.layer, given[1]):
        return
    if not leads_with_batch(*given, site.failure.message):
        yield _of_input(*given, site.failure.message)


def _inside_call(site: ModelSite, data: DataFacts) -> Iterator[Finding]:
    """Report a layer in a custom `call` that rejects the rank of the data."""
    if site.failure is None or site.layer is None or len(data.x) != 1 or data.role != "training":
        return
    said, array, given = input_mismatch(site.failure.message), data.x[0], site.failure.inputs
    if said is None or said.expected_rank is None or not given or not isinstance(array.shape, tuple):
        return
    # Keras 2 adds a second axis to one-dimensional data before it calls the model.
    if len(array.shape) > 1 and given[0].shape == (None, *array.shape[1:]):
        rank = said.expected_rank
        nowhere = Unknown("the source does not show it")
        yield _finding(array, _supposed(array, rank), site.layer.code, nowhere, data, Confidence.LIKELY, rank)


def _of_input(code: Code, shape: Shape, message: str) -> Finding:
    said = input_mismatch(message)
    rank = said.expected_rank if said is not None else len(shape) - 1
    rank = rank or len(shape) - 1
    sample = shape[1:]
    fixes = []
    if len(shape) < rank:
        wanted = (*sample, *[1] * (rank - len(shape)))
        title = f"use samples with {rank - 1} axes: {shape_words(wanted)}"
        fixes.append(fix(title, input_shape_edit(code, lengthened(code, wanted, len(sample)))))
    else:
        fixes.append(fix(f"use samples with {counted(rank - 1, 'axis', 'axes')}"))
    return CAUSE.finding(
        f"with the input shape {shape_words(sample)}, a batch has {len(shape)} axes, "
        f"but the first layer expects {rank}",
        subject="input shape of the model",
        location=place(code),
        evidence=[
            Evidence(
                claim="axes of a batch",
                observed=f"{len(shape)}: {shape_words(shape)}",
                expected=str(rank),
                fact="model.inputs",
                location=place(code),
            )
        ],
        fixes=fixes,
        confidence=Confidence.LIKELY,
    )


# --- after the failure --------------------------------------------------------------------------------------------


@CAUSE.after_failure
def from_failure(
    failure: FailureFacts,
    model: ModelFacts | Unknown,
    fit: FitFacts | Unknown,
    data: DataFacts | Unknown,
    project: Project | Unknown,
) -> Iterator[Finding]:
    """Report the number of axes that a layer or model expects."""
    from fitdoctor.catalogue.model.model_inputs import leads_with_batch, refused_input

    by_hand = sample_given_by_hand(failure)
    if by_hand is not None:
        yield _by_hand(by_hand, failure, project)
        return
    said = input_mismatch(failure.message)
    if said is None or said.target or while_validating(failure):
        return
    if isinstance(data, DataFacts) and data.role != "training":
        return
    if isinstance(model, ModelFacts) and isinstance(data, DataFacts):
        known = list(_findings(model, fit, data, Confidence.CERTAIN))
        yield from known
        if known or not isinstance(data.trial.forward, Unknown) or _is_known_to_fit(model, data):
            return
    if failure.called not in ("fit", "evaluate", "predict", "train_on_batch", ""):
        given = refused_input(failure, project)
        if given is not None and not leads_with_batch(*given, failure.message):
            yield _of_input(*given, failure.message)
        elif given is None and _is_about_the_data(failure, said):
            yield from _in_loop(failure, said, project)
        return
    if _is_about_the_data(failure, said) and not _stands_behind(model, said.layer):
        yield _from_message(said, place(only_input_line(data), _frame(failure)))


def _stands_behind(model: ModelFacts | Unknown, name: str) -> bool:
    """Whether the layer that refused gets what an `Embedding` of the model made of the data."""
    layers = [] if isinstance(model, Unknown) or model.kind != "sequential" else list(model.layers)
    at = next((index for index, layer in enumerate(layers) if layer.name == name), 0)
    return any(layer.class_name == "Embedding" for layer in layers[:at])


def _by_hand(said: InputMismatch, failure: FailureFacts, project: Project | Unknown) -> Finding:
    """Report a single sample passed as a batch in a custom loop."""
    from fitdoctor.catalogue.inputs.loop_data import as_a_batch

    frame = failure.last_user_frame
    found = said.found or ()
    return CAUSE.finding(
        f"the model is called with one sample, {shape_words(found)}, but expects a batch, {shape_words((1, *found))}",
        subject="argument of the model",
        location=frame.location if frame else None,
        evidence=[
            Evidence(
                claim="axes of a batch",
                observed=shape_words(found),
                expected=shape_words((None, *found)),
                fact="failure.message",
            )
        ],
        fixes=as_a_batch(frame, project),
        confidence=Confidence.CERTAIN,
    )


def _in_loop(failure: FailureFacts, said: InputMismatch, project: Project | Unknown) -> Iterator[Finding]:
    """Report a custom training loop that passes batches with a missing or extra axis."""
    from fitdoctor.catalogue.inputs.loop_data import array_behind, model_call, reworked_batch

    called = model_call(project, failure)
    expected, found = said.ranks
    if called is None or expected is None or found is None:
        return
    module, call = called
    edits: tuple[Edit, ...] = ()
    if expected == found + 1:
        edits = reworked_batch(module, call, "{}[..., None]", "tf.expand_dims({}, axis=-1)")
    elif found == expected + 1 and said.found is not None and said.found[-1] == 1:
        edits = reworked_batch(module, call, "{}[..., 0]", "tf.squeeze({}, -1)")
    told = _from_message(said, array_behind(module, call.args[0]).code.location)
    title = told.fixes[0].title
    yield replace(
        told,
        subject="argument of the model",
        fixes=(fix(title, edits),),
        confidence=Confidence.CERTAIN,
    )


def _is_known_to_fit(model: ModelFacts, data: DataFacts) -> bool:
    """Whether the data matches the `Input`, so that a rejecting layer is a problem of the model."""
    if isinstance(model.inputs, Unknown) or len(data.x) != len(model.inputs):
        return False
    pairs = zip(data.x, model.inputs, strict=True)
    return all(
        isinstance(array.shape, tuple)
        and isinstance(spec.shape, tuple)
        and fits(array.shape[1:], spec.shape[1:])
        for array, spec in pairs
    )


def _is_about_the_data(failure: FailureFacts, said: InputMismatch) -> bool:
    """Whether the rejected tensor is the input of the model."""
    expected, found = said.ranks
    if expected is None or found is None or expected == found or said.found is None:
        return False
    if said.expected is not None and not _by_one_axis(said.found[1:], said.expected[1:]):
        return relation(said.found[1:], said.expected[1:]) == "axis"
    given = [value for name, value in failure.arguments if name not in ("training", "mask", "kwargs")]
    if given:
        shape = shape_words(said.found)
        return any(f"shape={shape}" in value.replace("None, None", "None") for value in given)
    # Only the first layer of a class has a name without a number; later ones do not receive the data.
    return not said.layer.rpartition("_")[2].isdigit()


def _frame(failure: FailureFacts) -> Location | None:
    from fitdoctor.failure.called import called_in

    given_data = ("fit", "evaluate", "predict", "train_on_batch", "test_on_batch", "predict_on_batch")
    call = next((frame for frame in reversed(failure.user_frames) if called_in(frame) in given_data), None)
    frame = call or failure.last_user_frame
    return frame.location if frame else None


def _from_message(said: InputMismatch, location: Location | None) -> Finding:
    expected, found = said.ranks
    layer = f"the layer `{said.layer}`" if said.layer else "the model"
    few = (found or 0) < (expected or 0)
    return CAUSE.finding(
        f"the data has {counted(found or 0, 'axis', 'axes')}, {shape_words(said.found or Unknown())}, "
        f"but {layer} expects {expected}",
        subject="argument x of fit",
        location=location,
        evidence=[
            Evidence(
                claim="axes of a batch",
                observed=f"{found}: {shape_words(said.found or Unknown())}",
                expected=str(expected),
                fact="failure.message",
            )
        ],
        fixes=[fix("add the missing axis: `x[..., None]`" if few else "drop the extra axis")],
        confidence=Confidence.LIKELY,
    )


_SAYINGS = (
    Saying(
        pattern(r"`sequences` must be a list of iterables\. Found non-iterable: (?P<value>\S{1,40})"),
        "`pad_sequences` expects a list of sequences, but receives one flat list of numbers",
        "pass a list of lists; for a single sequence, `pad_sequences([sequence])`",
        confidence=Confidence.CERTAIN,
    ),
)


@CAUSE.after_failure
def from_words(failure: FailureFacts) -> Iterator[Finding]:
    """Report what the message alone shows."""
    yield from findings_from_message(CAUSE, failure, _SAYINGS, "argument of `pad_sequences`")

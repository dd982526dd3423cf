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

from fitdoctor.catalogue import Cause
from fitdoctor.catalogue.inputs.refused_inputs import Given, Mismatch, explains_inputs
from fitdoctor.catalogue.knowledge.data.data_places import (
    map_samples,
    only_input_line,
    rework_data,
    reworked,
    shape_line,
)
from fitdoctor.catalogue.knowledge.data.loop_data import array_behind, as_a_batch, model_call, reworked_batch
from fitdoctor.catalogue.knowledge.data.shapes import (
    GIVEN_DATA,
    all_fit,
    input_shape_edit,
    is_one_sample,
    lengthened,
    proven,
    refused,
    relation,
    sample_given_by_hand,
    went_through,
    without_one_axis,
)
from fitdoctor.catalogue.knowledge.models.model_inputs import (
    first_layer,
    is_one_picture,
    is_seldom_first,
    is_sequence_layer_for_pictures,
    leads_with_batch,
    names_whole_model,
    refused_input,
)
from fitdoctor.catalogue.knowledge.models.refusals import Refusal, of_site
from fitdoctor.catalogue.words import counted, place, shape_words
from fitdoctor.diagnosis import Confidence, Edit, Evidence, Finding, Fix, Location, Severity
from fitdoctor.edits import fix, spell, wrap
from fitdoctor.facts import (
    ArrayFacts,
    Code,
    DataFacts,
    FailureFacts,
    LayerFacts,
    ModelFacts,
    Shape,
    Spec,
    Unknown,
)
from fitdoctor.failure.called import called_in
from fitdoctor.failure.shapes import InputMismatch, input_mismatch
from fitdoctor.records import dataclass, replace
from fitdoctor.source.fits.fit_sites import ModelSite
from fitdoctor.source.project import NO_FILES, Project

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


def _explain(given: Given, found: list[Mismatch]) -> Iterator[Finding]:
    """Report data whose rank differs from the `Input` or from the first layer."""
    for mismatch in found:
        sample, expected = mismatch.found_sample, mismatch.expected_sample
        by_axis = mismatch.kind == "axis" or (mismatch.kind == "rank" and _by_one_axis(sample, expected))
        if by_axis or (mismatch.kind != "batch" and is_one_sample(mismatch.array.shape, expected)):
            yield _finding(given, mismatch)
    if isinstance(given.model.inputs, Unknown):
        yield from _by_layer(given)


def _by_one_axis(found: Shape, expected: Shape) -> bool:
    return without_one_axis(found, expected) is not None or without_one_axis(expected, found) is not None


def _by_layer(given: Given) -> Iterator[Finding]:
    """Report the array whose rank the first layer rejects."""
    model, data = given.model, given.data
    refusal = refused(model, data)
    if refusal is not None and refusal[1].expected_rank is not None:
        array, said, layer = refusal
        yield _finding(given, _of_rank(array, said.expected_rank or 0, layer))
        return
    if proven(data) or went_through(data) or model.kind != "sequential" or len(data.x) != 1:
        return
    first, array = first_layer(model), data.x[0]
    wanted = EXACT_RANKS.get(first.class_name) if first is not None and first.builtin else None
    if wanted is None or not isinstance(array.shape, tuple) or data.role != "training":
        return
    # A layer for sequences that gets pictures is the wrong layer: FIT304.
    if len(array.shape) not in (wanted, 0) and not is_sequence_layer_for_pictures(first, array.shape):
        yield _finding(given, _of_rank(array, wanted, first))


def _of_rank(array: ArrayFacts, rank: int, layer: LayerFacts | None) -> Mismatch:
    """Return the mismatch with a layer of which only the number of axes is known."""
    assert isinstance(array.shape, tuple)
    code = layer.code if layer is not None else Unknown("the layer was not found in the source")
    expected = _supposed(array, rank)
    return Mismatch(array, Spec((None, *expected), ""), array.shape[1:], expected, "rank", code, True, rank)


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


def _finding(given: Given, mismatch: Mismatch) -> Finding:
    array, expected, rank = mismatch.array, mismatch.expected_sample, mismatch.rank
    assert isinstance(array.shape, tuple)
    wants = (
        counted(rank, "axis", "axes") if rank else f"{len(expected) + 1}, {shape_words((None, *expected))}"
    )
    alone = given.by_hand and relation(array.shape, expected) == "same"
    has = counted(len(array.shape), "axis", "axes")
    return given.finding(
        CAUSE,
        f"`{array.path}` has {has}, {shape_words(array.shape)}, but the model expects {wants}",
        place(array.use if alone else None, shape_line(array, given.data)),
        mismatch,
        *_fixes(array, expected, given),
        what="the expected number of axes",
    )


@dataclass(frozen=True)
class Move:
    """A change of the axes, as an expression in each place where the data can be changed."""

    title: str
    array: str
    """Of a NumPy array `{}`."""
    tensor: str
    """Of a tensor `{}`."""
    sample: str = ""
    """Of one sample `x` in a pipeline, which has no batch axis."""


def _fixes(array: ArrayFacts, expected: Shape, given: Given) -> list[Fix]:
    assert isinstance(array.shape, tuple)
    move = _move(array.shape, expected)
    if move is None:
        return [fix(f"pass samples of shape {shape_words(expected)}")]
    if given.by_hand:
        tensorflow, imports = spell(array.use, "tensorflow", "tf")
        template = move.tensor.replace("tf.", f"{tensorflow}.")
        return [fix(move.title, wrap(array.use, template), imports if "(" in template else ())]
    numpy, imports = spell(reworked(array), "numpy", "np")
    template = move.array.replace("np.", f"{numpy}.")
    if given.data.form == "arrays" and "numpy" in array.container:
        needed = imports if f"{numpy}." in template else ()
        return [fix(move.title, rework_data(array, given.fit, template), needed)]
    edits = map_samples(given.data, array, move.sample) if move.sample else ()
    return [fix(f"{move.title}: `{template.replace('{}', 'x')}`", edits)]


def _move(shape: Shape, expected: Shape) -> Move | None:
    """Return what brings an array to the expected sample shape."""
    sample = shape[1:]
    alone = relation(shape, expected) == "same" or is_one_sample(shape, expected)
    if alone and None not in shape[:1]:  # an unknown first axis is the batch axis
        return _moved("add the batch axis", "expand_dims({}, axis=0)")
    missing, extra = without_one_axis(expected, sample), without_one_axis(sample, expected)
    if missing is not None:
        last = missing == len(expected) - 1
        if expected[missing] not in (1, None):
            gray = "repeat(tf.expand_dims(x, axis=-1), 3, axis=-1)"
            title = "repeat the gray channel three times"
            three = last and expected[missing] == 3
            return _moved(title, "repeat({}[..., None], 3, axis=-1)", gray) if three else None
        added = f"expand_dims(x, axis={-1 if last else missing})"
        if last:
            return Move("add the missing axis", "{}[..., None]", "{}[..., None]", f"tf.{added}")
        return _moved("add the missing axis", f"expand_dims({{}}, axis={missing + 1})", added)
    if extra is not None and sample[extra] == 1:
        title = "drop the axis of length 1"
        return _moved(title, f"squeeze({{}}, axis={extra + 1})", f"squeeze(x, axis={extra})")
    if relation(sample, expected) not in ("axis", "same") or None in expected:
        return None
    axes, title = ", ".join(map(str, expected)), f"reshape the samples to {shape_words(expected)}"
    whole, one = f"tf.reshape({{}}, (-1, {axes}))", f"tf.reshape(x, ({axes},))"
    return Move(title, f"{{}}.reshape(-1, {axes})", whole, one)


def _moved(title: str, call: str, sample: str = "") -> Move:
    """Return a move by a function that NumPy and TensorFlow share."""
    return Move(title, f"np.{call}", f"tf.{call}", f"tf.{sample}" if sample else "")


# --- while the model is built -------------------------------------------------------------------------------------


@CAUSE.in_source
def from_model(site: ModelSite) -> Iterator[Finding]:
    """Report a first layer that rejects the rank of the model input."""
    if site.data is not None:
        yield from _inside_call(site, site.data)
        return
    refusal = of_site(site)
    given = refused_input(refusal, NO_FILES) if refusal is not None else None
    if given is None or refusal is None or is_sequence_layer_for_pictures(site.layer, given[1]):
        return
    if not leads_with_batch(*given, refusal.message):
        yield _of_input(*given, refusal.message)


def _inside_call(site: ModelSite, data: DataFacts) -> Iterator[Finding]:
    """Report a layer in a custom `call` that rejects the rank of the data."""
    if site.failure is None or site.layer is None or len(data.x) != 1 or data.role != "training":
        return
    said, array, given = input_mismatch(site.failure.message), data.x[0], site.failure.inputs
    if said is None or said.expected_rank is None or not given or not isinstance(array.shape, tuple):
        return
    # Keras 2 adds a second axis to one-dimensional data before it calls the model.
    if len(array.shape) > 1 and given[0].shape == (None, *array.shape[1:]):
        given_by = Given(site.model, Unknown(), data, NO_FILES)
        yield _finding(given_by, _of_rank(array, said.expected_rank, site.layer))


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
        place(code),
        Evidence(
            "axes of a batch",
            f"{len(shape)}: {shape_words(shape)}",
            str(rank),
            fact="model.inputs",
            location=place(code),
        ),
        *fixes,
        subject="input shape of the model",
    )


# --- after the failure --------------------------------------------------------------------------------------------


def _read(
    failure: FailureFacts,
    said: InputMismatch,
    model: ModelFacts | Unknown,
    data: DataFacts | Unknown,
    project: Project,
) -> Iterator[Finding]:
    """Report the number of axes that a layer or model expects, from the message."""
    if isinstance(model, ModelFacts) and isinstance(data, DataFacts) and isinstance(model.inputs, tuple):
        if all_fit(data.x, model.inputs):
            return  # a layer that rejects what matches the `Input` is a problem of the model
    if failure.called not in ("fit", "evaluate", "predict", "train_on_batch", ""):
        given = refused_input(Refusal(failure.message, failure=failure), project)
        if given is not None and not leads_with_batch(*given, failure.message):
            yield _of_input(*given, failure.message)
        elif given is None and _is_about_the_data(failure, said):
            yield from _in_loop(failure, said, project)
        return
    if _is_about_the_data(failure, said) and not _stands_behind(model, said.layer):
        yield _from_message(said, place(only_input_line(data), _frame(failure)))


explains_inputs(CAUSE, _explain, _read)


def _stands_behind(model: ModelFacts | Unknown, name: str) -> bool:
    """Whether the layer that refused gets what an `Embedding` of the model made of the data."""
    layers = [] if isinstance(model, Unknown) or model.kind != "sequential" else list(model.layers)
    at = next((index for index, layer in enumerate(layers) if layer.name == name), 0)
    return any(layer.class_name == "Embedding" for layer in layers[:at])


@CAUSE.after_failure
def from_single_sample(failure: FailureFacts, project: Project) -> Iterator[Finding]:
    """Report a single sample passed as a batch in a custom loop."""
    said = sample_given_by_hand(failure)
    if said is None:
        return
    frame = failure.last_user_frame
    found = said.found or ()
    yield CAUSE.certain(
        f"the model is called with one sample, {shape_words(found)}, but expects a batch, {shape_words((1, *found))}",
        failure.location,
        Evidence("axes of a batch", shape_words(found), shape_words((None, *found))),
        *as_a_batch(frame, project),
        subject="argument of the model",
    )


def _in_loop(failure: FailureFacts, said: InputMismatch, project: Project) -> Iterator[Finding]:
    """Report a custom training loop that passes batches with a missing or extra axis."""
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
    finding = _from_message(said, array_behind(module, call.args[0]).code.location)
    title = finding.fixes[0].title
    yield replace(
        finding, subject="argument of the model", fixes=(fix(title, edits),), confidence=Confidence.CERTAIN
    )


def _is_about_the_data(failure: FailureFacts, said: InputMismatch) -> bool:
    """Whether the rejected tensor is the input of the model."""
    expected, found = said.ranks
    if expected is None or found is None or expected == found or said.found is None:
        return False
    if said.expected is not None and is_one_picture(said.found, said.expected):
        return True
    if said.expected is not None and not _by_one_axis(said.found[1:], said.expected[1:]):
        return relation(said.found[1:], said.expected[1:]) == "axis"
    given = [value for name, value in failure.arguments if name not in ("training", "mask", "kwargs")]
    if given:
        shape = shape_words(said.found)
        return any(f"shape={shape}" in value.replace("None, None", "None") for value in given)
    if is_seldom_first(said.layer) and None in said.found:
        return False
    # Only the first layer of a class has a name without a number; later ones do not receive the data.
    return not said.layer.rpartition("_")[2].isdigit() or names_whole_model(said.layer)


def _frame(failure: FailureFacts) -> Location | None:
    call = next((frame for frame in reversed(failure.user_frames) if called_in(frame) in GIVEN_DATA), None)
    frame = call or failure.last_user_frame
    return frame.location if frame else None


def _from_message(said: InputMismatch, location: Location | None) -> Finding:
    expected, found = said.ranks
    layer = f"the layer `{said.layer}`" if said.layer else "the model"
    if found == 0:
        return CAUSE.finding(
            f"the data is a single value of shape (), such as `None`, but {layer} expects {expected} axes",
            location,
            Evidence("axes of a batch", "()", str(expected)),
            fix("pass an array: `numpy.array(…)`, and check what the line that reads the data returns"),
            subject="argument x of fit",
        )
    return CAUSE.finding(
        f"the data has {counted(found or 0, 'axis', 'axes')}, {shape_words(said.found or Unknown())}, "
        f"but {layer} expects {expected}",
        location,
        Evidence("axes of a batch", f"{found}: {shape_words(said.found or Unknown())}", str(expected)),
        fix(_rework(said.found or (), (expected or 0) - (found or 0))),
        subject="argument x of fit",
    )


def _rework(found: Shape, missing: int) -> str:
    ones = [axis for axis, size in enumerate(found) if axis and size == 1]
    if missing == -1 and len(ones) == 1:
        return f"drop the axis of length 1: `numpy.squeeze(x, axis={ones[0]})`"
    if missing < 0:
        return "drop the extra axis" if missing == -1 else f"drop the {-missing} extra axes"
    if missing == 1 and len(found) == 1 and found[0] not in (None, 1):
        return "add the batch axis: `x[None]` is a batch of one sample"
    if missing > 1 and len(found) < 3 and found[1:] in ((), (1,)):
        return "stack samples of one size, `numpy.stack(samples)`: samples of different sizes make an array of objects"
    if missing > 1:
        return f"reshape the data: {missing} axes are missing"
    # A picture with its channels lacks the batch axis.
    return (
        f"add the missing axis: `{'x[None]' if len(found) == 3 and found[-1] in (3, 4) else 'x[..., None]'}`"
    )


CAUSE.message(
    r"`sequences` must be a list of iterables\. Found non-iterable: (?P<value>[\d.]{1,40})",
    "`pad_sequences` expects a list of sequences, but receives one flat list of numbers",
    "pass a list of lists; for a single sequence, `pad_sequences([sequence])`",
    subject="argument of `pad_sequences`",
    confidence=Confidence.CERTAIN,
)

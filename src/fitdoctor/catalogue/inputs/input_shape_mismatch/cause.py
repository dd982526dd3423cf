"""Samples whose axis lengths differ from the model input.

## What happens

A model with `Input(shape=(28, 28))` expects samples of 28 by 28. With samples of 784 values, or of 28 by 27, `fit`
raises before its first step. A functional model reports `expected shape=(None, 28, 28), found shape=(32, 784)`. A
Sequential model checks only the number of axes at its `Input`. The first layer that depends on a length rejects it,
and the message names that layer: `expected axis -1 of input shape to have value 8, but received input with shape
(None, 9)`.

## Why

The data was flattened (or not), a column is missing or extra, or a constant such as the window length appears in two
places and was changed in one.

## Fix

If both shapes have the same number of values, reshape the data. Otherwise the lengths really differ: change the
`Input`, or select the columns the model expects.

## Known limits

A missing or extra axis is reported as FIT102 (`input-rank-mismatch`), lengths in another order as FIT104
(`channel-axis-order`). A trailing axis of length 1 may be missing: Keras adds it for Sequential and functional
models.
"""

from __future__ import annotations

from collections.abc import Iterator

from fitdoctor.catalogue import Cause, doubting
from fitdoctor.catalogue.inputs.refused_inputs import Given, Mismatch, explains_inputs, mismatches
from fitdoctor.catalogue.knowledge.data.data_places import (
    map_samples,
    only_input_line,
    rework_data,
    shape_line,
)
from fitdoctor.catalogue.knowledge.data.loop_data import model_call, reworked_batch
from fitdoctor.catalogue.knowledge.data.shapes import (
    input_code_of,
    input_shape_edit,
    is_one_sample,
    length_argument,
    proven,
    relation,
    sides_swapped,
    while_validating,
    without_one_axis,
)
from fitdoctor.catalogue.knowledge.models.model_inputs import input_giving, is_one_picture, names_whole_model
from fitdoctor.catalogue.knowledge.models.refusals import of_site
from fitdoctor.catalogue.knowledge.models.size_sources import Decided, decided_size
from fitdoctor.catalogue.prefilter import INPUTS
from fitdoctor.catalogue.words import argument_words, place, shape_words
from fitdoctor.diagnosis import Confidence, Evidence, Finding, Fix, Location, Severity
from fitdoctor.edits import fix, replace_code, unsafe
from fitdoctor.facts import (
    TRAINING_CALL,
    Code,
    DataFacts,
    FailureFacts,
    FitFacts,
    ModelFacts,
    Shape,
    Unknown,
)
from fitdoctor.failure.shapes import InputMismatch, input_mismatch, shapes_in
from fitdoctor.records import replace
from fitdoctor.source.fits.fit_sites import ModelSite
from fitdoctor.source.project import Project

CAUSE = Cause(
    id="FIT101",
    slug="input-shape-mismatch",
    severity=Severity.ERROR,
    aspect="shape",
    raises="ValueError",
    explains=("FIT306", "FIT320"),
)


@CAUSE.in_source
@doubting(INPUTS)
@CAUSE.before_fit
def from_swapped_sides(model: ModelFacts, fit: FitFacts, data: DataFacts) -> Iterator[Finding]:
    """Report swapped height and width, which a Sequential model with `Flatten` accepts."""
    if model.kind != "sequential" or isinstance(model.inputs, Unknown) or len(model.inputs) != 1:
        return
    if len(data.x) != 1 or proven(data) or not any(layer.class_name == "Flatten" for layer in model.layers):
        return
    shape, wanted = data.x[0].shape, model.inputs[0].shape
    if isinstance(shape, Unknown) or isinstance(wanted, Unknown) or not sides_swapped(shape[1:], wanted[1:]):
        return
    array, code = data.x[0], input_code_of(model, model.inputs[0])
    yield CAUSE.finding(
        f"each sample of `{array.path}` has shape {shape_words(shape[1:])}, but the model input has shape "
        f"{shape_words(wanted[1:])}: height and width are swapped, which a Sequential model does not check",
        place(code, array.code, fit.code),
        Evidence(
            f"shape of `{array.path}`",
            shape_words(shape),
            shape_words(wanted),
            fact="data.x.shape",
            location=place(array.code, array.use),
        ),
        fix(f"set the input shape to {shape_words(shape[1:])}"),
        subject=argument_words(array.path, fit),
        severity=Severity.WARNING,
    )


@CAUSE.in_source
def from_models(site: ModelSite) -> Iterator[Finding]:
    """Report a model called on a tensor whose shape differs from its own `Input`."""
    refusal = of_site(site)
    said = input_mismatch(refusal.message) if refusal is not None and refusal.name == "Model" else None
    if refusal is None or said is None or not refusal.shapes or said.expected is None:
        return
    found, wanted = refusal.shapes[0][1:], said.expected[1:]
    before = refusal.way[0] if refusal.way else None
    yield CAUSE.finding(
        f"the model receives samples of shape {shape_words(found)}, but expects {shape_words(wanted)}",
        refusal.place,
        Evidence("shape of a sample", shape_words(found), shape_words(wanted)),
        *(
            [Evidence(f"the tensor comes from `{before.class_name}`", location=place(before.code))]
            if before is not None
            else []
        ),
        fix(
            f"change the tensor to {shape_words(wanted)} per sample, or the `Input` of the model to {shape_words(found)}"
        ),
        subject=f"model {site.failure.layer if site.failure is not None else ''}",
        confidence=refusal.confidence,
    )


def _is_about_lengths(kind: str, shape: Shape | Unknown, expected: Shape) -> bool:
    if isinstance(shape, Unknown) or is_one_sample(shape, expected):
        return False
    if kind != "rank":
        return kind in ("reshaped", "lengths")
    found = shape[1:]
    # If dropping one axis makes the shapes equal, that axis is the problem.
    return without_one_axis(found, expected) is None and without_one_axis(expected, found) is None


def _explain(given: Given, found: list[Mismatch]) -> Iterator[Finding]:
    """Report data whose axis lengths differ from the `Input`."""
    for mismatch in found:
        if not _is_about_lengths(mismatch.kind, mismatch.array.shape, mismatch.expected_sample):
            continue
        named = _named_length(mismatch, given.project)
        # An evaluating call fails: the model was trained on other data, so this data is wrong.
        tries = given.method not in ("fit", "train_on_batch", TRAINING_CALL, "")
        sample, expected = shape_words(mismatch.found_sample), shape_words(mismatch.expected_sample)
        whose = f"the layer `{mismatch.expected.name}`" if mismatch.by_layer else "the model"
        yield given.finding(
            CAUSE,
            f"each sample of `{mismatch.array.path}` has shape {sample}, but {whose} expects {expected}",
            _line_to_change(mismatch, given.data, named, tries),
            mismatch,
            *_fixes(mismatch, given, named, tries),
        )


def _named_length(mismatch: Mismatch, project: Project) -> Decided | None:
    """Return what set the only differing length if the `Input` uses a name for it."""
    found = _aligned(mismatch)
    pairs = enumerate(zip(found, mismatch.expected_sample, strict=False))
    differing = [axis for axis, (ours, theirs) in pairs if ours != theirs]
    by_lengths = mismatch.kind in ("lengths", "rank") and len(found) == len(mismatch.expected_sample)
    if not by_lengths or len(differing) != 1 or isinstance(mismatch.code, Unknown):
        return None
    return decided_size(project, length_argument(mismatch.code), differing[0])


def _fits_reshaped(found: Shape, expected: Shape) -> bool:
    """Whether a reshape makes the data fit; also true for flat data of unknown length, such as raw bytes."""
    uncounted = found == (None,) and len(expected) > 1 and None not in expected
    return uncounted or relation(found, expected) == "reshaped"


def _aligned(mismatch: Mismatch) -> Shape:
    """Return the sample shape with the channel axis of length 1 that Keras adds."""
    found, expected = mismatch.found_sample, mismatch.expected_sample
    return (*found, 1) if len(expected) == len(found) + 1 and expected[-1] == 1 else found


def _line_to_change(
    mismatch: Mismatch, data: DataFacts, named: Decided | None, tries: bool
) -> Location | None:
    """Return the line of the data if a reshape helps, else the line that sets the model input."""
    array = mismatch.array
    of_data = shape_line(array, data)
    # For images and a flat input, changing the input (and adding Flatten) is the usual fix.
    flatter = len(mismatch.found_sample) <= len(mismatch.expected_sample)
    if tries or (_fits_reshaped(mismatch.found_sample, mismatch.expected_sample) and flatter):
        return of_data
    return place(named.code if named else None, mismatch.code, of_data)


def _fixes(mismatch: Mismatch, given: Given, named: Decided | None, tries: bool) -> list[Fix]:
    array, data = mismatch.array, given.data
    if _fits_reshaped(mismatch.found_sample, mismatch.expected_sample):
        axes = ", ".join(str(length) for length in mismatch.expected_sample)
        same = ": both shapes have the same number of values" * (mismatch.kind == "reshaped")
        title = f"reshape `{array.path}`{same}"
        if data.form == "dataset":
            return [fix(title, map_samples(data, array, f"tf.reshape(x, ({axes},))"))]
        known = data.form in ("arrays", "batch") and "numpy" in array.container
        return [fix(title, rework_data(array, given.fit, f"{{}}.reshape(-1, {axes})") if known else ())]
    if tries:
        return [fix(f"pass samples of shape {shape_words(mismatch.expected_sample)}, as in training")]
    sample = _aligned(mismatch)
    lengths = [f for f, e in zip(sample, mismatch.expected_sample, strict=False) if f != e]
    edits = (
        replace_code(named.code, str(lengths[0]))
        if named is not None and named.alone
        else input_shape_edit(mismatch.code, sample)
    )
    return [
        unsafe(f"set the input shape to {shape_words(sample)}", edits),
        fix(f"pass samples of shape {shape_words(mismatch.expected_sample)}"),
    ]


def _from_message(
    failure: FailureFacts,
    said: InputMismatch,
    model: ModelFacts | Unknown,
    data: DataFacts | Unknown,
    project: Project,
) -> Iterator[Finding]:
    """Report what the message alone shows."""
    if said.found is None or said.axis == -1 and isinstance(data, DataFacts) and _joins_models(model):
        return
    expected, axis, length, found = said.expected, said.axis, said.axis_length, said.found
    sample = found[1:]
    if expected is None and axis is not None and length is not None and -len(sample) <= axis < 0:
        expected = (None, *sample[:axis], length, *sample[len(sample) + axis + 1 :])
    if failure.called not in ("fit", "evaluate", "predict", "train_on_batch", ""):
        if expected is not None:
            inside = _inside(failure, found, expected)
            yield replace(inside, fixes=(*_in_loop(project, failure, found, expected), *inside.fixes))
        return
    if expected is None or not _is_about_lengths(relation(sample, expected[1:]), found, expected[1:]):
        return
    if is_one_picture(found, expected):
        return  # FIT102
    frame = failure.last_user_frame
    wanted = shape_words(expected[1:])
    reshaped = _fits_reshaped(sample, expected[1:]) and len(sample) <= len(expected) - 1
    # An evaluating call fails: the model was trained on other data, so this data is wrong.
    tries = failure.called in ("evaluate", "predict")
    of_model = input_giving(project, expected) or (None if tries else _only_input(model))
    of_data = only_input_line(data)
    unseen = not project and frame is not None and "validation_data" in frame.text
    built_in = said.axis is not None and said.layer and not names_whole_model(said.layer) and not project
    inner = _given_to_model(failure) if said.layer and said.axis is not None else None
    yield CAUSE.finding(
        f"the layer `{said.layer}` gets samples of shape {shape_words(sample)}, but was built for {wanted}"
        if inner is None and built_in
        else f"each sample has shape {shape_words(sample)}, but the model expects {wanted}"
        if inner is None or inner == found
        else f"samples of shape {shape_words(inner[1:])} do not match the model: its layer `{said.layer}` receives "
        f"{shape_words(sample)}, but expects {wanted}",
        place(of_data if reshaped else of_model, of_model, of_data, failure.location),
        Evidence("shape of the input", shape_words(found), shape_words(expected)),
        fix(f"reshape the data to {wanted}")
        if _fits_reshaped(sample, expected[1:])
        else fix(f"pass samples of shape {wanted}, as in training")
        if tries
        else fix("pass samples of the size that the model was built for, or build it for the size of these")
        if inner is None and built_in
        else fix(f"set the input shape to {shape_words((inner or found)[1:])}, or change the data"),
        subject=f"argument x of {failure.called or 'fit'}",
        notes=[_WHICH_DATA] if unseen else [],
        confidence=Confidence.LIKELY if unseen else Confidence.CERTAIN,
    )


def _in_loop(project: Project, failure: FailureFacts, found: Shape, expected: Shape) -> Iterator[Fix]:
    """Yield a reshape of the batch that a custom training loop passes to the model."""
    called = model_call(project, failure)
    if called is None or None in expected[1:] or relation(found[1:], expected[1:]) != "reshaped":
        return
    lengths = ", ".join(str(length) for length in (-1, *expected[1:]))
    edits = reworked_batch(*called, f"{{}}.reshape({lengths})", f"tf.reshape({{}}, ({lengths}))")
    yield fix("reshape the data: both shapes have the same number of values", edits)


def _only_input(model: ModelFacts | Unknown) -> Code | Unknown:
    if isinstance(model, Unknown) or sum(layer.class_name == "InputLayer" for layer in model.layers) > 1:
        return Unknown("the model has several inputs, or they are unknown")
    return model.input_code


def _given_to_model(failure: FailureFacts) -> Shape | None:
    """Return the only input shape listed in the message."""
    given = [shapes_in(value) for name, value in failure.arguments if name == "inputs"]
    return given[0][0] if len(given) == 1 and len(given[0]) == 1 and given[0][0] else None


@CAUSE.after_failure
def from_joined(failure: FailureFacts, model: ModelFacts, data: DataFacts) -> Iterator[Finding]:
    """Report a functional model that nests others, as `Model(z, D(G(z)))`: Keras does not compare their shapes."""
    said = input_mismatch(failure.message)
    if said is None or said.found is None or said.axis != -1 or data.role != "training":
        return
    if _joins_models(model) and not while_validating(failure) and not list(mismatches(model, data)):
        inside = _inside(failure, said.found, (*said.found[:-1], said.axis_length))
        yield replace(inside, location=place(model.code))


def _joins_models(model: ModelFacts | Unknown) -> bool:
    if isinstance(model, Unknown) or model.kind != "functional":
        return False
    names = [layer.class_name for layer in model.layers if layer.sublayers]
    return sum(name in ("Sequential", "Functional") for name in names) > 1


_WHICH_DATA = "the text does not show whether the training or the validation data was rejected (FIT712)"


def _inside(failure: FailureFacts, found: Shape, expected: Shape) -> Finding:
    """Report an error raised while the model is built: it concerns its parts, not the data."""
    _frame, said = failure.last_user_frame, input_mismatch(failure.message)
    part = f"`{said.layer}`" if said is not None and said.layer else "a model or layer"
    return CAUSE.finding(
        f"{part} receives a tensor of shape {shape_words(found)}, but expects {shape_words(expected)}",
        failure.location,
        Evidence("shape of the tensor", shape_words(found), shape_words(expected)),
        fix("change the preceding layer to output that shape, or change the input shape here"),
        subject=f"input of {part}",
    )


explains_inputs(CAUSE, _explain, _from_message)

CAUSE.message(
    r"Input \d+ of layer [\"']?(?P<layer>[\w/]+)[\"']? is incompatible with the layer\W*$",
    "`{layer}` expects another input shape; the message is cut off before the two shapes",
    "compare `x.shape` with `model.input_shape`; only the batch axis may differ",
    subject="argument x of fit",
)

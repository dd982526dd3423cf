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
from fitdoctor.catalogue.doubts import INPUTS
from fitdoctor.catalogue.inputs.data_places import map_samples, only_input_line, rework_data, shape_line
from fitdoctor.catalogue.inputs.shapes import (
    Mismatch,
    input_code_of,
    input_shape_edit,
    is_one_sample,
    length_argument,
    mismatches,
    proven,
    relation,
    sample_given_by_hand,
    sides_swapped,
    while_validating,
    without_one_axis,
)
from fitdoctor.catalogue.model.layer_refusals import of_site
from fitdoctor.catalogue.words import argument_words, place, shape_words
from fitdoctor.diagnosis import Confidence, Evidence, Finding, Fix, Location, Severity
from fitdoctor.edits import fix, replace_code, unsafe
from fitdoctor.facts import (
    CALLS,
    TRAINING_CALL,
    Code,
    DataFacts,
    FailureFacts,
    FitFacts,
    ModelFacts,
    Shape,
    Unknown,
)
from fitdoctor.failure.patterns import InputMismatch, input_mismatch, kernel_mismatch, shapes_in
from fitdoctor.patterns import pattern
from fitdoctor.records import replace
from fitdoctor.source.project import Project

TYPE_CHECKING = False
if TYPE_CHECKING:
    from fitdoctor.catalogue.model.size_sources import Decided
    from fitdoctor.source.fits.fit_sites import ModelSite

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
def from_data(
    model: ModelFacts, fit: FitFacts, data: DataFacts, project: Project | Unknown
) -> Iterator[Finding]:
    """Report data whose axis lengths differ from the `Input`."""
    confidence = Confidence.CERTAIN if proven(data) else Confidence.LIKELY
    for mismatch in mismatches(model, data):
        if _is_about_lengths(mismatch.kind, mismatch.array.shape, mismatch.expected_sample):
            yield _finding(mismatch, fit, data, project, confidence, fit.method)


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
        subject=argument_words(array.path, fit),
        location=place(code, array.code, fit.code),
        evidence=[
            Evidence(
                claim=f"shape of `{array.path}`",
                observed=shape_words(shape),
                expected=shape_words(wanted),
                fact="data.x.shape",
                location=place(array.code, array.use),
            )
        ],
        fixes=[fix(f"set the input shape to {shape_words(shape[1:])}")],
        confidence=Confidence.LIKELY,
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
        subject=f"model {site.failure.layer if site.failure is not None else ''}",
        location=refusal.place,
        evidence=[
            Evidence("shape of a sample", shape_words(found), shape_words(wanted)),
            *(
                [Evidence(f"the tensor comes from `{before.class_name}`", location=place(before.code))]
                if before is not None
                else []
            ),
        ],
        fixes=[
            fix(
                f"change the tensor to {shape_words(wanted)} per sample, or the `Input` of the model to {shape_words(found)}"
            )
        ],
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


def _finding(
    mismatch: Mismatch,
    fit_call: FitFacts | Unknown,
    data: DataFacts,
    project: Project | Unknown,
    confidence: Confidence,
    method: str,
) -> Finding:
    array, named = mismatch.array, _named_length(mismatch, project)
    if isinstance(fit_call, FitFacts) and fit_call.method in CALLS:
        method = fit_call.method
    # An evaluating call fails: the model was trained on other data, so this data is wrong.
    tries = method not in ("fit", "train_on_batch", TRAINING_CALL, "")
    found, expected = shape_words(mismatch.found_sample), shape_words(mismatch.expected_sample)
    whose = f"the layer `{mismatch.expected.name}`" if mismatch.by_layer else "the model"
    return CAUSE.finding(
        f"each sample of `{array.path}` has shape {found}, but {whose} expects {expected}",
        subject=argument_words(array.path, fit_call),
        location=_line_to_change(mismatch, data, named, tries),
        evidence=[
            Evidence(
                claim=f"shape of `{array.path}`",
                observed=shape_words(array.shape),
                expected=shape_words(mismatch.expected.shape),
                fact="data.x.shape",
                location=place(array.code, array.use),
            ),
            Evidence(claim="the expected input shape is set here", location=place(mismatch.code)),
        ],
        fixes=_fixes(mismatch, fit_call, data, named, tries),
        confidence=confidence,
    )


def _named_length(mismatch: Mismatch, project: Project | Unknown) -> Decided | None:
    """Return what set the only differing length if the `Input` uses a name for it."""
    from fitdoctor.catalogue.model.size_sources import decided_size

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


def _fixes(
    mismatch: Mismatch, fit_call: FitFacts | Unknown, data: DataFacts, named: Decided | None, tries: bool
) -> list[Fix]:
    array = mismatch.array
    if _fits_reshaped(mismatch.found_sample, mismatch.expected_sample):
        axes = ", ".join(str(length) for length in mismatch.expected_sample)
        same = ": both shapes have the same number of values" * (mismatch.kind == "reshaped")
        title = f"reshape `{array.path}`{same}"
        if data.form == "dataset":
            return [fix(title, map_samples(data, array, f"tf.reshape(x, ({axes},))"))]
        known = data.form in ("arrays", "batch") and "numpy" in array.container
        return [fix(title, rework_data(array, fit_call, f"{{}}.reshape(-1, {axes})") if known else ())]
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


@CAUSE.after_failure
def from_failure(
    failure: FailureFacts,
    model: ModelFacts | Unknown,
    fit: FitFacts | Unknown,
    data: DataFacts | Unknown,
    project: Project | Unknown,
) -> Iterator[Finding]:
    """Report the expected and the found shape from the message."""
    if _CUT.search(failure.message):
        yield _cut(failure)
        return
    said = input_mismatch(failure.message) or kernel_mismatch(failure.message, failure.node)
    if said is None or said.found is None or said.target or while_validating(failure):
        return
    if sample_given_by_hand(failure) is not None:  # reported by input-rank-mismatch
        return
    if isinstance(model, ModelFacts) and isinstance(data, DataFacts):
        if data.role != "training":
            return
        known = list(mismatches(model, data))
        for mismatch in known:
            if _is_about_lengths(mismatch.kind, mismatch.array.shape, mismatch.expected_sample):
                yield _finding(mismatch, fit, data, project, Confidence.CERTAIN, failure.called)
        if not known and said.axis == -1 and _joins_models(model):
            yield replace(_from_joined(failure, said.found), location=place(model.code))
            return
        if known or not isinstance(data.trial.forward, Unknown):
            return
    yield from _from_message(failure, said, model, data, project)


_CUT = pattern(r"Input \d+ of layer [\"']?(?P<layer>[\w/]+)[\"']? is incompatible with the layer\W*$")


def _cut(failure: FailureFacts) -> Finding:
    """Report a message that ends before it says how the shapes differ."""
    said = _CUT.search(failure.message)
    frame = failure.last_user_frame
    assert said is not None
    return CAUSE.finding(
        f"`{said['layer']}` expects another input shape; the message is cut off before the two shapes",
        subject="argument x of fit",
        location=frame.location if frame else None,
        evidence=[Evidence("the error message", said[0], "", "failure.message")],
        fixes=[fix("compare `x.shape` with `model.input_shape`; only the batch axis may differ")],
        confidence=Confidence.LIKELY,
    )


def _from_message(
    failure: FailureFacts,
    said: InputMismatch,
    model: ModelFacts | Unknown,
    data: DataFacts | Unknown,
    project: Project | Unknown,
) -> Iterator[Finding]:
    """Report what the message alone shows."""
    from fitdoctor.catalogue.model.model_inputs import input_giving

    if said.found is None:
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
    frame = failure.last_user_frame
    wanted = shape_words(expected[1:])
    reshaped = _fits_reshaped(sample, expected[1:]) and len(sample) <= len(expected) - 1
    # An evaluating call fails: the model was trained on other data, so this data is wrong.
    tries = failure.called in ("evaluate", "predict")
    of_model = input_giving(project, expected) or (None if tries else _only_input(model))
    of_data = only_input_line(data)
    unseen = isinstance(project, Unknown) and frame is not None and "validation_data" in frame.text
    inner = _given_to_model(failure) if said.layer and said.axis is not None else None
    yield CAUSE.finding(
        f"each sample has shape {shape_words(sample)}, but the model expects {wanted}"
        if inner is None or inner == found
        else f"samples of shape {shape_words(inner[1:])} do not match the model: its layer `{said.layer}` receives "
        f"{shape_words(sample)}, but expects {wanted}",
        subject="argument x of fit",
        location=place(
            of_data if reshaped else of_model, of_model, of_data, frame.location if frame else None
        ),
        evidence=[
            Evidence(
                claim="shape of the input",
                observed=shape_words(found),
                expected=shape_words(expected),
                fact="failure.message",
            )
        ],
        fixes=[
            fix(f"reshape the data to {wanted}")
            if _fits_reshaped(sample, expected[1:])
            else fix(f"set the input shape to {shape_words((inner or found)[1:])}, or change the data")
        ],
        notes=[_WHICH_DATA] if unseen else [],
        confidence=Confidence.LIKELY if unseen else Confidence.CERTAIN,
    )


def _in_loop(
    project: Project | Unknown, failure: FailureFacts, found: Shape, expected: Shape
) -> Iterator[Fix]:
    """Yield a reshape of the batch that a custom training loop passes to the model."""
    from fitdoctor.catalogue.inputs.loop_data import model_call, reworked_batch

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


def _joins_models(model: ModelFacts) -> bool:
    """Whether a functional model nests others, as `Model(z, D(G(z)))`, whose shapes Keras does not compare."""
    inner = [
        layer
        for layer in model.layers
        if layer.sublayers and layer.class_name in ("Sequential", "Functional")
    ]
    return model.kind == "functional" and len(inner) > 1


def _from_joined(failure: FailureFacts, found: Shape) -> Finding:
    said = input_mismatch(failure.message)
    length = said.axis_length if said is not None else None
    return _inside(failure, found, (*found[:-1], length))


_WHICH_DATA = "the text does not show whether the training or the validation data was rejected (FIT712)"


def _inside(failure: FailureFacts, found: Shape, expected: Shape) -> Finding:
    """Report an error raised while the model is built: it concerns its parts, not the data."""
    frame, said = failure.last_user_frame, input_mismatch(failure.message)
    part = f"`{said.layer}`" if said is not None and said.layer else "a model or layer"
    return CAUSE.finding(
        f"{part} receives a tensor of shape {shape_words(found)}, but expects {shape_words(expected)}",
        subject=f"input of {part}",
        location=frame.location if frame is not None else None,
        evidence=[
            Evidence(
                claim="shape of the tensor",
                observed=shape_words(found),
                expected=shape_words(expected),
                fact="failure.message",
            )
        ],
        fixes=[fix("change the preceding layer to output that shape, or change the input shape here")],
        confidence=Confidence.LIKELY,
    )

"""The number of samples, or the batch size, stands in the model's input shape.

## What happens

`Input(shape=(32, 12))` describes one sample of 32 by 12: Keras puts the batch axis before it. With rows of 12
values fit ends in `expected shape=(None, 32, 12), found shape=(32, 12)`. `Input(shape=x_train.shape)` before
an LSTM fails while the model is made: `expected ndim=3, found ndim=4`. `Conv2D(…, input_shape=(n, 32, 32,
3))` does too, in other words: `Kernel shape must have the same length as input`. A batch size in
`Input(batch_shape=(32, …))` alone does no harm; before a layer with `stateful=True` it does, when the last batch is
shorter: `Incompatible shapes: [4,1] vs. [32,1]` at the end of the first epoch.

## Why

The shape of the whole array was given, or the batch size was put before the shape of a sample.

## Fix

Leave the first axis out: `Input(shape=x_train.shape[1:])`. To fix the batch size, which few models need,
there is `Input(batch_shape=(32, 12))`: a stateful model then needs samples that are a multiple of it.

## Known limits

A first axis that is neither the number of samples nor the batch size, and is not written as one, may be a
time axis that the data lacks: that is told as `input-rank-mismatch`.
"""

from __future__ import annotations

from collections.abc import Iterator

from fitdoctor.catalogue import Cause, doubting, mentions
from fitdoctor.catalogue.doubts import INPUTS
from fitdoctor.catalogue.inputs.shapes import (
    input_shape_edit,
    mismatches,
    proven,
    sample_given_by_hand,
    shape_argument,
    while_validating,
)
from fitdoctor.catalogue.words import place, shape_words
from fitdoctor.diagnosis import Confidence, Evidence, Finding, Fix, Severity
from fitdoctor.edits import fix
from fitdoctor.facts import (
    Code,
    DataFacts,
    FailureFacts,
    FitFacts,
    LayerFacts,
    ModelFacts,
    Outcome,
    Shape,
    Unknown,
)
from fitdoctor.failure.patterns import input_mismatch
from fitdoctor.records import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from fitdoctor.source.fits.fit_sites import ModelSite
    from fitdoctor.source.project import Project

CAUSE = Cause(
    id="FIT103",
    slug="batch-axis-in-input-shape",
    severity=Severity.ERROR,
    raises=("ValueError", "InvalidArgumentError"),
    explains=("FIT101", "FIT102", "FIT304"),
)


@CAUSE.in_source
@doubting(INPUTS)
@CAUSE.before_fit
def from_data(model: ModelFacts, data: DataFacts) -> Iterator[Finding]:
    """The input has one axis more than the samples, and it is as long as there are samples, or as a batch."""
    for mismatch in mismatches(model, data):
        if mismatch.kind == "batch":
            yield _finding(
                mismatch.code,
                mismatch.expected_sample,
                f"the samples of `{mismatch.array.path}` have {shape_words(mismatch.found_sample)}",
                shape_words(mismatch.array.shape),
                Confidence.CERTAIN if proven(data) else Confidence.LIKELY,
            )


@CAUSE.before_fit
def from_last_batch(model: ModelFacts, data: DataFacts) -> Iterator[Finding]:
    """A recurrent layer keeps a state for each row of a fixed batch, and the last batch is shorter."""
    short = data.trial.short
    failed = short.failure if isinstance(short, Outcome) else None
    if failed is None or "batch size of the initial state" not in failed.message:
        return
    layer = next((one for one in model.every_layer() if one.name == failed.layer), None)
    yield _short_batch(model, data, layer, data.trial.short_rows, Confidence.CERTAIN)


@CAUSE.in_source
@mentions("stateful")
def last_batch_in_source(model: ModelFacts, fit: FitFacts, data: DataFacts) -> Iterator[Finding]:
    """The same where the source tells the number of samples, and that batches of a fixed size do not share it out."""
    from fitdoctor.catalogue.model.batch_sizes import rows_left_over

    left = rows_left_over(fit, data)
    if not left or model.overrides or not isinstance(model.inputs, tuple) or len(model.inputs) != 1:
        return
    shape = model.inputs[0].shape
    keeps = next((one for one in model.layers if one.builtin and one.setting("stateful") == "True"), None)
    if keeps is not None and isinstance(shape, tuple) and shape[:1] == (fit.batch_size,):
        yield _short_batch(model, data, keeps, left, Confidence.LIKELY)


def _short_batch(
    model: ModelFacts, data: DataFacts, layer: LayerFacts | None, left: int | None, confidence: Confidence
) -> Finding:
    return CAUSE.finding(
        f"the model keeps a state for batches of {data.batch_size}, but the last batch has {left} rows",
        subject="input shape of the model",
        location=place(model.input_code, layer.code if layer is not None else None),
        evidence=[
            Evidence(
                claim="samples that the batches have to share out evenly",
                observed=str(data.samples),
                expected=f"a multiple of {data.batch_size}",
                fact="data.samples",
            )
        ],
        fixes=[fix("leave out the rows that are left over, or take a batch size that divides them")],
        confidence=confidence,
    )


def _from_loss(failure: FailureFacts, project: Project | Unknown) -> Iterator[Finding]:
    """The loss met fewer labels than outputs, and the source speaks of a stateful layer."""
    from fitdoctor.catalogue.model.batch_sizes import fixed_batch, stateful_input

    batch = fixed_batch(failure)
    found = stateful_input(project) if batch is not None else None
    if batch is None or found is None:
        return
    yield CAUSE.finding(
        f"the model keeps a state for batches of {batch.fixed}, but the last batch has {batch.rows} rows",
        subject="input shape of the model",
        location=found[0].location(found[1]),
        evidence=[Evidence("rows of the batch", str(batch.rows), str(batch.fixed), "failure.message")],
        fixes=[fix("leave out the rows that are left over, or take a batch size that divides them")],
    )


@CAUSE.in_source
def from_model(site: ModelSite, project: Project) -> Iterator[Finding]:
    """The first layer refuses an input whose source speaks of samples."""
    from fitdoctor.catalogue.model.model_inputs import goes_by_frames, leads_with_batch, refusing_site

    given = refusing_site(site)
    if given is None or site.failure is None or goes_by_frames(*given, site.failure.message, project):
        return
    if leads_with_batch(*given, site.failure.message):
        yield _of_refusal(*given)


def _of_refusal(code: Code, shape: Shape) -> Finding:
    return _finding(
        code, shape[1:], "the first layer refuses it: it has one axis too many", "", Confidence.LIKELY
    )


def _finding(
    code: Code | Unknown, expected: Shape, reason: str, observed: str, confidence: Confidence
) -> Finding:
    return CAUSE.finding(
        f"the input shape {shape_words(expected)} begins with the {_what(code)}: {reason}",
        subject="input shape of the model",
        location=place(code),
        evidence=[
            Evidence(
                claim="the model's input is the shape of one sample, without the batch axis",
                observed=shape_words(expected),
                expected=shape_words(expected[1:]),
                fact="model.inputs",
                location=place(code),
            ),
            *(
                [Evidence(claim="shape of the data", observed=observed, fact="data.x.shape")]
                if observed
                else []
            ),
        ],
        fixes=[_fix(code, expected)],
        confidence=confidence,
    )


def _what(code: Code | Unknown) -> str:
    return "batch size" if "batch" in shape_argument(code).lower() else "number of samples"


def _fix(code: Code | Unknown, expected: Shape) -> Fix:
    text = shape_argument(code)
    if text.endswith(".shape"):
        shorter = f"{text}[1:]"
    elif text.startswith("(") and text.count("(") == 1 and text.count(",") == len(expected) - 1:
        rest = [part.strip() for part in text.strip("()").split(",")[1:]]
        shorter = f"({', '.join(rest)}{',' if len(rest) == 1 else ''})"
    else:
        shorter = shape_words(expected[1:])
    return fix("leave the first axis out of the input shape", input_shape_edit(code, shorter))


@CAUSE.after_failure
def from_failure(
    failure: FailureFacts,
    model: ModelFacts | Unknown,
    data: DataFacts | Unknown,
    project: Project | Unknown,
) -> Iterator[Finding]:
    """The data proves it, or the source of the refused input says it."""
    from fitdoctor.catalogue.model.model_inputs import goes_by_frames, leads_with_batch, refused_input

    if while_validating(failure) or sample_given_by_hand(failure) is not None:
        return
    if failure.type != "ValueError":
        yield from _from_loss(failure, project)
        return
    if isinstance(model, ModelFacts) and isinstance(data, DataFacts):
        for mismatch in mismatches(model, data):
            if mismatch.kind == "batch":
                yield _finding(
                    mismatch.code,
                    mismatch.expected_sample,
                    f"the samples have {shape_words(mismatch.found_sample)}",
                    shape_words(mismatch.array.shape),
                    Confidence.CERTAIN,
                )
        return
    said = input_mismatch(failure.message)
    if said is not None and said.expected is not None and said.found is not None:
        yield from _from_message(failure, said.found, said.expected)
        return
    given = refused_input(failure, project)
    if given is not None and goes_by_frames(*given, failure.message, project):
        return
    if given is not None and leads_with_batch(*given, failure.message):
        yield _of_refusal(*given)
    elif given is None and "Kernel shape must have the same length as input" in failure.message:
        yield _in_general(failure)


def _from_message(failure: FailureFacts, found: Shape, expected: Shape) -> Iterator[Finding]:
    """The batch that was found is the sample that was expected, batch axis and all."""
    if failure.called in ("predict", "predict_on_batch"):
        return  # the model took what it was trained on: this is one sample without its batch
    exact = len(expected) == len(found) + 1 and expected[1:] == found and None not in found
    # A leading axis too many before at least two others: pictures and sequences seldom come in stacks.
    leading = len(found) >= 3 and expected[2:] == found[1:]
    if not exact and not leading:
        return
    frame = failure.last_user_frame
    reason = f"a batch of the data has {shape_words(found)}"
    finding = _finding(
        Unknown(), expected[1:], reason, "", Confidence.CERTAIN if exact else Confidence.LIKELY
    )
    yield replace(finding, location=frame.location if frame else None)


def _in_general(failure: FailureFacts) -> Finding:
    frame = failure.last_user_frame
    return CAUSE.finding(
        "a convolution got one axis too many: its input shape probably begins with the number of samples",
        subject="input shape of the model",
        location=frame.location if frame else None,
        fixes=[fix("give `input_shape` as the shape of one sample, without the number of samples")],
        confidence=Confidence.LIKELY,
    )

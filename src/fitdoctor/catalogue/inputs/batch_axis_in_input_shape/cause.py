"""Input shape that includes the batch axis.

## What happens

`Input(shape=(32, 12))` describes one sample of 32 by 12: Keras adds the batch axis in front of it. With rows of 12
values, `fit` raises `expected shape=(None, 32, 12), found shape=(32, 12)`. `Input(shape=x_train.shape)` before an
LSTM fails when the model is built: `expected ndim=3, found ndim=4`. So does `Conv2D(…, input_shape=(n, 32, 32, 3))`,
with another message: `Kernel shape must have the same length as input`. A batch size in `Input(batch_shape=(32, …))`
is harmless on its own. Before a layer with `stateful=True` it fails if the last batch is shorter: `Incompatible
shapes: [4,1] vs. [32,1]` at the end of the first epoch.

## Why

The shape of the whole array was passed, or the batch size was put in front of the shape of a sample.

## Fix

Drop the first axis: `Input(shape=x_train.shape[1:])`. Few models need a fixed batch size; for those, use
`Input(batch_shape=(32, 12))`. A stateful model then needs a number of samples that is a multiple of it.

## Known limits

A first axis that is neither the number of samples nor the batch size, and is not written as one, may be a time axis
that the data lacks. That is reported as FIT102 (`input-rank-mismatch`).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fitdoctor.catalogue import Cause, doubting, mentions
from fitdoctor.catalogue.inputs.refused_inputs import mismatches
from fitdoctor.catalogue.knowledge.data.shapes import (
    input_shape_edit,
    proven,
    sample_given_by_hand,
    shape_argument,
    shape_of_data,
    while_validating,
)
from fitdoctor.catalogue.knowledge.models.batch_sizes import fixed_batch, rows_left_over, stateful_input
from fitdoctor.catalogue.knowledge.models.model_inputs import (
    goes_by_frames,
    is_picture,
    leads_with_batch,
    refused_input,
)
from fitdoctor.catalogue.knowledge.models.refusals import Refusal, of_site, ranks_in
from fitdoctor.catalogue.prefilter import INPUTS
from fitdoctor.catalogue.rules import certain
from fitdoctor.catalogue.words import place, shape_words
from fitdoctor.diagnosis import Confidence, Evidence, Finding, Fix, Location, Severity
from fitdoctor.edits import correction, fix, replace_code
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
from fitdoctor.failure.shapes import input_mismatch
from fitdoctor.records import replace
from fitdoctor.source.fits.fit_sites import ModelSite
from fitdoctor.source.module import Module
from fitdoctor.source.origins import shape_of_input
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
    """Report an input with an extra first axis as long as the number of samples or the batch."""
    for found in _of_data(model, data):
        yield replace(found, confidence=Confidence.CERTAIN if proven(data) else Confidence.LIKELY)


def _of_data(model: ModelFacts, data: DataFacts) -> Iterator[Finding]:
    for mismatch in mismatches(model, data):
        if mismatch.kind == "batch":
            yield _finding(
                shape_of_data(model) or mismatch.code,
                mismatch.expected_sample,
                f"each sample of `{mismatch.array.path}` has shape {shape_words(mismatch.found_sample)}",
                shape_words(mismatch.array.shape),
            )


@CAUSE.before_fit
def from_last_batch(model: ModelFacts, data: DataFacts) -> Iterator[Finding]:
    """Report a last batch that is shorter than the fixed batch size of a stateful layer."""
    short = data.trial.short
    failed = short.failure if isinstance(short, Outcome) else None
    if failed is None or "batch size of the initial state" not in failed.message:
        return
    layer = next((one for one in model.every_layer() if one.name == failed.layer), None)
    found = _short_batch(model, data, layer, data.trial.short_rows)
    yield replace(found, confidence=Confidence.CERTAIN)


@CAUSE.in_source
@mentions("stateful")
def last_batch_in_source(model: ModelFacts, fit: FitFacts, data: DataFacts) -> Iterator[Finding]:
    """Report the same if the source shows the number of samples and the batch size."""
    left = rows_left_over(fit, data)
    if not left or model.overrides or not isinstance(model.inputs, tuple) or len(model.inputs) != 1:
        return
    shape = model.inputs[0].shape
    keeps = next((one for one in model.layers if one.builtin and one.setting("stateful") == "True"), None)
    if keeps is not None and isinstance(shape, tuple) and shape[:1] == (fit.batch_size,):
        yield _short_batch(model, data, keeps, left)


def _short_batch(model: ModelFacts, data: DataFacts, layer: LayerFacts | None, left: int | None) -> Finding:
    where = place(model.input_code, layer.code if layer is not None else None)
    divisible = f"a multiple of {data.batch_size}"
    seen = Evidence("number of samples", str(data.samples), divisible, fact="data.samples")
    return _of_last_batch(data.batch_size, left, where, seen)


def _from_loss(failure: FailureFacts, project: Project) -> Iterator[Finding]:
    """Report fewer labels than outputs in the loss of a model with a stateful layer."""
    batch = fixed_batch(failure)
    found = stateful_input(project) if batch is not None else None
    if batch is not None and found is not None:
        seen = Evidence("samples in the batch", str(batch.rows), str(batch.fixed))
        yield _of_last_batch(batch.fixed, batch.rows, found[0].location(found[1]), seen)


def _of_last_batch(
    size: int | Unknown | None, left: int | None, where: Location | None, seen: Evidence
) -> Finding:
    return CAUSE.finding(
        f"the stateful model expects batches of {size} samples, but the last batch has {left}",
        where,
        seen,
        fix(
            "drop the samples of the last, incomplete batch, or use a batch size that divides the number of samples"
        ),
        subject="input shape of the model",
    )


@CAUSE.in_source
def from_model(site: ModelSite, project: Project) -> Iterator[Finding]:
    """Report an input shape that names samples and that the first layer rejects."""
    refusal = of_site(site)
    given = refused_input(refusal, project) if refusal is not None else None
    if given is None or refusal is None or goes_by_frames(*given, refusal.message, project):
        return
    if leads_with_batch(*given, refusal.message):
        yield _of_refusal(*given, project)


def _of_refusal(code: Code, shape: Shape, project: Project) -> Finding:
    module = project.module_at(code.location.path)
    call = _call_at(module, code) if module is not None else None
    written = shape_of_input(module, call) if module is not None and call is not None else None
    if written is not None and written.text.endswith(".shape"):
        code = written
    return _finding(code, shape[1:], "the first layer rejects the extra axis")


def _call_at(module: Module, code: Code) -> ast.Call | None:
    calls = (node for node in module.nodes(ast.Call) if node.lineno == code.location.line)
    return next((node for node in calls if module.location(node) == code.location), None)


def _finding(code: Code | Unknown, expected: Shape, reason: str, observed: str = "") -> Finding:
    return CAUSE.finding(
        f"the input shape {shape_words(expected)} starts with the {_what(code)}: {reason}",
        place(code),
        Evidence(
            "the input shape describes one sample, without the batch axis",
            shape_words(expected),
            shape_words(expected[1:]),
            fact="model.inputs",
            location=place(code),
        ),
        *([Evidence("shape of the data", observed, fact="data.x.shape")] if observed else []),
        _fix(code, expected),
        subject="input shape of the model",
    )


def _what(code: Code | Unknown) -> str:
    return "batch size" if "batch" in shape_argument(code).lower() else "number of samples"


def _fix(code: Code | Unknown, expected: Shape) -> Fix:
    if isinstance(code, Code) and code.text.endswith(".shape"):
        return correction(
            "remove the first axis from the input shape", replace_code(code, f"{code.text}[1:]")
        )
    text = shape_argument(code)
    if text.endswith(".shape"):
        shorter = f"{text}[1:]"
    elif text.startswith("(") and text.count("(") == 1 and text.count(",") == len(expected) - 1:
        rest = [part.strip() for part in text.strip("()").split(",")[1:]]
        shorter = f"({', '.join(rest)}{',' if len(rest) == 1 else ''})"
    else:
        shorter = shape_words(expected[1:])
    return correction("remove the first axis from the input shape", input_shape_edit(code, shorter))


@CAUSE.after_failure
def from_failure(
    failure: FailureFacts, model: ModelFacts | Unknown, data: DataFacts | Unknown, project: Project
) -> Iterator[Finding]:
    """Report it from the data, or from the source of the rejected input."""
    if while_validating(failure) or sample_given_by_hand(failure) is not None:
        return
    if failure.type != "ValueError":
        yield from _from_loss(failure, project)
        return
    if isinstance(model, ModelFacts) and isinstance(data, DataFacts):
        yield from (certain(found, failure) for found in _of_data(model, data))
        return
    said = input_mismatch(failure.message)
    if said is not None and said.expected is not None and said.found is not None:
        yield from _from_message(failure, said.found, said.expected)
        return
    given = refused_input(Refusal(failure.message, failure=failure), project)
    if given is not None and goes_by_frames(*given, failure.message, project):
        return
    if given is not None and leads_with_batch(*given, failure.message):
        yield _of_refusal(*given, project)
    elif given is None and "Kernel shape must have the same length as input" in failure.message:
        ranks = ranks_in(failure.message)
        if ranks is None or ranks.shape is None or not is_picture(ranks.shape):
            yield _in_general(failure)


def _from_message(failure: FailureFacts, found: Shape, expected: Shape) -> Iterator[Finding]:
    """Report an expected sample shape that equals the shape of the batch found."""
    if failure.called in ("predict", "predict_on_batch"):
        return  # the model accepted its training data: this is one sample without its batch axis
    if not failure.frames and None not in found:
        return  # `fit` shows the batch axis as None: this is more likely one sample
    exact = len(expected) == len(found) + 1 and expected[1:] == found and None not in found
    # With at least two other axes, an extra leading axis is hardly ever part of the sample.
    leading = len(found) >= 3 and expected[2:] == found[1:]
    if not exact and not leading or exact and is_picture(expected):
        return  # a single picture lacks the batch axis: FIT102
    reason = f"a batch of the data has shape {shape_words(found)}"
    sure = Confidence.CERTAIN if exact else Confidence.LIKELY
    yield replace(_finding(Unknown(), expected[1:], reason), location=failure.location, confidence=sure)


def _in_general(failure: FailureFacts) -> Finding:
    return CAUSE.finding(
        "a convolution receives one axis too many: its input shape probably starts with the number of samples",
        failure.location,
        fix("set `input_shape` to the shape of one sample, without the number of samples"),
        subject="input shape of the model",
    )

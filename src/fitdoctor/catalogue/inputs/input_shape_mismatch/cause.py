"""A sample has other axis lengths than the model's input.

## What happens

A model with `Input(shape=(28, 28))` takes samples of 28 by 28. Samples of 784 numbers, or of 28 by 27, end fit before
its first step: `ValueError: … expected shape=(None, 28, 28), found shape=(32, 784)`; inside the model the same mistake
reads `expected axis -1 of input shape to have value 8, but received input with shape (None, 9)`.

## Why

The data were flattened (or not), a column is missing or left over, or a constant such as the window length stands in
two places and was changed in one.

## Fix

Where both shapes hold the same number of values, reshape the data. Otherwise the lengths truly differ: change the
`Input`, or select the columns that the model was made for.

## Known limits

A missing or extra axis is `input-rank-mismatch`, lengths in another order are `channel-axis-order`. A trailing axis of
length 1 may be left out: Keras adds it for Sequential and functional models.
"""

from __future__ import annotations

from collections.abc import Iterator

from fitdoctor.catalogue import Cause
from fitdoctor.catalogue.shapes import Mismatch, mismatches, proven, relation
from fitdoctor.catalogue.words import place, shape_words
from fitdoctor.diagnosis import Confidence, Edit, Evidence, Finding, Fix, Location, Severity
from fitdoctor.edits import fix, rework, set_argument
from fitdoctor.facts import Code, DataFacts, FailureFacts, ModelFacts, Shape, Unknown
from fitdoctor.failure.patterns import input_mismatch

CAUSE = Cause(
    id="FIT101",
    slug="input-shape-mismatch",
    severity=Severity.ERROR,
    raises="ValueError",
)


@CAUSE.in_source
@CAUSE.before_fit
def from_data(model: ModelFacts, data: DataFacts) -> Iterator[Finding]:
    """The data's axes have other lengths than the `Input`'s."""
    for mismatch in mismatches(model, data):
        if mismatch.kind not in ("reshaped", "lengths"):
            continue
        yield _finding(
            model,
            mismatch,
            Confidence.CERTAIN if proven(data) else Confidence.LIKELY,
        )


def _finding(model: ModelFacts, mismatch: Mismatch, confidence: Confidence) -> Finding:
    array = mismatch.array
    found, expected = shape_words(mismatch.found_sample), shape_words(mismatch.expected_sample)
    reshaped = mismatch.kind == "reshaped"
    if reshaped:
        location = place(array.code, array.use, model.input_code)
    else:
        location = place(model.input_code, array.code, array.use)
    return CAUSE.finding(
        f"each sample of `{array.path}` has shape {found}, but the model expects {expected}",
        subject=f"argument {array.path} of fit",
        location=location,
        evidence=[
            Evidence(
                claim=f"shape of `{array.path}`",
                observed=shape_words(array.shape),
                expected=shape_words(mismatch.expected.shape),
                fact="data.x.shape",
                location=place(array.code, array.use),
            ),
            Evidence(claim="the model's input was fixed here", location=place(model.input_code)),
        ],
        fixes=_fixes(model, mismatch),
        confidence=confidence,
    )


def _fixes(model: ModelFacts, mismatch: Mismatch) -> list[Fix]:
    array = mismatch.array
    if mismatch.kind == "reshaped":
        axes = ", ".join(str(length) for length in mismatch.expected_sample)
        return [
            fix(
                f"reshape `{array.path}`: both shapes hold the same number of values",
                rework(array.code, array.use, f"{{}}.reshape(-1, {axes})"),
            )
        ]
    return [
        fix(
            f"set the input shape to {shape_words(mismatch.found_sample)}",
            input_shape_edit(model.input_code, mismatch.found_sample),
        ),
        fix(f"or give the model samples of {shape_words(mismatch.expected_sample)}"),
    ]


def input_shape_edit(code: Code | Unknown, shape: Shape) -> tuple[Edit, ...]:
    """Another shape for an `Input(…)`, `InputLayer(…)` or the `input_shape=` of a first layer."""
    if isinstance(code, Unknown):
        return ()
    if code.argument("input_dim") is not None and len(shape) == 1:
        return set_argument(code, "input_dim", str(shape[0]))
    if code.argument("input_shape") is not None:
        return set_argument(code, "input_shape", shape_words(shape))
    if code.name.endswith((".Input", ".InputLayer")):
        return set_argument(code, "shape", shape_words(shape), position=0)
    return ()


@CAUSE.after_failure
def from_failure(
    failure: FailureFacts, model: ModelFacts | Unknown, data: DataFacts | Unknown
) -> Iterator[Finding]:
    """The message holds the expected and the found shape."""
    shapes = input_mismatch(failure.message)
    if shapes is None or shapes.found is None or shapes.expected is None or shapes.target:
        return
    found, expected = shapes.found[1:], shapes.expected[1:]
    if relation(found, expected) not in ("reshaped", "lengths"):
        return
    if isinstance(model, ModelFacts) and isinstance(data, DataFacts):
        for mismatch in mismatches(model, data):
            yield _finding(model, mismatch, Confidence.CERTAIN)
            return
    yield CAUSE.finding(
        f"each sample has shape {shape_words(found)}, but the model expects {shape_words(expected)}",
        subject="argument x of fit",
        location=_last_line(failure),
        evidence=[
            Evidence(
                claim="shape of the input",
                observed=shape_words(shapes.found),
                expected=shape_words(shapes.expected),
                fact="failure.message",
            )
        ],
        fixes=[
            fix(f"reshape the data to {shape_words(expected)}")
            if relation(found, expected) == "reshaped"
            else fix(f"set the input shape to {shape_words(found)}, or change the data")
        ],
        confidence=Confidence.CERTAIN,
    )


def _last_line(failure: FailureFacts) -> Location | None:
    frame = failure.last_user_frame
    return frame.location if frame else None

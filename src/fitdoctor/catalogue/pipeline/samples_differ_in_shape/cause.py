"""Samples of different shapes in one batch.

## What happens

`InvalidArgumentError: Cannot batch tensors with different shapes in component 0. First element had shape [5,3] and
element 1 had shape [8,3].` With the option `map_and_batch_fusion`: `Cannot add tensor to the batch: number of elements
does not match.` `fit`, or the loop over the dataset, raises it long after the line with `batch`.

## Why

A batch is one tensor, so all its samples must have the same shape. Sentences, time series and recordings differ in
length, and images differ in size. `batch` notices only when it stacks them.

## Fix

For sequences, use `padded_batch`, which pads the shorter ones with zeros, or `ragged_batch`. Mask the padding with a
`Masking` layer or `mask_zero=True` in an `Embedding`. For images, use `tf.image.resize` in a `map` before `batch`.

## Known limits

Given only a traceback, different lengths may also come from the last, shorter batch of a dataset that is batched
twice (FIT702).
"""

from __future__ import annotations

from collections.abc import Iterator

from fitdoctor.catalogue import Cause
from fitdoctor.catalogue.knowledge.data.pipeline_steps import (
    batch_steps,
    padded,
    step_place,
    unlike_shapes,
    with_step_before,
)
from fitdoctor.catalogue.words import place
from fitdoctor.diagnosis import Confidence, Edit, Evidence, Finding, Fix, Severity
from fitdoctor.edits import fix, spell, unsafe
from fitdoctor.facts import Code, DataFacts, FailureFacts, ModelFacts, Unknown
from fitdoctor.source.project import Project

CAUSE = Cause(
    id="FIT714", slug="samples-differ-in-shape", severity=Severity.ERROR, raises="InvalidArgumentError"
)


@CAUSE.after_failure
def from_failure(
    failure: FailureFacts, model: ModelFacts | Unknown, data: DataFacts | Unknown, project: Project
) -> Iterator[Finding]:
    """Report the two shapes that `batch` could not combine."""
    said = unlike_shapes(failure.message)
    if said is None or isinstance(data, DataFacts) and len(batch_steps(data.pipeline)) > 1:
        return
    first, other = said
    batch = _batch_call(data, project)
    unseen = not project and first[1:] == other[1:]
    yield CAUSE.finding(
        f"the samples of a batch have different shapes: {_words(first)} and {_words(other)}",
        place(step_place(batch), failure.location),
        Evidence("sample shape", _words(other), _words(first)),
        *_fixes(batch, first, other, _resized(model, data, batch)),
        subject="samples in a batch",
        notes=[_MAY_BE_TWICE] if unseen else [],
        confidence=Confidence.LIKELY if unseen else Confidence.CERTAIN,
    )


_MAY_BE_TWICE = "the source is not available; a dataset that is batched twice fails the same way at its last batch (FIT702)"


def _words(lengths: list[str]) -> str:
    return f"({', '.join(lengths)}{',' if len(lengths) == 1 else ''})"


def _batch_call(data: DataFacts | Unknown, project: Project) -> Code | Unknown:
    """Return the `batch` call of the pipeline, or the only one in the program."""
    if isinstance(data, DataFacts):
        for step in batch_steps(data.pipeline):
            return step.code
    calls = [module.code(call.node) for module in project.modules for call in module.method_calls("batch")]
    return calls[0] if len(calls) == 1 else Unknown("the `batch` call was not found")


def _fixes(batch: Code | Unknown, first: list[str], other: list[str], resized: tuple[Edit, ...]) -> list[Fix]:
    if len(first) == len(other) == 3 and first[2:] == other[2:] and first[2] in ("1", "3", "4"):
        return [
            unsafe(
                "resize the images before `batch`: `tf.image.resize(image, (height, width))` in a `map`",
                resized,
            )
        ]
    return [
        unsafe("pad the shorter samples with `padded_batch`", padded(batch)),
        fix("truncate the samples to one length in a `map`"),
    ]


def _resized(
    model: ModelFacts | Unknown, data: DataFacts | Unknown, batch: Code | Unknown
) -> tuple[Edit, ...]:
    """Add a `map` that resizes to the model's input size, if an element is an image and its label."""
    if isinstance(model, Unknown) or isinstance(data, Unknown) or isinstance(model.inputs, Unknown):
        return ()
    shape = model.inputs[0].shape if len(model.inputs) == 1 else ()
    if isinstance(shape, Unknown) or len(shape) != 4 or None in shape[1:3] or data.x_structure != "single":
        return ()
    tf, imports = spell(batch, "tensorflow", "tf")
    size = f"{tf}.image.resize(x, ({shape[1]}, {shape[2]}))"
    step = f".map(lambda x, y: ({size}, y))" if data.element_size == 2 else ""
    edits = with_step_before(batch, step) if step else ()
    return (*edits, *imports) if edits else ()

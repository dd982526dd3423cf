"""A dataset that gives single samples, not batches.

## What happens

`fit` takes the first axis of every element for the batch axis. An element that is one sample of 8 numbers looks like a
batch of 8 samples without features: `ValueError: … expected min_ndim=2, found ndim=1`, or `Invalid input shape …
shape=(8,)`. Validation data without a batch axis fails the same way, after the first epoch.

## Why

`tf.data.Dataset.from_tensor_slices` yields single samples, and `fit` does not batch a dataset: its `batch_size`
argument is ignored there.

## Fix

End the pipeline with `.batch(32)` (before `.prefetch`).

## Known limits

A pipeline whose samples have one axis more than the model expects looks batched.
"""

from __future__ import annotations

from collections.abc import Iterator

from fitdoctor.catalogue import Cause
from fitdoctor.catalogue.shapes import relation
from fitdoctor.catalogue.words import place, shape_words
from fitdoctor.diagnosis import Confidence, Edit, Evidence, Finding, Fix, Severity
from fitdoctor.edits import fix, wrap
from fitdoctor.facts import (
    ArrayFacts,
    Code,
    DataFacts,
    FailureFacts,
    FitFacts,
    ModelFacts,
    PipelineStep,
    Shape,
    Spec,
    Unknown,
)

CAUSE = Cause(
    id="FIT701",
    slug="dataset-not-batched",
    severity=Severity.ERROR,
    raises="ValueError",
    explains=("FIT101", "FIT102", "FIT201", "FIT205", "FIT712", "FIT304"),
)

BATCHING = frozenset({"batch", "padded_batch", "ragged_batch", "dense_to_ragged_batch", "bucket_by_sequence_length"})
AFTER_BATCH = ("prefetch", "cache")


@CAUSE.in_source
@CAUSE.before_fit
def from_pipeline(model: ModelFacts, fit: FitFacts, data: DataFacts) -> Iterator[Finding]:
    """No batch operation in the chain, and the element is a sample of the model's input."""
    if data.form != "dataset" or not data.pipeline or not data.x:
        return
    if any(step.operation in BATCHING for step in data.pipeline) or not _is_plain(data.pipeline):
        return
    forward = data.trial.forward
    if not isinstance(forward, Unknown) and forward.ok:
        return
    sample = _unbatched(model, data)
    if sample is None:
        return
    array, expected = sample
    yield CAUSE.finding(
        f"the {_words(data)} gives single samples of shape {shape_words(array.shape)}: "
        f"`fit` takes their first axis for the batch",
        subject=f"{data.role} dataset",
        location=place(_last_step(data).code, data.code, array.use),
        evidence=[
            Evidence(
                claim=f"an element of the {_words(data)}",
                observed=shape_words(array.shape),
                expected=shape_words(expected),
                fact="data.first_batch",
            )
        ],
        fixes=_fixes(data, fit),
        confidence=Confidence.LIKELY if isinstance(forward, Unknown) else Confidence.CERTAIN,
    )


def _words(data: DataFacts) -> str:
    return "dataset" if data.role == "training" else "validation dataset"


def _is_plain(pipeline: tuple[PipelineStep, ...]) -> bool:
    """Whether every step is one that keeps samples single; anything unknown may batch."""
    single = {"from_tensor_slices", "map", "shuffle", "cache", "prefetch", "repeat", "take", "skip", "filter", "zip"}
    return all(step.operation in single or step.operation == "from_generator" for step in pipeline)


def _unbatched(model: ModelFacts, data: DataFacts) -> tuple[ArrayFacts, Shape] | None:
    """The first component that is a sample where the model expects a batch of them."""
    if isinstance(model.inputs, Unknown):
        failed = data.trial.forward
        if isinstance(failed, Unknown) or failed.ok or "ndim" not in failed.failure.message:  # type: ignore[union-attr]
            return None
        shape = data.x[0].shape
        return (data.x[0], (None, *shape)) if isinstance(shape, tuple) else None
    if len(model.inputs) != len(data.x):
        return None
    for array, spec in zip(data.x, model.inputs, strict=True):
        if _is_sample(array, spec):
            assert isinstance(spec.shape, tuple)
            return array, spec.shape
    return None


def _is_sample(array: ArrayFacts, spec: Spec) -> bool:
    if isinstance(array.shape, Unknown) or isinstance(spec.shape, Unknown):
        return False
    return relation(array.shape, spec.shape[1:]) in ("same", "axis")


def _last_step(data: DataFacts) -> PipelineStep:
    """The last operation that comes before the place where `batch` belongs."""
    for step in reversed(data.pipeline):
        if step.operation not in AFTER_BATCH:
            return step
    return data.pipeline[-1]


def _fixes(data: DataFacts, fit_call: FitFacts) -> list[Fix]:
    size = fit_call.batch_size or 32
    return [fix(f"batch the {_words(data)}", _batch_after(_last_step(data).code, data, size))]


def _batch_after(step: Code | Unknown, data: DataFacts, size: int) -> tuple[Edit, ...]:
    made = step if isinstance(step, Code) else data.code
    if isinstance(made, Code):
        return wrap(made, f"{{}}.batch({size})")
    return wrap(data.x[0].use, f"{{}}.batch({size})")


@CAUSE.after_failure
def from_failure(
    failure: FailureFacts, fit: FitFacts | Unknown, model: ModelFacts | Unknown, data: DataFacts | Unknown
) -> Iterator[Finding]:
    """The same proof, once fit has raised for it."""
    if failure.type != "ValueError" or not isinstance(data, DataFacts):
        return
    if isinstance(model, ModelFacts) and isinstance(fit, FitFacts):
        yield from from_pipeline(model, fit, data)

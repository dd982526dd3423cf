"""Dataset that yields single samples instead of batches.

## What happens

`fit` treats the first axis of every element as the batch axis. One sample of 8 numbers looks like a batch of 8
samples without features: `ValueError: … expected min_ndim=2, found ndim=1`, or `Invalid input shape … shape=(8,)`.
Validation data without a batch axis fails the same way, after the first epoch.

## Why

`tf.data.Dataset.from_tensor_slices` yields single samples, and `fit` does not batch a dataset: it ignores its
`batch_size` argument.

## Fix

End the pipeline with `.batch(32)`, before `.prefetch`.

## Known limits

A pipeline whose samples have one axis more than the model expects looks batched and is not detected. Given only a
saved traceback, the cause is reported only if the rejected shape is that of a single sample.
"""

from __future__ import annotations

from collections.abc import Iterator

from fitdoctor.catalogue import BATCHED_DATA, Cause, mentions
from fitdoctor.catalogue.knowledge.data.batch_edits import last_step
from fitdoctor.catalogue.knowledge.data.dropped_steps import result_dropped
from fitdoctor.catalogue.knowledge.data.pipeline_steps import (
    BATCHING,
    READY_MADE,
    with_step_after,
    with_step_before,
    words,
)
from fitdoctor.catalogue.knowledge.data.shapes import forward_failure, relation, went_through
from fitdoctor.catalogue.knowledge.labels.targets import loss_failure
from fitdoctor.catalogue.pipeline import single_samples
from fitdoctor.catalogue.traceback_lines import was_received
from fitdoctor.catalogue.words import place, shape_words
from fitdoctor.diagnosis import Confidence, Edit, Evidence, Finding, Severity
from fitdoctor.edits import fix, wrap
from fitdoctor.facts import (
    ArrayFacts,
    DataFacts,
    FailureFacts,
    FitFacts,
    ModelFacts,
    Shape,
    Spec,
    Unknown,
)
from fitdoctor.failure.shapes import input_mismatch
from fitdoctor.source.project import Project

CAUSE = Cause(
    id="FIT701",
    slug="dataset-not-batched",
    severity=Severity.ERROR,
    raises="ValueError",
    explains=(
        "FIT101",
        "FIT102",
        "FIT103",
        "FIT108",
        "FIT201",
        "FIT204",
        "FIT205",
        "FIT217",
        "FIT304",
        "FIT712",
    ),
)

SINGLE = frozenset(
    "from_tensor_slices from_generator map shuffle cache prefetch repeat take skip filter zip shard enumerate "
    "concatenate sample_from_datasets choose_from_datasets snapshot ignore_errors apply options range unbatch "
    "TFRecordDataset TextLineDataset CsvDataset FixedLengthRecordDataset list_files".split()
)
"""Operations that yield single samples, or keep them single."""
AFTER_BATCH = ("prefetch",)


@CAUSE.in_source
@CAUSE.before_fit
@mentions(*BATCHED_DATA)
def from_pipeline(model: ModelFacts, fit: FitFacts, data: DataFacts, project: Project) -> Iterator[Finding]:
    """Report a pipeline without a batch operation whose element is a sample of the model's input."""
    if data.form != "dataset" or not data.pipeline or not data.x or not _is_single(data):
        return
    sample = _unbatched(model, data)
    if sample is None:
        return
    array, expected = sample
    size = fit.batch_size or 32
    proved = forward_failure(data) is not None or loss_failure(data) is not None
    dropped = result_dropped(project, fit, data)
    yield CAUSE.finding(
        f"the {words(data)} yields single samples of shape {shape_words(array.shape)}; "
        f"`fit` treats their first axis as the batch axis",
        place(dropped[0] if dropped else None, last_step(data), array.use),
        Evidence(
            f"element shape of the {words(data)}",
            shape_words(array.shape),
            shape_words(expected),
            fact="data.first_batch",
        ),
        dropped[1] if dropped else fix(f"batch the {words(data)}", _batched(data, array, size)),
        subject=f"{data.role} dataset",
        confidence=Confidence.CERTAIN if proved else Confidence.LIKELY,
    )


@CAUSE.before_fit
def from_batches(model: ModelFacts, fit: FitFacts, data: DataFacts, project: Project) -> Iterator[Finding]:
    """Report a generator or PyDataset whose batch is a single sample for every input."""
    if data.form not in ("generator", "pydataset") or went_through(data) or isinstance(model.inputs, Unknown):
        return
    if not data.x or len(model.inputs) != len(data.x):
        return
    for array, spec in zip(data.x, model.inputs, strict=True):
        if not isinstance(spec.shape, tuple) or array.shape != spec.shape[1:] or not array.shape:
            return
    # Keras adds an axis to scalars, so `(1,)` may be a batch of one; require that it was rejected.
    refused = forward_failure(data) is not None or loss_failure(data) is not None
    if refused or model.keras != 2 and any(array.shape == () for array in data.y):
        yield _single(data, fit, project, f" of shape {shape_words(data.x[0].shape)}")


@CAUSE.likely_in_source
@mentions(*BATCHED_DATA)
def samples_in_source(
    model: ModelFacts, fit: FitFacts, data: DataFacts, project: Project
) -> Iterator[Finding]:
    """Report a generator or PyDataset that reads one sample at a time, for a model that expects one axis more."""
    if data.form not in ("generator", "pydataset") or isinstance(model.inputs, Unknown) or not data.x:
        return
    found, wanted = data.x[0].shape, model.inputs[0].shape
    if not isinstance(found, tuple) or not isinstance(wanted, tuple) or len(model.inputs) != len(data.x):
        return
    if len(found) + 1 != len(wanted) or found[1:] != wanted[2:]:
        return
    given = single_samples.given_out(data, project)
    if given is not None and single_samples.is_one_sample(*given):
        yield _single(data, fit, project, f" of shape {shape_words(wanted[1:])}")


def _single(data: DataFacts, call: FitFacts, project: Project, shape: str) -> Finding:
    given = single_samples.given_out(data, project)
    edits = single_samples.as_batches_of_one(given[0].module, given[1]) if given is not None else ()
    return CAUSE.certain(
        f"the {words(data)} yields single samples{shape}; `fit` treats their first axis as the batch axis",
        place(given[0].module.location(given[1]) if given else None, data.code, call.code),
        Evidence("yielded value", f"one sample{shape}", "a batch of samples", fact="data.first_batch"),
        fix("yield a batch of one sample", edits)
        if edits
        else fix("stack several samples along a new batch axis with `np.stack(samples)`"),
        subject=f"{data.role} {data.form}",
    )


def _is_single(data: DataFacts) -> bool:
    """Return whether every stage keeps samples single; an unknown stage may batch. A scalar is not a batch."""
    operations = {step.operation for step in data.pipeline}
    kept = operations <= SINGLE and not operations & (BATCHING | READY_MADE)
    return kept or _gives_windows(data) or any(array.shape == () for array in data.y)


def _gives_windows(data: DataFacts) -> bool:
    """Return whether `window(…).flat_map(…)` yields single windows and no later stage batches them."""
    before, found, behind = " ".join(step.operation for step in data.pipeline).partition("window flat_map")
    return bool(found) and {*before.split(), *behind.split()} <= SINGLE


def _unbatched(model: ModelFacts, data: DataFacts) -> tuple[ArrayFacts, Shape] | None:
    """Return the first component that is a sample where the model expects a batch."""
    if went_through(data):
        return _scalar_label(data)
    if isinstance(model.inputs, Unknown):
        failed = forward_failure(data)
        refused = failed is None and _meets_scalar_label(model, data)
        if not refused and (failed is None or "ndim" not in failed.message):
            return None
        shape = data.x[0].shape
        told = isinstance(shape, tuple) and (refused or None not in shape[:1])
        return (data.x[0], (None, *shape)) if isinstance(shape, tuple) and told else None
    if len(model.inputs) != len(data.x):
        return None
    for array, spec in zip(data.x, model.inputs, strict=True):
        if _is_sample(array, spec):
            assert isinstance(spec.shape, tuple)
            return array, spec.shape
    return None


def _meets_scalar_label(model: ModelFacts, data: DataFacts) -> bool:
    """Return whether a crossentropy gets a label without an axis, which it rejects for any model output."""
    checked = all("crossentropy" in loss.name.lower() for loss in model.losses) and len(model.losses) == 1
    return checked and not model.overrides and len(data.y) == 1 and data.y[0].shape == ()


def _scalar_label(data: DataFacts) -> tuple[ArrayFacts, Shape] | None:
    """Return a label without an axis, which cannot be a batch and which the loss rejected."""
    if loss_failure(data) is None or len(data.y) != 1 or data.y[0].shape != ():
        return None
    shape = data.x[0].shape
    return (data.x[0], (None, *shape)) if isinstance(shape, tuple) else None


def _is_sample(array: ArrayFacts, spec: Spec) -> bool:
    if isinstance(array.shape, Unknown) or isinstance(spec.shape, Unknown):
        return False
    if relation(array.shape[1:], spec.shape[1:]) == "same":
        return False  # a stage turns each sample into a batch
    if len(array.shape) == 1 and spec.shape[1:] == (1,):
        return False  # Keras takes it for a batch of scalars, and adds their axis
    return relation(array.shape, spec.shape[1:]) in ("same", "axis")


def _batched(data: DataFacts, array: ArrayFacts, size: int) -> tuple[Edit, ...]:
    """Add `batch` as the last stage, before a `prefetch`."""
    last, end = data.pipeline[-1], last_step(data)
    if last.code == end and last.operation in AFTER_BATCH:
        return with_step_before(end, f".batch({size})")
    return with_step_after(end, f".batch({size})") or wrap(array.use, f"{{}}.batch({size})")


@CAUSE.after_failure
def from_failure(
    failure: FailureFacts,
    fit: FitFacts | Unknown,
    model: ModelFacts | Unknown,
    data: DataFacts | Unknown,
    project: Project,
) -> Iterator[Finding]:
    """Report the same after `fit` failed, or a rejected shape that lacks only the batch axis."""
    if failure.type != "ValueError":
        return
    if isinstance(data, DataFacts) and isinstance(fit, FitFacts) and data.form in ("generator", "pydataset"):
        yield from _failed_batches(failure, fit, model, data, project)
        return
    if isinstance(data, DataFacts):
        if isinstance(model, ModelFacts) and isinstance(fit, FitFacts):
            yield from from_pipeline(model, fit, data, project)
        single = data.form == "dataset" and bool(data.pipeline) and _is_single(data)
        if data.form != "other" and not (failure.from_text and single):
            return
    said = input_mismatch(failure.message)
    if said is None or said.found is None or not said.found or None in said.found or failure.called != "fit":
        return
    if said.expected is None:
        if (said.expected_rank, said.rank_rule, said.found_rank) != (2, "least", 1):
            return
    elif said.found != said.expected[1:]:
        return
    if was_received(failure, said.found) is False:
        # The model got more axes, so the missing one was lost inside it.
        return
    expected = said.expected or (None, *said.found)
    dropped = None
    if isinstance(data, DataFacts) and isinstance(fit, FitFacts):
        dropped = result_dropped(project, fit, data)
    yield CAUSE.finding(
        f"the data consists of single samples of shape {shape_words(said.found)}; "
        "`fit` treats their first axis as the batch axis",
        place(
            dropped[0] if dropped else None,
            last_step(data) if isinstance(data, DataFacts) else None,
            failure.location,
        ),
        Evidence("shape of the model input", shape_words(said.found), shape_words(expected)),
        dropped[1] if dropped else fix("batch the dataset with `.batch(32)`"),
        confidence=Confidence.CERTAIN if isinstance(data, DataFacts) else Confidence.LIKELY,
    )


def _failed_batches(
    failure: FailureFacts,
    call: FitFacts,
    model: ModelFacts | Unknown,
    data: DataFacts,
    project: Project,
) -> Iterator[Finding]:
    """Report a generator or PyDataset: proven before the call, or from its source if Keras rejected the batch."""
    found = list(from_batches(model, call, data, project)) if isinstance(model, ModelFacts) else []
    given = single_samples.given_out(data, project)
    one = given is not None and single_samples.is_one_sample(*given)
    if not found and one and single_samples.SCALAR in failure.message:
        found = [_single(data, call, project, "")]
    elif not found and one and isinstance(model, ModelFacts) and project:
        found = list(samples_in_source(model, call, data, project))
    yield from found

"""Dataset that is batched twice.

## What happens

Every element is a batch of batches, with one axis too many. The first layer that checks the rank rejects it:
`expected ndim=3, found ndim=4. Full shape received: (None, None, 24, 2)`. Layers that accept any rank (`Dense` in a
model without an `Input`) do not raise an error.

## Why

`.batch()` is called on a dataset whose elements are already batches. A helper function, a Keras utility such as
`timeseries_dataset_from_array`, or a generator that yields whole batches has already batched it.

## Fix

Remove one of the two, usually the later one.

## Known limits

Two batch axes can be intentional (windows of a sequence, then batches of windows). If the model accepts the shape,
nothing is reported.
"""

from __future__ import annotations

from collections.abc import Iterator

from fitdoctor.catalogue import BATCHED_DATA, Cause, mentions
from fitdoctor.catalogue.knowledge.data.pipeline_steps import (
    BATCHING,
    batch_steps,
    on_ready_made,
    step_place,
    unlike_shapes,
    without_step,
    words,
)
from fitdoctor.catalogue.knowledge.data.shapes import forward_failure, went_through
from fitdoctor.catalogue.words import place, shape_words
from fitdoctor.diagnosis import Confidence, Evidence, Finding, Location, Severity
from fitdoctor.edits import fix
from fitdoctor.facts import (
    ArrayFacts,
    Code,
    DataFacts,
    FailureFacts,
    FitFacts,
    ModelFacts,
    PipelineStep,
    Shape,
    Unknown,
)
from fitdoctor.failure.shapes import input_mismatch
from fitdoctor.source.project import Project

CAUSE = Cause(
    id="FIT702",
    slug="dataset-batched-twice",
    severity=Severity.ERROR,
    raises=("ValueError", "InvalidArgumentError"),
    explains=("FIT101", "FIT102", "FIT103", "FIT202", "FIT205", "FIT304", "FIT712", "FIT714"),
)


@CAUSE.in_source
@CAUSE.before_fit
@mentions(*BATCHED_DATA)
def from_pipeline(model: ModelFacts, fit: FitFacts, data: DataFacts) -> Iterator[Finding]:
    """Report an element with two batch axes for a model that expects one."""
    if data.form != "dataset" or not data.x or (went_through(data) and not _squeezed(model, data)):
        return
    steps = batch_steps(data.pipeline)
    if not steps or steps[-1].operation not in BATCHING:
        return
    if len(steps) < 2 and not _source_batches(data.pipeline, steps[-1]):
        return
    array = _one_axis_too_many(model, data) or _labels_of_batches(model, data, steps)
    if array is None:
        return
    assert isinstance(array.shape, tuple)
    last = steps[-1]
    evidence = [
        Evidence(
            f"element shape of the {words(data)}",
            shape_words(array.shape),
            shape_words(array.shape[1:]),
            fact="data.first_batch",
        )
    ]
    first = steps[0] if len(steps) > 1 else data.pipeline[0]
    if isinstance(first.code, Code) and first.code != last.code:
        evidence.append(Evidence("the elements are already batches here", location=first.code.location))
    yield CAUSE.finding(
        f"the {words(data)} is batched twice: its elements have shape {shape_words(array.shape)}",
        place(step_place(last.code), data.code, array.use),
        *evidence,
        fix("remove the second `batch`", without_step(last.code)),
        subject=f"{data.role} dataset",
        confidence=Confidence.LIKELY
        if isinstance(data.trial.forward, Unknown) or went_through(data)
        else Confidence.CERTAIN,
    )


def _squeezed(model: ModelFacts, data: DataFacts) -> bool:
    """Return whether Keras squeezed a trailing axis of size one because there was one too many in front."""
    if isinstance(model.inputs, Unknown) or len(model.inputs) != 1 or len(data.x) != 1:
        return False
    found, wanted = data.x[0].shape, model.inputs[0].shape
    if not isinstance(found, tuple) or not isinstance(wanted, tuple):
        return False
    return len(found) == len(wanted) + 1 and found[-1] == 1 and found[:2] == (None, None)


def _source_batches(pipeline: tuple[PipelineStep, ...], batch: PipelineStep) -> bool:
    """Return whether the source of the pipeline yields batches: every generator component has an open first axis."""
    source = pipeline[0]
    before = pipeline[: pipeline.index(batch)]
    if source.operation != "from_generator" or not source.specs:
        return False
    kept = all(
        step.operation in ("from_generator", "prefetch", "cache", "shuffle", "repeat", "take")
        for step in before
    )
    return kept and all(isinstance(spec.shape, tuple) and spec.shape[:1] == (None,) for spec in source.specs)


def _one_axis_too_many(model: ModelFacts, data: DataFacts) -> ArrayFacts | None:
    """Return the first component that the model would accept without its first axis."""
    if isinstance(model.inputs, Unknown):
        failed = forward_failure(data)
        said = input_mismatch(failed.message) if failed is not None else None
        if said is None:
            return _by_first_layer(model, data)
        expected, found = said.ranks
        if expected is None or found != expected + 1:
            return None
        return next(
            (array for array in data.x if isinstance(array.shape, tuple) and len(array.shape) == found), None
        )
    if len(model.inputs) != len(data.x):
        return None
    for array, spec in zip(data.x, model.inputs, strict=True):
        if isinstance(array.shape, tuple) and isinstance(spec.shape, tuple):
            if len(array.shape) == len(spec.shape) + 1 and _fit(array.shape[2:], spec.shape[1:]):
                return array
    return None


def _labels_of_batches(model: ModelFacts, data: DataFacts, steps: list[PipelineStep]) -> ArrayFacts | None:
    """Return integer class labels that were batched twice, if the shape of x is unknown."""
    if len(steps) < 2 or len(data.y) != 1 or any(isinstance(array.shape, tuple) for array in data.x):
        return None
    label = data.y[0]
    sparse = [loss.name for loss in model.losses] == ["sparse_categorical_crossentropy"]
    return label if sparse and isinstance(label.shape, tuple) and len(label.shape) == 2 else None


_RANKS = {"LSTM": 3, "GRU": 3, "SimpleRNN": 3, "Conv1D": 3, "Conv2D": 4, "Conv3D": 5}


_ANY_RANK = frozenset("InputLayer Rescaling Normalization Activation ReLU Dropout GaussianNoise".split())
"""Layers that accept samples of any rank and keep their shape."""


def _by_first_layer(model: ModelFacts, data: DataFacts) -> ArrayFacts | None:
    """Return the rank that the first layer expects, for a model that was not tried."""
    if not isinstance(data.trial.forward, Unknown) or model.kind != "sequential" or len(data.x) != 1:
        return None
    first = next((layer for layer in model.layers if layer.class_name not in _ANY_RANK), None)
    wanted = _RANKS.get(first.class_name) if first is not None and first.builtin else None
    array = data.x[0]
    fits = isinstance(array.shape, tuple) and wanted is not None and len(array.shape) == wanted + 1
    return array if fits else None


def _fit(found: Shape, expected: Shape) -> bool:
    return all(
        one is None or other is None or one == other for one, other in zip(found, expected, strict=True)
    )


@CAUSE.after_failure
def from_failure(
    failure: FailureFacts,
    fit: FitFacts | Unknown,
    model: ModelFacts | Unknown,
    data: DataFacts | Unknown,
    project: Project,
) -> Iterator[Finding]:
    """Report the same after `fit` failed, or a rejected shape with two open leading axes."""
    if failure.type == "InvalidArgumentError":
        if isinstance(data, DataFacts) and len(batch_steps(data.pipeline)) > 1:
            steps = batch_steps(data.pipeline)
            call = fit.code if isinstance(fit, FitFacts) else Unknown("the `fit` call was not found")
            where = place(step_place(steps[-1].code), data.code, call)
            short = list(_cannot_batch(failure, f"{data.role} dataset", where, steps[-1].code))
            if steps[-1].operation not in BATCHING:
                short = []
            if not short and isinstance(model, ModelFacts) and isinstance(fit, FitFacts):
                short = list(from_pipeline(model, fit, data))
            yield from short
        else:
            yield from _batched_in_source(failure, project)
    if failure.type != "ValueError":
        return
    if isinstance(data, DataFacts):
        found: list[Finding] = []
        if isinstance(model, ModelFacts) and isinstance(fit, FitFacts):
            found = list(from_pipeline(model, fit, data))
        yield from found
        if found or data.form != "other" and not batch_steps(data.pipeline):
            return
    said = input_mismatch(failure.message)
    if said is None or said.found is None or said.found[:2] != (None, None) or failure.called != "fit":
        return
    expected, rank = said.ranks
    if expected is None or rank != expected + 1 or None in said.found[2:]:
        return
    if said.expected is not None and not _fit(said.found[2:], said.expected[1:]):
        return
    steps = batch_steps(data.pipeline) if isinstance(data, DataFacts) else []
    second = steps[-1].code if steps else Unknown("the `batch` call was not found")
    yield CAUSE.finding(
        f"the data has two batch axes: its shape is {shape_words(said.found)}",
        place(step_place(second), failure.location),
        Evidence(
            "shape of the layer input",
            shape_words(said.found),
            shape_words(said.expected) if said.expected else f"{expected} axes",
        ),
        fix("remove one of the two `batch` calls", without_step(second)),
    )


def _batched_in_source(failure: FailureFacts, project: Project) -> Iterator[Finding]:
    """Report a `batch` call on data that a utility has already batched, from text alone."""
    for module in project.modules:
        for call in module.method_calls("batch"):
            if on_ready_made(module, call.node):
                code = module.code(call.node)
                yield from _cannot_batch(failure, "training dataset", step_place(code), code)
                return


def _cannot_batch(
    failure: FailureFacts, subject: str, location: Location | None, code: Code | Unknown
) -> Iterator[Finding]:
    """Report a second `batch` that got batches of different lengths: the last one of the first `batch` is shorter."""
    said = unlike_shapes(failure.message)
    first, other = said if said is not None else ([], [])
    if first and first[1:] == other[1:] and first[:1] != other[:1]:
        yield CAUSE.finding(
            f"the dataset is batched twice: batches of {first[0]} and {other[0]} samples cannot be combined",
            location,
            Evidence(
                "element shape before the second `batch`",
                f"({', '.join(first)})",
                f"({', '.join(first[1:])})",
            ),
            fix("remove the second `batch`", without_step(code)),
            subject=subject,
        )

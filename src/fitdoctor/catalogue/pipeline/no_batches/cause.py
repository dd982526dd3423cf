"""Data that yields no batches.

## What happens

`fit` returns immediately: it runs no step, `history` is empty, the weights are unchanged, and a warning says "Your
input ran out of data". If the validation data yields no batch, the `val_` metrics are missing. A Python generator
that yields no batch raises `ValueError: … the generator must yield at least one batch`.

## Why

`batch(n, drop_remainder=True)` drops the only batch if there are fewer than n samples. A `filter` may reject every
sample. `take(0)`, or a `skip` that skips everything, leaves nothing.

## Fix

Use a smaller batch size or remove `drop_remainder`. Change a `filter` condition that rejects every sample.

## Known limits

What a `filter` lets through is known only if the data is in memory and the functions of the pipeline have no side
effects.
"""

from __future__ import annotations

from collections.abc import Iterator

from fitdoctor.catalogue import Cause, mentions
from fitdoctor.catalogue.knowledge.data.generator_sources import returned_in_step
from fitdoctor.catalogue.knowledge.data.pipeline_steps import (
    BATCHING,
    setting,
    step_place,
    whole_setting,
    words,
)
from fitdoctor.catalogue.words import counted, place
from fitdoctor.diagnosis import Evidence, Finding, Fix, Location, Severity
from fitdoctor.edits import remove_argument, unsafe
from fitdoctor.facts import DataFacts, FitFacts, PipelineStep
from fitdoctor.source.project import Project

CAUSE = Cause(id="FIT705", slug="no-batches", severity=Severity.WARNING)


@CAUSE.likely_in_source
@CAUSE.before_fit
@mentions("drop_remainder")
def from_data(fit: FitFacts, data: DataFacts, project: Project) -> Iterator[Finding]:
    """Report a dataset that is empty although its source is not."""
    if data.form != "dataset" or data.batches != 0 or data.samples == 0:
        return
    step = _culprit(data)
    operation = f"`{step.operation}`" if step is not None else "the pipeline"
    why, fixes = f"{operation} removes everything", list[Fix]()
    found: Location | None = place(step_place(step.code) if step is not None else None, data.code)
    if step is not None and step.operation in BATCHING:
        size = whole_setting(step, "batch_size")
        has = f"fewer than {size} samples"
        if isinstance(data.samples, int):
            has = f"{counted(data.samples, 'sample')} instead of {size}"
        why = f"`drop_remainder=True` drops the only batch, which has {has}"
        fixes = [unsafe("keep the last, smaller batch", remove_argument(step.code, "drop_remainder"))]
    elif step is not None and step.operation == "filter":
        why = "`filter` rejects every sample"
        found = returned_in_step(project, step.code) or found
    yield CAUSE.certain(
        f"the {words(data)} yields no batches: {why}",
        found,
        Evidence(f"batches in the {words(data)}", "0", "at least 1", fact="data.batches"),
        *fixes,
        subject=f"{data.role} dataset",
    )


def _culprit(data: DataFacts) -> PipelineStep | None:
    for step in data.pipeline:
        if step.operation == "filter":
            return step
        if step.operation in BATCHING and setting(step, "drop_remainder") == "True":
            return step
        if step.operation == "take" and whole_setting(step, "count") == 0:
            return step
        if step.operation == "skip":
            return step
    return None


@CAUSE.before_fit
def from_generator(fit: FitFacts, data: DataFacts) -> Iterator[Finding]:
    """Report a Python generator that ends before its first batch, which Keras rejects."""
    if data.form != "generator" or data.problem is None or "at least one batch" not in data.problem.message:
        return
    yield CAUSE.certain(
        f"the {words(data)} yields no batches",
        place(data.code, fit.code),
        Evidence("batches", "0", "at least 1", fact="data.batches"),
        subject=f"{data.role} generator",
        severity=Severity.ERROR,
    )


CAUSE.message(
    r"Unexpected result of `(?P<name>\w+)` \(Empty Logs\)",
    "`{name}` got no batches, so there is nothing to report",
    "check that the data is not empty and that it is not exhausted",
    subject="validation data",
    types=("ValueError",),
)
CAUSE.message(
    r"'NoneType' object has no attribute 'items'",
    "the validation data yields no batches",
    "check that the validation data is not empty, and that it has at least one whole batch",
    subject="validation data",
    types=("AttributeError",),
    raised_in=("fit", "_validate_and_get_metrics_result"),
)

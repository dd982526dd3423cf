"""A pipeline that holds the data a second time.

## What happens

Nothing fails. `from_tensor_slices` copies the arrays into tensors and keeps two copies of them; `cache()` without a file
name keeps another one. An array of 476 MiB took 993 MiB more when it was measured. Given to `fit` as it is, it is copied
too, but once: 554 MiB more while training runs, and for a moment, while it is copied, as much as with the pipeline.

## Why

A tensor does not share its memory with the array that it is made from.

## Fix

Give arrays to `fit` directly for one copy less. For none at all, hand out batches from a `keras.utils.PyDataset` or a
generator (one batch at a time), or read the data from files in the pipeline, so that it is never whole in memory.

## Known limits

Only from 64 MB on, and as information: on a machine with room for it this is fine.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from fitdoctor.catalogue import Cause, mentions
from fitdoctor.catalogue.words import place
from fitdoctor.diagnosis import Confidence, Evidence, Finding, Severity
from fitdoctor.edits import fix
from fitdoctor.facts import DataFacts, FitFacts, PipelineStep, Shape, Unknown

CAUSE = Cause(id="FIT803", slug="data-held-twice", severity=Severity.INFO)

LARGE = 64 * 10**6
BYTES = {
    "float64": 8,
    "int64": 8,
    "float32": 4,
    "int32": 4,
    "float16": 2,
    "int16": 2,
    "uint8": 1,
    "int8": 1,
    "bool": 1,
}


@CAUSE.before_fit
def from_pipeline(fit: FitFacts, data: DataFacts) -> Iterator[Finding]:
    """The pipeline begins with `from_tensor_slices` of much data."""
    if data.form != "dataset" or fit.method != "fit" or not data.pipeline:
        return
    first = data.pipeline[0]
    if first.operation not in ("from_tensor_slices", "from_tensors") or not isinstance(data.samples, int):
        return
    size = sum(_size(array.shape, array.dtype, data.samples) for array in (*data.x, *data.y))
    if size >= LARGE:
        yield _finding(data, first, size)


@CAUSE.in_source
@mentions("from_tensor_slices")
def from_source(fit: FitFacts, data: DataFacts) -> Iterator[Finding]:
    """The same where the source tells how many rows there are, and how large each is."""
    first = data.pipeline[0] if data.pipeline else None
    if first is None or first.operation != "from_tensor_slices" or fit.method != "fit":
        return
    if isinstance(first.count, int):
        # What comes out of the first step has no axis of samples yet.
        size = sum(
            _size((None, *spec.shape), spec.dtype, first.count)
            for spec in first.specs
            if isinstance(spec.shape, tuple)
        )
        if size >= LARGE:
            yield _finding(data, first, size)


def _finding(data: DataFacts, first: PipelineStep, size: int) -> Finding:
    copies = 2 + sum(
        step.operation == "cache" and not dict(step.arguments).get("filename") for step in data.pipeline
    )
    return CAUSE.finding(
        f"`{first.operation}` copies {size / 1e6:.0f} MB of arrays into the pipeline"
        + (", and `cache` keeps them once more" if copies > 2 else ""),
        subject=f"{data.role} dataset",
        location=place(first.code, data.code),
        evidence=[
            Evidence(
                claim="memory for the copies", observed=f"{copies * size / 1e6:.0f} MB", fact="data.pipeline"
            )
        ],
        fixes=[
            fix("give the arrays to `fit` directly: one copy less"),
            fix("hand out batches from a `keras.utils.PyDataset` or from files: no copy at all"),
        ],
        confidence=Confidence.LIKELY,
    )


def _size(shape: Shape | Unknown, dtype: str | Unknown, samples: int) -> int:
    """The bytes of a component over all samples; 0 when that cannot be told."""
    if isinstance(shape, Unknown) or None in shape[1:] or not isinstance(dtype, str):
        return 0
    return samples * math.prod(length for length in shape[1:] if length is not None) * BYTES.get(dtype, 0)

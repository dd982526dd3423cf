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

from fitdoctor.catalogue import Cause
from fitdoctor.catalogue.words import place
from fitdoctor.diagnosis import Confidence, Evidence, Finding, Severity
from fitdoctor.edits import fix
from fitdoctor.facts import ArrayFacts, DataFacts, FitFacts

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
    size = sum(filter(None, (_size(array, data.samples) for array in (*data.x, *data.y))))
    if size < LARGE:
        return
    copies = 2 + sum(
        step.operation == "cache" and not dict(step.arguments).get("filename") for step in data.pipeline
    )
    yield CAUSE.finding(
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


def _size(array: ArrayFacts, samples: int) -> int | None:
    """The bytes of a component over all samples; None when that cannot be told."""
    if not isinstance(array.shape, tuple) or not isinstance(array.dtype, str) or array.dtype not in BYTES:
        return None
    sample = array.shape[1:]
    if None in sample:
        return None
    return samples * math.prod(length for length in sample if length is not None) * BYTES[array.dtype]

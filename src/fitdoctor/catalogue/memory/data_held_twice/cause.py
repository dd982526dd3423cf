"""Pipeline that keeps a second copy of the data.

## What happens

Nothing fails. `from_tensor_slices` copies the arrays into tensors and keeps two copies of them; `cache()` without a
file name keeps another one. In a measurement, an array of 476 MiB took 993 MiB more. Passed directly to `fit` it is
copied only once: 554 MiB more while training runs and, briefly while it is copied, as much as with the pipeline.

## Why

A tensor does not share its memory with the array it is created from.

## Fix

Pass arrays directly to `fit` to save one copy. To avoid copies altogether, yield batches from a
`keras.utils.PyDataset` or a generator, or read the data from files in the pipeline, so that it is never in memory as
a whole.

## Known limits

Reported from 256 MB, as info only: on a machine with enough memory this is fine.
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

LARGE = 256 * 10**6
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
    """Report the same if the source shows the number and size of the rows."""
    first = data.pipeline[0] if data.pipeline else None
    if first is None or first.operation != "from_tensor_slices" or fit.method != "fit":
        return
    if isinstance(first.count, int):
        # The elements of the first stage have no batch axis yet.
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
        f"`{first.operation}` copies {size / 1e6:,.0f} MB of arrays into the pipeline"
        + (", and `cache` keeps another copy" if copies > 2 else ""),
        place(first.code, data.code),
        Evidence("memory for the copies", f"{copies * size / 1e6:,.0f} MB", fact="data.pipeline"),
        fix("pass the arrays directly to `fit` to save one copy"),
        fix("yield batches from a `keras.utils.PyDataset` or from files to avoid copies altogether"),
        subject=f"{data.role} dataset",
        confidence=Confidence.LIKELY,
    )


def _size(shape: Shape | Unknown, dtype: str | Unknown, samples: int) -> int:
    """Return the bytes of a component over all samples, 0 if unknown."""
    if isinstance(shape, Unknown) or None in shape[1:] or not isinstance(dtype, str):
        return 0
    return samples * math.prod(length for length in shape[1:] if length is not None) * BYTES.get(dtype, 0)

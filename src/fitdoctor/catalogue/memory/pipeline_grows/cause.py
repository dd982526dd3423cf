"""Pipeline whose memory grows without end.

## What happens

Nothing fails at first. `cache()` after `repeat()` keeps every element of every epoch, because the cache of an endless
dataset is never complete: memory grows with each step until the machine runs out of it. `shuffle` with a huge buffer
after `repeat()` fills the buffer before it yields anything: the first batch does not arrive, and memory grows meanwhile.

## Why

`repeat()` makes one endless dataset of all epochs. What comes after it cannot tell where an epoch ends, so a cache or a
buffer after it is limited only by its own size, not by the size of the data.

## Fix

Call `cache` and `shuffle` before `repeat`, with a buffer no larger than the data. `fit` repeats a dataset by itself, so
often `repeat` is not needed at all.

## Known limits

A `take` between `repeat` and `cache` limits the cache and is not reported. A buffer is reported only if the data before
`repeat` is known to be much smaller, or the buffer would need more than 64 GB.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from fitdoctor.catalogue import Cause, mentions
from fitdoctor.catalogue.knowledge.data.pipeline_steps import (
    setting,
    step_place,
    whole_setting,
    with_step_before,
    without_step,
)
from fitdoctor.catalogue.memory.data_held_twice.cause import BYTES
from fitdoctor.catalogue.words import place
from fitdoctor.diagnosis import Edit, Evidence, Finding, Severity
from fitdoctor.edits import fix, unsafe
from fitdoctor.facts import Code, DataFacts, FitFacts, PipelineStep, Unknown

CAUSE = Cause(id="FIT807", slug="pipeline-grows", severity=Severity.WARNING)

_HUGE = 64 * 10**9
"""Bytes: more than the memory of most machines."""
_LARGE = 10**9
_TIMES_THE_DATA = 10
_KEEPS_COUNT = frozenset(
    "map prefetch cache with_options apply shuffle enumerate zip assert_cardinality take_while".split()
)
_LIMITS = frozenset("take take_while".split())


@CAUSE.in_source
@CAUSE.before_fit
@mentions("repeat")
def from_pipeline(fit: FitFacts, data: DataFacts) -> Iterator[Finding]:
    """Report a cache or a huge buffer after an endless `repeat`."""
    # A function of Keras may repeat a part of what it zips: the dataset itself ends.
    if data.form != "dataset" or fit.method != "fit" or not isinstance(data.batches, Unknown):
        return
    repeat: PipelineStep | None = None
    for at, step in enumerate(data.pipeline):
        if step.operation in _LIMITS:
            repeat = None
        elif step.operation == "repeat" and _endless(step):
            repeat = step
        elif repeat is not None and step.operation == "cache" and _in_memory(step):
            before = data.pipeline[: data.pipeline.index(repeat)]
            yield _cache(data, repeat, step, before)
        elif repeat is not None and step.operation == "shuffle":
            before = data.pipeline[: data.pipeline.index(repeat)]
            yield from _shuffle(data, repeat, step, before, data.pipeline[at - 1])


def _in_memory(step: PipelineStep) -> bool:
    """Return whether a cache has no file name."""
    written = isinstance(step.code, Code) and bool(step.code.arguments)
    return not setting(step, "filename") and not written


def _endless(step: PipelineStep) -> bool:
    return setting(step, "count") in (None, "None", "-1")


def _cache(
    data: DataFacts, repeat: PipelineStep, cache: PipelineStep, before: tuple[PipelineStep, ...]
) -> Finding:
    return CAUSE.certain(
        "`cache` after `repeat` keeps every element of every epoch: memory grows with each step",
        step_place(cache.code),
        Evidence(
            "the dataset is endless from here on",
            "`repeat()`",
            fact="data.pipeline",
            location=step_place(repeat.code),
        ),
        unsafe("call `cache` before `repeat`", _cached_first(repeat, cache, before)),
        subject=f"{data.role} dataset",
    )


def _cached_first(
    repeat: PipelineStep, cache: PipelineStep, before: tuple[PipelineStep, ...]
) -> tuple[Edit, ...]:
    """Move the cache before `repeat`, and before a `shuffle` there, whose order it would freeze."""
    first = next((step for step in before if step.operation == "shuffle"), repeat)
    if not isinstance(first.code, Code) or not isinstance(cache.code, Code):
        return ()
    removed, added = without_step(cache.code), with_step_before(first.code, ".cache()")
    # Edits of one chain of calls would overlap.
    apart = first.code.location.end_line < cache.code.location.line
    return (*removed, *added) if removed and added and apart else ()


def _shuffle(
    data: DataFacts,
    repeat: PipelineStep,
    shuffle: PipelineStep,
    before: tuple[PipelineStep, ...],
    previous: PipelineStep,
) -> Iterator[Finding]:
    size = whole_setting(shuffle, "buffer_size")
    element = _element_bytes(previous)
    if size is None or element is None:
        return
    rows = _rows(data, before)
    much = rows is not None and size >= _TIMES_THE_DATA * rows and size * element >= _LARGE
    if not much and size * element < _HUGE:
        return
    yield CAUSE.certain(
        f"`shuffle` fills a buffer of {size:,} elements from an endless dataset before the first batch",
        step_place(shuffle.code),
        Evidence(
            "memory for the buffer",
            f"{size * element / 1e9:,.0f} GB",
            f"{rows:,} elements in the data" if rows is not None else "",
            fact="data.pipeline",
            location=place(shuffle.code),
        ),
        Evidence("the dataset is endless from here on", "`repeat()`", location=step_place(repeat.code)),
        fix("call `shuffle` before `repeat`, with a buffer no larger than the data"),
        subject=f"{data.role} dataset",
    )


def _rows(data: DataFacts, before: tuple[PipelineStep, ...]) -> int | None:
    """Return how many elements the data has before `repeat`, None if unknown."""
    for at in range(len(before) - 1, -1, -1):
        count = before[at].count
        if isinstance(count, int):
            return count
        if before[at].operation not in _KEEPS_COUNT:
            return None
    return None


def _element_bytes(step: PipelineStep) -> int | None:
    total = 0
    for spec in step.specs:
        if isinstance(spec.shape, Unknown) or None in spec.shape or spec.dtype not in BYTES:
            return None
        total += math.prod(length for length in spec.shape if length is not None) * BYTES[spec.dtype]
    return total or None

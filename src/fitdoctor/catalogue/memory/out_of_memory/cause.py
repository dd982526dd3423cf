"""Memory ran out.

## What happens

`ResourceExhaustedError: OOM when allocating tensor with shape[64,2000000,20000]`, from TensorFlow's own allocator; or
the system ends the process (`Killed`, SIGKILL), and there is no traceback at all.

## Why

A tensor whose first axis is the batch is an activation: it shrinks with the batch. A tensor without it is a weight: a
smaller batch does not help. A process that is killed holds more than the machine or the container allows: often the
data, held twice.

## Fix

By kind: a smaller batch (or accumulated gradients, mixed precision) for activations; pooling or fewer units for
weights; a generator or files instead of arrays in memory for data.

## Known limits

When the system kills the process it is not known which tensor was the last one.
"""

from __future__ import annotations

from collections.abc import Iterator

from fitdoctor.catalogue import Cause
from fitdoctor.catalogue.words import place, shape_words
from fitdoctor.diagnosis import Confidence, Evidence, Finding, Severity
from fitdoctor.edits import fix, unsafe
from fitdoctor.facts import FailureFacts, FitFacts, Unknown

CAUSE = Cause(
    id="FIT806",
    slug="out-of-memory",
    severity=Severity.ERROR,
    raises=("ResourceExhaustedError", "InternalError", "MemoryError"),
)


@CAUSE.after_failure
def from_failure(failure: FailureFacts, fit: FitFacts | Unknown) -> Iterator[Finding]:
    """TensorFlow names the tensor; a killed process says nothing."""
    from fitdoctor.failure.patterns import allocation_failed

    frame = failure.last_user_frame
    code = fit.code if isinstance(fit, FitFacts) else None
    location = place(code) or (frame.location if frame else None)
    failed = allocation_failed(failure.message)
    if failure.type in ("ResourceExhaustedError", "MemoryError") or failed is not None:
        shape = failed.shape if failed is not None else None
        batch = fit.batch_size if isinstance(fit, FitFacts) else None
        of_the_batch = bool(shape) and len(shape or ()) > 1 and (batch is None or (shape or (0,))[0] == batch)
        what = "an activation of the batch" if of_the_batch else "a tensor"
        yield CAUSE.finding(
            f"memory ran out on {what}" + (f" of shape {shape_words(shape)}" if shape else ""),
            subject="memory",
            location=location,
            evidence=[
                Evidence(
                    claim="what could not be allocated",
                    observed=shape_words(shape) if shape else failure.message[:100],
                    fact="failure.message",
                )
            ],
            fixes=[unsafe("use a smaller batch") if of_the_batch else fix("make the tensor smaller")],
            confidence=Confidence.CERTAIN,
        )
    elif failure.type == "SIGKILL":
        yield CAUSE.finding(
            "the system ended the program, as it does when memory runs out",
            subject="memory",
            location=location,
            evidence=[Evidence(claim="signal", observed="SIGKILL", fact="failure.type")],
            fixes=[unsafe("use a smaller batch, or hold less data in memory")],
            confidence=Confidence.LIKELY,
        )

"""Collective operations that fail because the workers of a cluster disagree."""

from __future__ import annotations

from fitdoctor.facts import FailureFacts


def left_by_another(failure: FailureFacts) -> bool:
    """Whether a collective operation failed because of another worker."""
    # Only the raw message contains the node name with the job.
    said = failure.message + failure.raw_message
    return "/job:worker" in said and "Collective ops is aborted" in said


def out_of_step(failure: FailureFacts) -> bool:
    """Whether the workers of a cluster ran different collective operations."""
    return (
        left_by_another(failure) and "expected type" in failure.message and "but got type" in failure.message
    )

"""The memory of the data besides the batch in the step: copies of it, and waiting batches.

As measured on TensorFlow 2.21 with Keras 3.15 (see docs/memory.md): `fit` copies whole arrays into tensors, and
reads ahead in parallel.
"""

from __future__ import annotations

from fitdoctor.memory.buffers import Held
from fitdoctor.records import dataclass


@dataclass(frozen=True)
class Feed:
    """How the data reaches the step."""

    form: str = "none"
    """`arrays`, `dataset`, `generator`, `pydataset`, or `none` without data."""
    arrays: tuple[int, ...] = ()
    """Bytes of each array that the program holds, as a tensor."""
    held: int = 0
    """Bytes of those arrays themselves: a float64 array takes twice as much as its tensor."""
    batches: int | None = None
    """The number of batches, if known."""
    prefetch: int = 0
    """How many batches the pipeline itself keeps ready."""
    copies: int = 0
    """How many copies of all arrays the pipeline keeps."""


def beside(feed: Feed, batch_bytes: int, cores: int) -> tuple[Held, ...]:
    """Return what is held permanently besides the step and its batch."""
    copies = [
        Held("data", "", "a copy of the data in tensors", size)
        for _copy in range(feed.copies)
        for size in feed.arrays
    ]
    waiting = _waiting(feed, cores)
    if feed.batches is not None:
        waiting = min(waiting, max(0, feed.batches - 1))
    ahead = [Held("input", "", "a waiting batch", batch_bytes)] * waiting
    return (*copies, *ahead)


def _waiting(feed: Feed, cores: int) -> int:
    """Return how many batches wait outside the step."""
    if feed.form == "arrays":
        # Keras maps over batches on every core and prefetches two.
        return cores + 2
    if feed.form == "dataset":
        return feed.prefetch
    return 1 if feed.form == "generator" else 0


def at_conversion(feed: Feed) -> int:
    """Return bytes in use while arrays are converted to tensors: each is copied twice."""
    done = 0
    most = 0
    for size in feed.arrays if feed.copies else ():
        most = max(most, done + 2 * size)
        done += size
    return most

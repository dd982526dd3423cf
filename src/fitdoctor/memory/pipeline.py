"""What the data takes besides the batch in the step: copies of it, and batches that wait.

As measured on TensorFlow 2.21 with Keras 3.15 (see docs/memory.md): `fit` copies arrays into tensors as a whole, and
reads batches ahead in parallel.
"""

from __future__ import annotations

from fitdoctor.memory.buffers import Held
from fitdoctor.records import dataclass


@dataclass(frozen=True)
class Feed:
    """How the data comes into the step."""

    form: str = "none"
    """`arrays`, `dataset`, `generator`, `pydataset`, or `none` where no data was given."""
    arrays: tuple[int, ...] = ()
    """Bytes of each array that the program holds, as the tensor that is made of it."""
    held: int = 0
    """Bytes of those arrays as they are: a NumPy array of float64 takes twice as much as its tensor."""
    batches: int | None = None
    """How many batches there are, where that is known."""
    prefetch: int = 0
    """How many batches the pipeline itself keeps ready."""
    copies: int = 0
    """How often the pipeline keeps all of the arrays."""


def beside(feed: Feed, batch_bytes: int, cores: int) -> tuple[Held, ...]:
    """What is held all the time besides the step and its own batch."""
    copies = [
        Held("data", "", "a copy of the data in tensors", size)
        for _copy in range(feed.copies)
        for size in feed.arrays
    ]
    waiting = _waiting(feed, cores)
    if feed.batches is not None:
        waiting = min(waiting, max(0, feed.batches - 1))
    ahead = [Held("input", "", "a batch that waits", batch_bytes)] * waiting
    return (*copies, *ahead)


def _waiting(feed: Feed, cores: int) -> int:
    """How many batches are under way outside the step."""
    if feed.form == "arrays":
        # Keras maps over batches on every core and prefetches two.
        return cores + 2
    if feed.form == "dataset":
        return feed.prefetch
    return 1 if feed.form == "generator" else 0


def at_conversion(feed: Feed) -> int:
    """Bytes in use while the arrays are turned into tensors: each is copied twice on the way."""
    done = 0
    most = 0
    for size in feed.arrays if feed.copies else ():
        most = max(most, done + 2 * size)
        done += size
    return most

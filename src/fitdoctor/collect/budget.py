"""Limit the time a collector may spend on one call of fit."""

from __future__ import annotations

import time

from fitdoctor.records import dataclass, field


@dataclass(frozen=True)
class Budget:
    """Limits of time and rows; data beyond them is marked as sampled."""

    feature_seconds: float = 0.5
    """For reading features (all arrays of x together)."""
    label_seconds: float = 1.0
    """For reading labels and sample weights."""
    batches: int = 2
    """The number of generator batches to read; Keras itself reads two."""
    dataset_seconds: float = 0.5
    """For reading elements of a tf.data pipeline without side effects."""
    trial: bool = True
    """Whether the abstract forward pass, loss and metrics are tried."""


@dataclass
class Deadline:
    """The time at which reading stops."""

    seconds: float
    started: float = field(default_factory=time.perf_counter)

    @property
    def over(self) -> bool:
        """Whether the time is over."""
        return time.perf_counter() - self.started >= self.seconds

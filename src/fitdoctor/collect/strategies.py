"""Find the distribution strategy of a fit call, and parts of the model that belong to another one."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

from fitdoctor.facts.model import ScopeFacts

MIRRORED = ("MirroredStrategy", "CollectiveAllReduceStrategy")
"""Strategies whose variables reference them; the second is the multi-worker one."""


def strategy_of(model: Any) -> Any:
    """Return the strategy a model was created under, in Keras 2 or 3, else None."""
    attributes = vars(model)
    strategy = attributes.get("_distribute_strategy") or attributes.get("_distribution_strategy")
    return None if type(strategy).__name__ == "_DefaultDistributionStrategy" else strategy


def workers_of(strategy: Any) -> int:
    """Return the number of workers of a `MultiWorkerMirroredStrategy`."""
    number = getattr(getattr(strategy, "extended", None), "_num_workers", 1)
    return number if isinstance(number, int) and type(strategy).__name__ in MIRRORED else 1


def replica_devices(strategy: Any) -> tuple[str, ...]:
    """Return the devices passed to a `MirroredStrategy`; they may not exist."""
    if type(strategy).__name__ != "MirroredStrategy":
        return ()
    return tuple(str(name).rpartition("device:")[2] for name in strategy.extended.worker_devices)


def scope_facts(model: Any, layers: list[Any]) -> ScopeFacts:
    """Return what was created in which scope; empty without a supported strategy.

    Args:
        model: the live model, compiled and before its first step.
        layers: its own layers.
    """
    optimizer = getattr(model, "optimizer", None)
    counted = getattr(optimizer, "iterations", None)
    if counted is None or getattr(optimizer, "built", getattr(optimizer, "_built", False)):
        return ScopeFacts()
    strategy, theirs = strategy_of(model) or _around(), _owner(counted)
    if strategy is None:
        return ScopeFacts(optimizer="same" if theirs is None else "other")
    if type(strategy).__name__ not in MIRRORED:
        return ScopeFacts()
    return ScopeFacts(
        strategy=type(strategy).__name__,
        optimizer="same" if theirs is strategy else "none" if theirs is None else "other",
        optimizer_keeps_state=_keeps_state(optimizer),
        layers=tuple(_made_elsewhere(layers, strategy)),
    )


def _around() -> Any:
    """Return the strategy in whose scope fit is called."""
    tensorflow = sys.modules.get("tensorflow")
    if tensorflow is None or not tensorflow.distribute.has_strategy():
        return None
    return tensorflow.distribute.get_strategy()


def _owner(variable: Any) -> Any:
    """Return the strategy of a variable; Keras 3 wraps the TensorFlow variable."""
    return getattr(getattr(variable, "_value", variable), "distribute_strategy", None)


def _made_elsewhere(layers: list[Any], strategy: Any) -> Iterator[str]:
    """Yield the trainable layers whose weights do not belong to the strategy."""
    for layer in layers:
        weights = getattr(layer, "trainable_weights", None) if getattr(layer, "built", False) else None
        if weights and any(_owner(weight) is not strategy for weight in weights):
            yield str(getattr(layer, "name", ""))


def _keeps_state(optimizer: Any) -> bool:
    """Whether the optimizer certainly creates slot variables: all except SGD without momentum do."""
    if not type(optimizer).__module__.startswith("keras.src.optimizers."):
        return False
    name = type(optimizer).__name__
    return name != "LossScaleOptimizer" and (name != "SGD" or bool(getattr(optimizer, "momentum", 0)))

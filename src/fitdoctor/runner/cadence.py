"""Decides which calls of `fit` to check: the first ones always, later ones only if they are new or cheap to check."""

from __future__ import annotations

import threading
import weakref
from typing import Any

from fitdoctor.records import dataclass, field

FIRST_CALLS = 3
"""How often a line that calls `fit` is checked before the cost counts."""
MOST_SPECS = 20
"""How many other models, and changes of shape or dtype, are followed per line."""
SHARE = 0.01
"""The share of the time a line spends in Keras that may be spent on checking it."""


@dataclass
class _Site:
    looks: int = 0
    fresh: int = 0
    specs: set[Any] = field(default_factory=set)
    models: weakref.WeakSet[Any] = field(default_factory=weakref.WeakSet)
    """One line, in a helper that trains, may be called with every model of a program."""
    spent_looking: float = 0.0
    spent_inside: float = 0.0


class Cadence:
    """Remembers, for each line that calls Keras, how often it was checked and what that cost."""

    def __init__(self) -> None:
        self._sites: dict[tuple[str, int, str], _Site] = {}
        self._lock = threading.Lock()

    def due(self, place: tuple[str, int, str], model: Any, spec: Any) -> bool:
        """Whether this call should be checked."""
        with self._lock:
            site = self._sites.setdefault(place, _Site())
            another = _hashable(model) and model not in site.models
            fresh = (another or spec not in site.specs) and site.fresh < MOST_SPECS
            cheap = site.spent_looking < SHARE * site.spent_inside
            if not (fresh or cheap or site.looks < FIRST_CALLS):
                return False
            if another:
                site.models.add(model)
            site.specs.add(spec)
            site.fresh += fresh
            site.looks += 1
            return True

    def looked(self, place: tuple[str, int, str], seconds: float) -> None:
        """Record what a check cost."""
        with self._lock:
            self._sites[place].spent_looking += seconds

    def ran(self, place: tuple[str, int, str], seconds: float) -> None:
        """Record how long the call itself took."""
        with self._lock:
            self._sites[place].spent_inside += seconds


def _hashable(value: Any) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True


def spec_of(value: Any, depth: int = 0) -> Any:
    """Return shape and dtype of the arguments of `fit`, in microseconds and without reading the data."""
    shape = getattr(value, "shape", None)
    if shape is not None:
        # Types of NumPy, pandas and TensorFlow can all be compared as they are; making text of them takes longer.
        dtype = getattr(value, "dtype", None)
        return (
            type(value),
            shape if type(shape) is tuple else str(shape),
            dtype if _hashable(dtype) else str(dtype),
        )
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, (list, tuple)):
        if depth > 2 or len(value) > 8:
            return type(value).__name__, len(value)
        return type(value).__name__, *(spec_of(item, depth + 1) for item in value)
    if isinstance(value, dict):
        if depth > 2 or len(value) > 32:
            return "dict", len(value)
        return "dict", *((str(key), spec_of(item, depth + 1)) for key, item in value.items())
    element = getattr(value, "element_spec", None)
    return type(value).__name__, "" if element is None else str(element)

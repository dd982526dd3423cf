"""How long a learning-rate schedule of Keras lasts, from its settings."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from fitdoctor.facts import Code, ScheduleFacts, Unknown

POSITIONAL = {
    "CosineDecay": ("initial_learning_rate", "decay_steps", "alpha", "name", "warmup_target", "warmup_steps"),
    "PolynomialDecay": ("initial_learning_rate", "decay_steps", "end_learning_rate", "power", "cycle"),
    "ExponentialDecay": ("initial_learning_rate", "decay_steps", "decay_rate", "staircase"),
    "PiecewiseConstantDecay": ("boundaries", "values"),
}
"""The arguments of the schedules that come to an end, in order."""
_DEFAULTS: dict[str, Any] = {
    "alpha": 0.0,
    "warmup_target": None,
    "warmup_steps": 0,
    "end_learning_rate": 0.0001,
    "cycle": False,
}
_VANISHED = 1e-4
"""The part of its first value below which a rate no longer trains anything."""


def schedule_facts(name: str, settings: Mapping[str, Any], code: Code | Unknown) -> ScheduleFacts | None:
    """Return when a schedule comes to its end; None if it has none, or its settings are not plain numbers."""
    given = {**_DEFAULTS, **settings}
    try:
        if name == "PiecewiseConstantDecay":
            values = [float(value) for value in given["values"]]
            return ScheduleFacts(name, max(values), int(given["boundaries"][-1]), values[-1], code)
        first, steps = float(given["initial_learning_rate"]), float(given["decay_steps"])
        if name == "CosineDecay":
            peak = first if given["warmup_target"] is None else float(given["warmup_target"])
            end = int(steps + float(given["warmup_steps"] if given["warmup_target"] is not None else 0))
            return ScheduleFacts(name, peak, end, peak * float(given["alpha"]), code)
        if name == "PolynomialDecay" and given["cycle"] is False:
            return ScheduleFacts(name, first, int(steps), float(given["end_learning_rate"]), code)
        if name == "ExponentialDecay" and 0 < float(given["decay_rate"]) < 1:
            end = int(steps * math.log(_VANISHED) / math.log(float(given["decay_rate"])))
            return ScheduleFacts(name, first, end, first * _VANISHED, code)
    except (KeyError, TypeError, ValueError, IndexError, OverflowError):
        return None
    return None

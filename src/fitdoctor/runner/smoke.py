"""Shortens a call of `fit` to two steps of one epoch, so that a whole program can be tried in seconds."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Callable, Sequence
from typing import Any

from fitdoctor.facts import DataFacts

STEPS = 2


def shortened(
    original: Callable[..., Any],
    model: Any,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    data: Sequence[DataFacts] = (),
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return the arguments for two training and two validation steps; callbacks and everything else stay."""
    try:
        bound = inspect.signature(original).bind(model, *args, **kwargs)
    except TypeError:
        return args, kwargs  # Keras will say what is wrong with them
    given = bound.arguments
    first = given.get("initial_epoch") or 0
    if given.get("epochs", 1) <= first:
        return args, kwargs
    given["epochs"] = first + 1
    # A filter that is there already is not added again.
    logging.getLogger("tensorflow").addFilter(_is_not_about_retracing)
    given["steps_per_epoch"] = _steps(given.get("steps_per_epoch"), "training", data)
    if given.get("validation_data") is not None or given.get("validation_split"):
        given["validation_steps"] = _steps(given.get("validation_steps"), "validation", data)
        # Validation every fifth epoch would be no validation at all.
        given["validation_freq"] = 1
    return bound.args[1:], bound.kwargs


def _is_not_about_retracing(record: logging.LogRecord) -> bool:
    """Whether a warning of TensorFlow is not the one about frequent tracing: in two steps, every call seems frequent."""
    return "triggered tf.function retracing" not in str(record.msg)


def _steps(asked: Any, role: str, data: Sequence[DataFacts]) -> int:
    limits = [STEPS]
    if isinstance(asked, int) and asked > 0:
        limits.append(asked)
    limits += [
        facts.batches
        for facts in data
        if facts.role == role and isinstance(facts.batches, int) and facts.batches > 0
    ]
    return min(limits)

"""Shortens `fit` to two steps of one epoch, and `evaluate` to two steps, so that a whole program is tried in seconds."""

from __future__ import annotations

import inspect
import logging
import math
from collections.abc import Callable, Sequence
from typing import Any

from fitdoctor.facts import DataFacts
from fitdoctor.records import replace

STEPS = 2


def shortened(
    original: Callable[..., Any],
    model: Any,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    data: Sequence[DataFacts] = (),
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return the arguments for two steps, of validation as well; callbacks and everything else stay."""
    try:
        bound = inspect.signature(original).bind(model, *args, **kwargs)
    except TypeError:
        return args, kwargs  # Keras will say what is wrong with them
    given = bound.arguments
    if "steps" in bound.signature.parameters and "epochs" not in bound.signature.parameters:
        _cut(given, "steps", "batch_size", given.get("x"), data[:1])
        return bound.args[1:], bound.kwargs
    first = given.get("initial_epoch") or 0
    if given.get("epochs", 1) <= first:
        return args, kwargs
    given["epochs"] = first + 1
    # A filter that is there already is not added again.
    logging.getLogger("tensorflow").addFilter(_is_not_about_retracing)
    _cut(given, "steps_per_epoch", "batch_size", given.get("x"), _of("training", data))
    validation = given.get("validation_data")
    if validation is not None or given.get("validation_split"):
        x = validation[0] if isinstance(validation, (tuple, list)) and validation else validation
        size = "validation_batch_size" if given.get("batch_size") is None else "batch_size"
        _cut(given, "validation_steps", size, x, _of("validation", data) or _split_off(given, data))
        # Validation every fifth epoch would be no validation at all.
        given["validation_freq"] = 1
    return bound.args[1:], bound.kwargs


def lengthened(
    history: Any, original: Callable[..., Any], model: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> None:
    """Repeat the only epoch of a history up to the number of epochs asked for: programs plot and index that many."""
    kept, ran = getattr(history, "history", None), getattr(history, "epoch", None)
    if not isinstance(kept, dict) or not isinstance(ran, list) or len(ran) != 1:
        return
    given = inspect.signature(original).bind(model, *args, **kwargs).arguments
    epochs, every = given.get("epochs", 1), given.get("validation_freq", 1)
    if not isinstance(epochs, int):
        return
    ran.extend(range(ran[0] + 1, epochs))
    validated = [each for each in ran if not isinstance(every, int) or (each + 1) % every == 0]
    for name, values in kept.items():
        if isinstance(values, list) and len(values) == 1:
            values *= max(len(validated if name.startswith("val_") else ran), 1)


def _of(role: str, data: Sequence[DataFacts]) -> list[DataFacts]:
    return [facts for facts in data if facts.role == role]


def _split_off(given: dict[str, Any], data: Sequence[DataFacts]) -> list[DataFacts]:
    """Return how many batches `validation_split` takes from the training data."""
    size, split = given.get("batch_size"), given.get("validation_split")
    return [
        replace(facts, batches=math.ceil((facts.samples - math.floor(facts.samples * (1.0 - split))) / size))
        for facts in _of("training", data)
        if isinstance(facts.samples, int) and isinstance(size, int) and isinstance(split, float) and size > 0
    ]


def _cut(given: dict[str, Any], steps: str, batch_size: str, x: Any, data: Sequence[DataFacts]) -> None:
    """Set the number of steps, and the batch size as it is without them: Keras would divide arrays into two batches."""
    size = data[0].batch_size if data else None if given.get(steps) else 32
    arrays = (data[0].form if data else _form_of(x)) == "arrays"
    if given.get(batch_size) is None and isinstance(size, int) and arrays:
        given[batch_size] = size
    given[steps] = _steps(given.get(steps), data)
    if arrays and not data:  # a call that is not checked again
        given[steps] = min(given[steps], _batches(x, given.get(batch_size)))


def _batches(x: Any, size: Any) -> int:
    """Return how many batches arrays give, at least 1."""
    first = next(iter(x.values()), ()) if isinstance(x, dict) else x[0] if isinstance(x, (list, tuple)) else x
    count = len(first) if hasattr(first, "__len__") else 0
    return max(1, math.ceil(count / size)) if isinstance(size, int) and size > 0 and count else STEPS


def _form_of(x: Any) -> str:
    from fitdoctor.collect.data import form_of

    return form_of(x)


def _is_not_about_retracing(record: logging.LogRecord) -> bool:
    """Whether a warning of TensorFlow is not the one about frequent tracing: in two steps, every call seems frequent."""
    return "triggered tf.function retracing" not in str(record.msg)


def _steps(asked: Any, data: Sequence[DataFacts]) -> int:
    limits = [STEPS]
    if isinstance(asked, int) and asked > 0:
        limits.append(asked)
    limits += [facts.batches for facts in data if isinstance(facts.batches, int) and facts.batches > 0]
    return min(limits)

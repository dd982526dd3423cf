"""Decide whether a model may depend on the batch size: only then is a second trial worth its time."""

from __future__ import annotations

import inspect
import re
from typing import Any

from fitdoctor.collect.layers import every_layer, user_classes

_WORDS = re.compile(r"reshape|batch|broadcast_to|tile")


def minds_batch_size(model: Any, rows: int, step: str = "") -> bool:
    """Whether a layer is stateful, or the user's code reshapes or mentions the batch or its size.

    Args:
        model: the live model.
        rows: the rows of the first batch.
        step: the name of the model's custom step; "" for none.
    """
    if step and any(_mentions(vars(kind).get(step), rows) for kind in user_classes(type(model))):
        return True
    return any(_minds(layer, rows) for layer in every_layer(model))


def last_rows(samples: Any, batch_size: Any, split: float) -> int:
    """Return the rows of a shorter last batch, 0 if there is none or it is unknown."""
    if not isinstance(samples, int) or not isinstance(batch_size, int) or batch_size <= 0:
        return 0
    rows = int(samples * (1.0 - split)) if 0 < split < 1 else samples
    return rows % batch_size if rows > batch_size else 0


def _minds(layer: Any, rows: int) -> bool:
    if getattr(layer, "stateful", False) is True:
        return True
    return any(_mentions(vars(kind).get("call"), rows) for kind in user_classes(type(layer)))


def _mentions(function: Any, rows: int) -> bool:
    if rows > 1 and rows in _numbers(function):
        return True
    try:
        return function is not None and _WORDS.search(inspect.getsource(function)) is not None
    except (OSError, TypeError):
        return False


def _numbers(function: Any) -> list[int]:
    """Yield the integers in a function: literals, in tuples, or module constants."""
    code = getattr(function, "__code__", None)
    if code is None:
        return []
    written = [item for const in code.co_consts for item in (const if isinstance(const, tuple) else (const,))]
    names = getattr(function, "__globals__", {})
    written += [names.get(name) for name in code.co_names]
    return [item for item in written if type(item) is int]

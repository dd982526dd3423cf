"""Whether a model may depend on the number of rows in a batch: a second trial is worth its time only then."""

from __future__ import annotations

import inspect
from typing import Any

from fitdoctor.collect.layers import every_layer, user_classes
from fitdoctor.patterns import pattern

_WORDS = pattern(r"reshape|batch|broadcast_to|tile")


def minds_batch_size(model: Any) -> bool:
    """Whether a layer keeps state for each row, or code of the user's reshapes or speaks of the batch."""
    return any(_minds(layer) for layer in every_layer(model))


def last_rows(samples: Any, batch_size: Any, split: float) -> int:
    """The rows of the last batch where it is shorter than the others; 0 where it is not, or not known."""
    if not isinstance(samples, int) or not isinstance(batch_size, int) or batch_size <= 0:
        return 0
    rows = int(samples * (1.0 - split)) if 0 < split < 1 else samples
    return rows % batch_size if rows > batch_size else 0


def _minds(layer: Any) -> bool:
    if getattr(layer, "stateful", False) is True:
        return True
    for kind in user_classes(type(layer)):
        call = vars(kind).get("call")
        try:
            if call is not None and _WORDS.search(inspect.getsource(call)):
                return True
        except (OSError, TypeError):
            continue
    return False

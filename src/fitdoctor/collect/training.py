"""From the history that fit returns, and the weights that it leaves, to facts."""

from __future__ import annotations

import time
from typing import Any

from fitdoctor.facts import TrainingFacts

SECONDS = 0.5
"""How long the weights are looked through at most."""


def training_facts(model: Any, history: Any) -> TrainingFacts:
    """What is known when fit has returned; nothing is changed."""
    kept = getattr(history, "history", None)
    losses = kept.get("loss", ()) if isinstance(kept, dict) else ()
    return TrainingFacts(
        losses=tuple(float(loss) for loss in losses[:1000] if isinstance(loss, (int, float))),
        nonfinite_weights=_nonfinite(model),
    )


def _nonfinite(model: Any) -> tuple[str, ...]:
    import numpy as np

    began = time.perf_counter()
    found = []
    for weight in getattr(model, "trainable_variables", ()):
        if time.perf_counter() - began > SECONDS:
            break
        values = np.asarray(weight)
        # A sum is finite only when every value is, unless it overflows: then look closer.
        if values.dtype.kind == "f" and not np.isfinite(values.sum()) and not np.isfinite(values).all():
            found.append(str(getattr(weight, "path", getattr(weight, "name", "a weight"))))
    return tuple(found[:20])

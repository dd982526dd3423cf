"""From the history that fit returns, and the weights that it leaves, to facts."""

from __future__ import annotations

import time
from collections.abc import Iterable
from types import FrameType
from typing import Any

from fitdoctor.facts import HeldTensor, TrainingFacts

SECONDS = 0.5
"""How long the weights are looked through at most."""
LEAK_SECONDS = 0.3
"""How long is looked for tensors that outlive their trace."""


def training_facts(model: Any, history: Any, held: tuple[HeldTensor, ...] = ()) -> TrainingFacts:
    """What is known when fit has returned; nothing is changed."""
    kept = getattr(history, "history", None)
    losses = kept.get("loss", ()) if isinstance(kept, dict) else ()
    return TrainingFacts(
        losses=tuple(float(loss) for loss in losses[:1000] if isinstance(loss, (int, float))),
        nonfinite_weights=_nonfinite(model),
        held=held,
    )


def held_after_trace(
    model: Any = None, callbacks: Iterable[Any] = (), frame: FrameType | None = None
) -> tuple[HeldTensor, ...]:
    """The symbolic tensors that model, callbacks, functions under way and the user's modules still hold."""
    from fitdoctor.failure.leaks import held_tensors, user_roots, with_user_lines

    roots = user_roots(model=model, callbacks=callbacks, frame=frame)
    return with_user_lines(held_tensors(roots, seconds=LEAK_SECONDS))


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

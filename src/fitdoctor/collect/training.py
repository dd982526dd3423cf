"""From the history that fit returns, and the weights that it leaves, to facts."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable
from types import FrameType
from typing import Any

from fitdoctor.facts import TrainingFacts
from fitdoctor.records import replace

SECONDS = 0.5
"""How long the weights are looked through at most."""
LEAK_SECONDS = 0.3
"""How long is looked for tensors that outlive their trace."""


def training_facts(model: Any, history: Any, left: TrainingFacts | None = None) -> TrainingFacts:
    """What is known when fit has returned; nothing is changed.

    Args:
        model: the model.
        history: what fit returned.
        left: what the training has left behind, where that was looked for.
    """
    kept = getattr(history, "history", None)
    losses = kept.get("loss", ()) if isinstance(kept, dict) else ()
    return replace(
        left or TrainingFacts(),
        losses=tuple(float(loss) for loss in losses[:1000] if isinstance(loss, (int, float))),
        first=_were_first(model, history, len(losses)),
        nonfinite_weights=_nonfinite(model),
        ran_out=_ran_out(),
    )


def _were_first(model: Any, history: Any, epochs: int) -> bool:
    """Whether the optimizer has made no steps but those of these epochs."""
    steps = (getattr(history, "params", None) or {}).get("steps")
    made = getattr(getattr(model, "optimizer", None), "iterations", None)
    try:
        return isinstance(steps, int) and int(made.numpy()) <= steps * epochs  # type: ignore[union-attr]
    except (
        AttributeError,
        TypeError,
        ValueError,
        RuntimeError,
    ):  # of another kind: a strategy has one a replica
        return False


_warned: set[object] = set()


def _ran_out() -> bool:
    """Whether Keras has warned since the last call; Python keeps what was warned of in the module that warned."""
    module = sys.modules.get("keras.src.trainers.epoch_iterator")
    kept = getattr(module, "__warningregistry__", None) or {}
    said = {key for key in kept if isinstance(key, tuple) and "ran out of data" in str(key[0])}
    new = not said <= _warned
    _warned.update(said)
    return new


def left_behind(
    model: Any = None, callbacks: Iterable[Any] = (), frame: FrameType | None = None
) -> TrainingFacts:
    """What model, callbacks, functions under way and the user's modules still hold, and what is traced too often."""
    from fitdoctor.collect.growth import kept_tensors, retraced_functions
    from fitdoctor.failure.leaks import held_tensors, user_roots, with_user_lines

    roots = user_roots(model=model, callbacks=callbacks, frame=frame)
    held = with_user_lines(held_tensors(roots, seconds=LEAK_SECONDS))
    return TrainingFacts(held=held, kept=kept_tensors(roots), retraced=retraced_functions())


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

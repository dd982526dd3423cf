"""Collect facts from the history that fit returns and the trained weights."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Iterable
from types import FrameType
from typing import Any

from fitdoctor.collect.generators import batches_drawn
from fitdoctor.collect.gradient_cuts import gradient_cuts
from fitdoctor.collect.layers import sublayers
from fitdoctor.facts import TrainingFacts
from fitdoctor.records import replace

SECONDS = 0.5
"""The maximum time for checking the weights."""
LEAK_SECONDS = 0.3
"""The maximum time for finding tensors that outlive their trace."""


def training_facts(
    model: Any, history: Any, left: TrainingFacts | None = None, x: Any = None
) -> TrainingFacts:
    """Return what is known after fit has returned, without changing anything.

    Args:
        model: the model.
        history: the return value of fit.
        left: what the training left behind, if it was collected.
        x: the data that fit was given.
    """
    kept = getattr(history, "history", None)
    losses = kept.get("loss", ()) if isinstance(kept, dict) else ()
    cut_off = _without_gradient(model)
    return replace(
        left or TrainingFacts(),
        losses=_numbers(losses),
        history=_history(kept),
        first=_were_first(model, history, len(losses)),
        nonfinite_weights=_nonfinite(model),
        ran_out=bool(_new_warnings("keras.src.trainers.epoch_iterator", "ran out of data")),
        batches=batches_drawn(x),
        without_gradient=tuple(str(layer.name) for layer in cut_off),
        masks_lost=_masks_lost(),
        gradient_cuts=gradient_cuts(model, cut_off) if cut_off else (),
    )


_MOST_EPOCHS = 1000
_MOST_METRICS = 40


def _numbers(values: Any) -> tuple[float, ...]:
    return tuple(float(value) for value in values[:_MOST_EPOCHS] if isinstance(value, (int, float)))


def _history(kept: Any) -> tuple[tuple[str, tuple[float, ...]], ...]:
    """Return the curves of the first metrics, without those that are not one number per epoch."""
    if not isinstance(kept, dict):
        return ()
    listed = [(name, values) for name, values in kept.items() if isinstance(values, list)][:_MOST_METRICS]
    curves = [(str(name), _numbers(values)) for name, values in listed]
    return tuple((name, values) for name, values in curves if values)


def _were_first(model: Any, history: Any, epochs: int) -> bool:
    """Whether the optimizer has made no steps before these epochs."""
    steps = (getattr(history, "params", None) or {}).get("steps")
    made = getattr(getattr(model, "optimizer", None), "iterations", None)
    try:
        return isinstance(steps, int) and int(made.numpy()) <= steps * epochs  # type: ignore[union-attr]
    except (AttributeError, TypeError, ValueError, RuntimeError):  # under a strategy: one counter per replica
        return False


_warned: set[object] = set()


def _new_warnings(module: str, words: str) -> list[str]:
    """Return the warnings of a module of Keras since the last call, from Python's registry of shown warnings."""
    kept = getattr(sys.modules.get(module), "__warningregistry__", None) or {}
    said = {key for key in kept if isinstance(key, tuple) and words in str(key[0])}
    new = said - _warned
    _warned.update(said)
    return sorted(str(key[0]) for key in new)


def _masks_lost() -> tuple[str, ...]:
    """Return the names of layers that Keras warned of since the last call: they destroy masks."""
    said = _new_warnings("keras.src.layers.layer", "destroy the mask information")
    return tuple(name[1] for text in said if (name := re.match(r"Layer '([^']+)'", text)) is not None)


_PATH = re.compile(r"'([^']+)'")
_MOST_PARTS = 20


def _without_gradient(model: Any) -> list[Any]:
    """Return the outermost layers for none of whose variables Keras found a gradient."""
    said = _new_warnings("keras.src.optimizers.base_optimizer", "Gradients do not exist for variables")
    paths = {path for message in said for path in _PATH.findall(message.partition("]")[0])}
    found: list[Any] = []
    pending = list(sublayers(model)) if paths else []
    while pending:
        layer = pending.pop(0)
        weights = [str(getattr(one, "path", "")) for one in getattr(layer, "trainable_variables", ())]
        if weights and paths.issuperset(weights):
            found.append(layer)
        elif not paths.isdisjoint(weights):
            pending.extend(sublayers(layer))
    return found[:_MOST_PARTS]


def left_behind(
    model: Any = None, callbacks: Iterable[Any] = (), frame: FrameType | None = None
) -> TrainingFacts:
    """Return tensors still referenced by model, callbacks, frames and modules, and functions traced too often."""
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
        # A finite sum means finite values; check each value only if the sum is not, as it may overflow.
        if values.dtype.kind == "f" and not np.isfinite(values.sum()) and not np.isfinite(values).all():
            found.append(str(getattr(weight, "path", getattr(weight, "name", "a weight"))))
    return tuple(found[:20])

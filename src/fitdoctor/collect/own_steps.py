"""Run a custom `train_step`, `test_step` or `predict_step` as fit does, up to the first gradient.

Tracing the backward pass costs as much as starting to train, so the step ends where it computes a gradient. What comes
before (unpacking, forward pass, loss) can be proven.
"""

from __future__ import annotations

import contextlib
import threading
import types
from collections.abc import Iterator
from typing import Any

from fitdoctor.collect.arrays import Batch

STEPS = {
    "fit": "train_step",
    "train_on_batch": "train_step",
    "evaluate": "test_step",
    "test_on_batch": "test_step",
    "predict": "predict_step",
    "predict_on_batch": "predict_step",
}
"""The step method of each call."""


class Stopped(BaseException):
    """The step reached a gradient; not an `Exception`, so that user handlers do not catch it."""


@contextlib.contextmanager
def stopped_at_gradient() -> Iterator[None]:
    """Raise `Stopped` when a tape computes a gradient in this thread."""
    import tensorflow as tf

    ours = threading.get_ident()
    originals = {name: vars(tf.GradientTape)[name] for name in ("gradient", "jacobian", "batch_jacobian")}

    def stopping(original: Any) -> Any:
        def asked(*args: Any, **kwargs: Any) -> Any:
            if threading.get_ident() == ours:
                raise Stopped
            return original(*args, **kwargs)

        return asked

    for name, original in originals.items():
        setattr(tf.GradientTape, name, stopping(original))
    try:
        yield
    finally:
        for name, original in originals.items():
            setattr(tf.GradientTape, name, original)


def packed(batch: Batch, method: str, element: str) -> Any:
    """Return the argument of the step: x alone, or a tuple.

    Args:
        batch: its parts.
        method: the method being called.
        element: an element of the dataset or generator in words; "" for arrays.
    """
    if method.endswith("_on_batch"):
        return (batch.x, batch.y, batch.sample_weight)
    if batch.sample_weight is not None:
        return (batch.x, batch.y, batch.sample_weight)
    if batch.y is not None:
        return (batch.x, batch.y)
    alone = not isinstance(batch.x, (list, tuple)) and element != "tuple of 1"
    return batch.x if alone else (batch.x,)


def placed(frames: list[tuple[types.FrameType, int]], model: Any, batch: Batch) -> str:
    """Return where a step raised: `forward` or `loss` if they received the data itself, else `step`.

    Args:
        frames: the frames of the traceback, outermost first.
        model: the model.
        batch: the tensors passed to the step.
    """
    called = [frame for frame, _line in frames if _is_layer_call(frame)]
    if called:
        names = called[0].f_locals
        # Keras 2 separates the first argument from the others.
        given = (names["inputs"],) if "inputs" in names else names.get("original_args", names.get("args", ()))
        itself = names.get("self") is model and bool(given)
        return "forward" if itself and _same(given[0], batch.x) else "step"
    for frame, _line in frames:
        labels = frame.f_locals.get("y", frame.f_locals.get("y_true"))
        if _is_loss(frame) and labels is not None and _same(labels, batch.y):
            return "loss"
    return "step"


def _is_layer_call(frame: types.FrameType) -> bool:
    path = frame.f_code.co_filename.replace("\\", "/")
    return frame.f_code.co_name == "__call__" and path.endswith(("layers/layer.py", "engine/base_layer.py"))


def _is_loss(frame: types.FrameType) -> bool:
    path = frame.f_code.co_filename.replace("\\", "/")
    return "keras/src/losses" in path or path.endswith("/compile_utils.py") and "keras/src/" in path


def _same(given: Any, ours: Any) -> bool:
    import tensorflow as tf

    first, second = tf.nest.flatten(given), tf.nest.flatten(ours)
    return len(first) == len(second) and all(a is b for a, b in zip(first, second, strict=True))

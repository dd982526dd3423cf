"""Ask a custom loss whether it prefers right predictions to wrong ones."""

from __future__ import annotations

import math
from typing import Any

from fitdoctor.collect.data import form_of
from fitdoctor.collect.effects import effects_of
from fitdoctor.collect.elements import first_samples
from fitdoctor.collect.losses import given_loss
from fitdoctor.collect.model import keras_version
from fitdoctor.collect.scratch import silence
from fitdoctor.collect.snapshot import Snapshot
from fitdoctor.collect.trial import runs_on_eager_tensorflow
from fitdoctor.facts import LossOrder

ROWS = 64
_LEAST_ROWS = 4
_MOST_VALUES = 1_000_000


def loss_order(model: Any, x: Any, y: Any) -> LossOrder | None:
    """Return a custom loss of the labels themselves, and of the labels of other rows, both as predictions.

    Args:
        model: the model, compiled with a loss that the user wrote.
        x: what `fit` gets as x.
        y: and as y.

    Returns:
        None if the loss cannot run aside, or does not compare labels with an output of the same shape.
    """
    loss = given_loss(model)
    if not callable(loss) or keras_version(model) != 3 or not runs_on_eager_tensorflow(model):
        return None
    effects = effects_of(loss)
    if effects.lasting:
        return None
    rows = _label_rows(x, y)
    if rows is None or not _fits(rows, getattr(model, "output_shape", None)):
        return None
    snapshot = Snapshot(loss, *effects.closures, bindings=effects.globals)
    if not snapshot.complete:
        return None
    others = rows[::-1]
    if (rows == others).all(axis=tuple(range(1, rows.ndim))).mean() > 0.5:
        return None  # most rows have the same labels
    try:
        with silence():
            values = _values(loss, [(rows, rows), (rows, others), (rows, 2 * rows)])
    # The user's code may raise anything; `fit` will show it.
    except Exception:
        return None
    finally:
        snapshot.restore()
    return LossOrder(*values) if all(map(math.isfinite, values)) else None


def _label_rows(x: Any, y: Any) -> Any:
    """Return labels of some samples as floats; None if they are not known or one number each."""
    import numpy as np

    if y is None and form_of(x) == "dataset":
        columns = first_samples(x)
        y = columns[1] if columns is not None and len(columns) == 2 else None
    if not isinstance(y, np.ndarray) or y.dtype.kind not in "fiub" or len(y) < _LEAST_ROWS:
        return None
    width = y[0].size
    if y.ndim < 2 or width < 2 or _LEAST_ROWS * width > _MOST_VALUES:
        return None
    return y[: min(ROWS, _MOST_VALUES // width)].astype(np.float32)


def _fits(rows: Any, output: Any) -> bool:
    """Whether the labels have the shape of the model's only output."""
    if not isinstance(output, tuple) or len(output) != rows.ndim:
        return False
    return all(size in (None, own) for size, own in zip(output[1:], rows.shape[1:], strict=True))


def _values(loss: Any, pairs: list[tuple[Any, Any]]) -> list[float]:
    """Return the mean loss of each pair of labels and predictions, computed in a graph of its own.

    There, no random state of the program advances, and code that reads variables raises.
    """
    import tensorflow as tf

    eagerly = tf.config.functions_run_eagerly()
    tf.config.run_functions_eagerly(True)
    try:
        with tf.Graph().as_default() as graph:
            means = [tf.reduce_mean(loss(tf.constant(y), tf.constant(other))) for y, other in pairs]
    finally:
        tf.config.run_functions_eagerly(eagerly)
    names = [mean.name for mean in means]
    with tf.device("CPU:0"):
        run = tf.compat.v1.wrap_function(
            lambda: tf.graph_util.import_graph_def(graph.as_graph_def(), return_elements=names), []
        )
        return [float(value) for value in run()]

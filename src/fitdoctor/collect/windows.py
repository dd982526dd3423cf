"""Compare the windows of a series with their targets, and those of the training data with those of the validation data."""

from __future__ import annotations

from typing import Any

from fitdoctor.collect.shared import MOST_BYTES, row_hashes
from fitdoctor.facts import Unknown

ROWS = 512
"""How many samples are compared with their targets."""
_LEAST_ROWS = 32
_LEAST_VALUES = 10
_MOST_DISTINCT = 0.97
"""Windows that overlap contain the same values several times; random numbers do not."""
_LARGEST_STEP = 16


def target_in_window(x: Any, y: Any) -> tuple[int, ...] | None:
    """Return the index within a window at which every target is found; None if there is none, or x is not windows.

    Args:
        x: samples of shape (steps, features) or (steps,).
        y: one number per sample.
    """
    import numpy as np

    if not (isinstance(x, np.ndarray) and isinstance(y, np.ndarray)) or x.dtype.kind != "f":
        return None
    if len(y) < _LEAST_ROWS:
        return None
    targets = y[:ROWS].reshape(len(y[:ROWS]), -1)
    rows = x[:ROWS]
    if y.dtype.kind != "f" or targets.shape != (len(rows), 1) or x.ndim not in (2, 3):
        return None
    windows: Any = rows.reshape(len(rows), x.shape[1], -1).astype(np.float32)
    wanted: Any = targets[:, :, None].astype(np.float32)
    if windows.shape[1] < 2 or len(np.unique(wanted)) < _LEAST_VALUES:
        return None
    found = np.argwhere((windows == wanted).all(axis=0))
    if not len(found):
        return None
    step, feature = (int(each) for each in found[0])
    values = windows[:, :, feature]
    if len(np.unique(values)) > _MOST_DISTINCT * values.size:
        return None
    return (step, feature) if x.ndim == 3 else (step,)


def shared_windows(training: Any, validation: Any) -> int | Unknown:
    """Return how many windows of `validation` overlap a window of `training` on both sides."""
    import numpy as np

    if not (isinstance(training, np.ndarray) and isinstance(validation, np.ndarray)):
        return Unknown("only NumPy arrays are compared")
    if (
        training.dtype.kind != "f"
        or training.ndim not in (2, 3)
        or training.shape[1:] != validation.shape[1:]
    ):
        return Unknown("the data is not windows of numbers")
    if training.dtype != validation.dtype or training.nbytes + validation.nbytes > MOST_BYTES:
        return Unknown("the arrays are too large, or differ in dtype")
    if min(len(training), len(validation)) < _LEAST_ROWS:
        return Unknown("there are too few windows")
    for step in range(1, min(_LARGEST_STEP, training.shape[1] - 2) + 1):
        heads, tails = row_hashes(training[:, :-step]), row_hashes(training[:, step:])
        if len(np.unique(heads)) < _MOST_DISTINCT * len(heads) or 2 * np.isin(heads, tails).sum() < len(
            heads
        ):
            continue
        before = np.isin(row_hashes(validation[:, :-step]), tails)
        after = np.isin(row_hashes(validation[:, step:]), heads)
        return int((before & after).sum())
    return Unknown("the samples are not windows that overlap")

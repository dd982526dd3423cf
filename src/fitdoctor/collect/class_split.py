"""Compares the labels of the rows that `validation_split` takes with those that are left for training."""

from __future__ import annotations

from typing import Any

from fitdoctor.facts import SplitOff

_MOST_ROWS = 5_000_000
_FEWEST = 20
"""A smaller validation part may have one class by chance."""


def split_off(labels: Any, share: float) -> SplitOff | None:
    """Return the classes that the last rows have to themselves; None if the order of the rows shows no reason.

    Args:
        labels: the labels as `fit` gets them: integers or words, or rows of a one-hot array.
        share: `validation_split`.
    """
    import numpy as np

    if not (hasattr(labels, "__array__") and 0 < share < 1):
        return None
    ids = np.asarray(labels)
    if not 2 * _FEWEST <= len(ids) <= _MOST_ROWS or ids.size > 100 * len(ids):
        return None
    if ids.ndim == 2 and ids.shape[1] > 1:
        if not ((ids == 0) | (ids == 1)).all() or not (ids.sum(axis=1) == 1).all():
            return None
        ids = ids.argmax(axis=1)
    ids = ids.reshape(-1) if ids.ndim <= 2 else ids
    if (
        ids.ndim != 1
        or ids.dtype.kind not in "biufUS"
        or ids.dtype.kind == "f"
        and not (ids == ids.round()).all()
    ):
        return None
    cut = int(len(ids) * (1.0 - share))
    trained, held = ids[:cut], ids[cut:]
    classes, counts = np.unique(held, return_counts=True)
    if len(held) < _FEWEST or not len(trained) or len(np.unique(ids)) * 5 > len(ids):
        return None
    new = ~np.isin(classes, trained)
    if counts[new].sum() * 2 > len(held):
        return SplitOff(len(held), tuple(str(each) for each in classes[new][:10]), are_new=True)
    if len(classes) == 1 and (trained == classes[0]).mean() < 0.75 and len(np.unique(trained)) > 1:
        return SplitOff(len(held), (str(classes[0]),), are_new=False)
    return None

"""How many rows of the validation arrays are in the training arrays too."""

from __future__ import annotations

from typing import Any

from fitdoctor.facts import Unknown

MOST_BYTES = 64 << 20
"""Arrays larger than this are not compared row by row."""


def shared_rows(training: Any, validation: Any) -> int | Unknown:
    """Rows of `validation` that occur in `training`, by their bytes."""
    import numpy as np

    if training is validation and isinstance(training, np.ndarray):
        return len(validation)
    if not (isinstance(training, np.ndarray) and isinstance(validation, np.ndarray)):
        return Unknown("only NumPy arrays are compared")
    if training.dtype != validation.dtype or training.shape[1:] != validation.shape[1:]:
        return Unknown("training and validation differ in shape or type")
    if training.dtype.kind not in "biuf" or training.ndim < 2:
        return Unknown("rows of this type are not compared")
    if training.nbytes + validation.nbytes > MOST_BYTES:
        return Unknown("the arrays are too large to compare every row")
    known = {row.tobytes() for row in training}
    return sum(row.tobytes() in known for row in validation)

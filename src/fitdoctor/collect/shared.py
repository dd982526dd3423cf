"""Count the validation rows that are also in the training data."""

from __future__ import annotations

from typing import Any

from fitdoctor.facts import Unknown

MOST_BYTES = 256 << 20
"""Arrays with a larger total size are not compared."""


def shared_rows(training: Any, validation: Any) -> int | Unknown:
    """Return the number of rows of `validation` in `training`, compared by a 64-bit hash of their bytes."""
    import numpy as np

    if not (isinstance(training, np.ndarray) and isinstance(validation, np.ndarray)):
        return Unknown("only NumPy arrays are compared")
    if training.dtype != validation.dtype or training.shape[1:] != validation.shape[1:]:
        return Unknown("training and validation data differ in shape or dtype")
    if training.dtype.kind not in "biuf" or training.ndim < 2 or not training.size or not validation.size:
        return Unknown("rows of this dtype are not compared")
    if training.nbytes + validation.nbytes > MOST_BYTES:
        return Unknown("the arrays are too large to compare every row")
    if training is validation:
        return len(validation)
    ours, theirs = row_hashes(training), row_hashes(validation)
    shared = int(np.isin(theirs, ours).sum())
    if shared and repeats_by_nature(training, ours):
        return Unknown("rows of this data naturally repeat")
    return shared


def rows_behind(data: Any) -> Any:
    """Return the array to compare; for a tf.data pipeline, the tensor of its first component."""
    import numpy as np

    if isinstance(data, np.ndarray):
        return data
    if hasattr(data, "element_spec"):
        from fitdoctor.collect.elements import source_rows

        return source_rows(data)
    if type(data).__module__.split(".")[0] == "pandas" and hasattr(data, "to_numpy"):
        values = data.to_numpy()
        return values if values.dtype.kind in "biuf" else None
    return None


def repeats_by_nature(rows: Any, hashes: Any) -> bool:
    """Whether equal rows are expected: many rows repeat, and no column is nearly unique.

    Args:
        rows: the rows; None if only their hashes are known, then many repeated rows are enough.
        hashes: their hashes.
    """
    import numpy as np

    distinct = len(np.unique(hashes))
    if distinct >= 0.98 * len(hashes):
        return False
    if rows is None:
        return True
    columns = rows.reshape(len(rows), -1)[:4096, :64]
    # After oversampling more than half of the rows are distinct: the larger class is not copied.
    if distinct < 0.5 * len(hashes) and bool((columns == np.floor(columns)).all()):
        return True
    widest = max(len(np.unique(columns[:, index])) for index in range(columns.shape[1]))
    # A measured column is nearly unique per distinct row; ages, counts and codes are not.
    return columns.shape[1] == 1 or bool(widest < 0.9 * min(distinct, len(columns)))


def row_hashes(array: Any) -> Any:
    """Return a hash per row: its 64-bit words times fixed odd numbers, summed with overflow."""
    import numpy as np

    rows = np.ascontiguousarray(array).reshape(len(array), -1).view(np.uint8)
    missing = -rows.shape[1] % 8
    if missing:
        rows = np.pad(rows, ((0, 0), (0, missing)))
    words = rows.view(np.uint64)
    factors = np.random.default_rng(20).integers(1, 2**63, words.shape[1], dtype=np.uint64) | np.uint64(1)
    total: Any = np.zeros(len(words), np.uint64)
    for start in range(0, words.shape[1], 64):
        part = words[:, start : start + 64] ^ (words[:, start : start + 64] >> np.uint64(29))
        total += (part * factors[start : start + 64]).sum(axis=1, dtype=np.uint64)
    return total

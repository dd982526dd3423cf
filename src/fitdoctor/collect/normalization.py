"""Compare the features of a call with what the first `Normalization` layer of the model was adapted to."""

from __future__ import annotations

from typing import Any

from fitdoctor.collect.model import top_layers
from fitdoctor.facts import OffScale

_ROWS = 4096
_LEAST_ROWS = 20
_FAR = 5.0
"""How many deviations from 0 a mean is after a layer that was adapted to other data."""
_SPREAD = 20.0
"""How many times wider or narrower than 1 a feature is."""


def off_scale(model: Any, x: Any) -> OffScale | None:
    """Return a feature that the model's first layer normalizes to another scale; None if there is none."""
    import numpy as np

    layers = [layer for layer in top_layers(model) if type(layer).__name__ != "InputLayer"][:1]
    layer = next((each for each in layers if type(each).__name__ == "Normalization"), None)
    if layer is None or not _is_adapted(layer) or not isinstance(x, np.ndarray) or x.dtype.kind not in "fiu":
        return None
    mean, variance = (np.asarray(each).reshape(-1).astype("float64") for each in (layer.mean, layer.variance))
    some = x[:: max(len(x) // _ROWS, 1)]  # rows from everywhere: they may be sorted
    rows = some.reshape(-1, x.shape[-1]) if x.ndim > 1 else some.reshape(-1, 1)
    if (
        len(rows) < _LEAST_ROWS
        or mean.shape not in ((1,), (rows.shape[1],))
        or getattr(layer, "invert", False)
    ):
        return None
    known = variance > 0
    deviation = np.sqrt(np.where(known, variance, 1.0))
    with np.errstate(all="ignore"):
        centers = np.where(known, np.abs(rows.mean(axis=0) - mean) / deviation, 0.0)
        spreads = np.where(known, rows.std(axis=0) / deviation, 1.0)
    if not np.isfinite(centers).all() or not np.isfinite(spreads).all():
        return None
    narrow = known & (spreads > 0) & (spreads < 1 / _SPREAD)
    off = np.flatnonzero((centers > _FAR) | (spreads > _SPREAD) | narrow)
    if not len(off):
        return None
    column = int(off[0])
    signed = (rows.mean(axis=0) - mean) / deviation
    return OffScale(layer.name, column, float(signed[column]), float(spreads[column]))


def _is_adapted(layer: Any) -> bool:
    """Whether it learned its statistics from data, rather than getting them as arguments."""
    return layer.built and getattr(layer, "input_mean", 0) is None and hasattr(layer, "mean")

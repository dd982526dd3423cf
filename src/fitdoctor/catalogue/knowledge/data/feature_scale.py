"""Whether features are so large that the usual initial weights do not suit them."""

from __future__ import annotations

from collections.abc import Iterator

from fitdoctor.facts import ArrayFacts, DataFacts, LayerFacts, ModelFacts, Statistics, Unknown

LARGE = 1000.0
"""From here on a feature is so large that the usual initial weights do not suit it."""
_LEARNS = (
    "Dense",
    "Conv1D",
    "Conv2D",
    "Conv3D",
    "LSTM",
    "GRU",
    "SimpleRNN",
    "Bidirectional",
    "SeparableConv2D",
)
_PASSES_ON = frozenset({"InputLayer", "Reshape", "Flatten", "Dropout", "ZeroPadding2D", "Permute"})


def unscaled(model: ModelFacts, data: DataFacts) -> Iterator[ArrayFacts]:
    """The features that reach the first weights with values of a thousand and more."""
    for array in data.x if meets_weights(model) else ():
        if _extent(array) >= LARGE:
            yield array


def data_is_finite(data: DataFacts) -> bool:
    """Whether no NaN or infinite value was found in the data."""
    return not any(
        isinstance(array.statistics, Statistics) and array.statistics.nan + array.statistics.inf > 0
        for array in (*data.x, *data.y, *data.sample_weight)
    )


def meets_weights(model: ModelFacts) -> bool:
    """Whether the features reach the first weights without being scaled."""
    if model.kind == "subclassed" or "train_step" in model.overrides:
        return False
    every = model.every_layer()
    if any("Normalization" in layer.class_name or layer.class_name == "Rescaling" for layer in every):
        return False
    if not all(layer.builtin and layer.class_name != "Lambda" for layer in every):
        return False
    first = next((layer for layer in model.layers if layer.class_name not in _PASSES_ON), None)
    inputs = 1 if isinstance(model.inputs, Unknown) else len(model.inputs)
    return first is not None and first.class_name in _LEARNS and inputs == 1


def rescaling_of_scaled(model: ModelFacts, array: ArrayFacts) -> LayerFacts | None:
    """The `Rescaling` for bytes that features between -1 and 1 go through first, unless something scales them up again."""
    statistics = array.statistics
    inputs = 1 if isinstance(model.inputs, Unknown) else len(model.inputs)
    if not isinstance(statistics, Statistics) or statistics.integral or inputs > 1:
        return None
    first = next((layer for layer in model.layers if layer.class_name not in _PASSES_ON), None)
    if first is None or first.class_name != "Rescaling" or not 0 < _extent(array) <= 1.0:
        return None
    normalized = any("Normalization" in layer.class_name for layer in model.every_layer())
    try:
        scale = float(first.setting("scale") or 1)
    except ValueError:  # a list, one per channel
        return None
    return first if 0 < scale < 0.01 and not normalized else None


def is_large(array: ArrayFacts) -> bool:
    """Whether features are of a thousand and more, or are the bytes of pictures."""
    statistics = array.statistics
    if not isinstance(statistics, Statistics) or statistics.maximum is None or statistics.minimum is None:
        return False
    if _extent(array) >= LARGE:
        return True
    pictures = isinstance(array.shape, tuple) and len(array.shape) >= 3
    return pictures and statistics.minimum >= 0 and 200 < statistics.maximum <= 255 and statistics.integral


def _extent(array: ArrayFacts) -> float:
    statistics = array.statistics
    if not isinstance(statistics, Statistics) or statistics.maximum is None or statistics.minimum is None:
        return 0.0
    return max(statistics.maximum, -statistics.minimum)

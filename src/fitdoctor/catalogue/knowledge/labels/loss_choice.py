"""Choose the loss that matches the labels and the output of a model."""

from __future__ import annotations

from fitdoctor.catalogue.knowledge.labels.targets import (
    BINARY,
    CATEGORICAL,
    SPARSE,
    activation_of,
    is_class_numbers,
    is_one_hot,
    output_specs,
)
from fitdoctor.facts import DataFacts, ModelFacts, Statistics, Unknown


def suggested_loss(model: ModelFacts, data: DataFacts) -> str | None:
    """Return the loss that matches these labels and this output, None if unknown."""
    outputs = output_specs(model, data)
    if len(outputs) != 1 or len(data.y) != 1 or isinstance(outputs[0].shape, Unknown):
        return None
    labels = data.y[0]
    last = activation_of(model)
    activation = last.name if last is not None else None
    statistics = labels.statistics if isinstance(labels.statistics, Statistics) else None
    if is_one_hot(labels) and activation == "softmax":
        return CATEGORICAL
    if activation == "softmax" and is_class_numbers(labels):
        return SPARSE
    if activation == "sigmoid" and statistics is not None and statistics.integral:
        return BINARY if (statistics.minimum, statistics.maximum) in ((0, 1), (0, 0), (1, 1)) else None
    if statistics is not None and not statistics.integral and activation not in ("softmax", None):
        return "mse"
    return None

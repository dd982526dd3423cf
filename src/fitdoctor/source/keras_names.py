"""Names of losses, metrics and optimizers as Keras spells them."""

from __future__ import annotations

import re

INPUTS = ("keras.Input", "keras.layers.InputLayer", "tf_keras.Input", "tf_keras.layers.InputLayer")
"""Functions that create a model input."""

_LOSS_ALIASES = {
    "mse": "mean_squared_error",
    "mae": "mean_absolute_error",
    "mape": "mean_absolute_percentage_error",
    "msle": "mean_squared_logarithmic_error",
    "kld": "kl_divergence",
    "bce": "binary_crossentropy",
    "logcosh": "log_cosh",
    "huber_loss": "huber",
    "cosine_proximity": "cosine_similarity",
    "kullback_leibler_divergence": "kl_divergence",
}

METRIC_CLASSES = {
    "acc": "accuracy",
    "accuracy": "accuracy",
    "mse": "MeanSquaredError",
    "mean_squared_error": "MeanSquaredError",
    "mae": "MeanAbsoluteError",
    "mean_absolute_error": "MeanAbsoluteError",
    "mape": "MeanAbsolutePercentageError",
    "mean_absolute_percentage_error": "MeanAbsolutePercentageError",
    "msle": "MeanSquaredLogarithmicError",
    "mean_squared_logarithmic_error": "MeanSquaredLogarithmicError",
    "root_mean_squared_error": "RootMeanSquaredError",
    "rmse": "RootMeanSquaredError",
    "binary_accuracy": "BinaryAccuracy",
    "categorical_accuracy": "CategoricalAccuracy",
    "sparse_categorical_accuracy": "SparseCategoricalAccuracy",
    "top_k_categorical_accuracy": "TopKCategoricalAccuracy",
    "sparse_top_k_categorical_accuracy": "SparseTopKCategoricalAccuracy",
    "auc": "AUC",
    "precision": "Precision",
    "recall": "Recall",
    "binary_crossentropy": "BinaryCrossentropy",
    "categorical_crossentropy": "CategoricalCrossentropy",
    "sparse_categorical_crossentropy": "SparseCategoricalCrossentropy",
    "cosine_similarity": "CosineSimilarity",
    "kl_divergence": "KLDivergence",
    "kullback_leibler_divergence": "KLDivergence",
    "binary_io_u": "BinaryIoU",
    "mean_io_u": "MeanIoU",
    "r2_score": "R2Score",
    "f1_score": "F1Score",
}
"""The class behind the text of a metric."""

OPTIMIZERS = {
    "adadelta": "Adadelta",
    "adafactor": "Adafactor",
    "adagrad": "Adagrad",
    "adam": "Adam",
    "adamax": "Adamax",
    "adamw": "AdamW",
    "ftrl": "Ftrl",
    "lion": "Lion",
    "nadam": "Nadam",
    "rmsprop": "RMSprop",
    "sgd": "SGD",
}


_NO_LETTER = re.compile(r"\W+")
_WORD = re.compile("(.)([A-Z][a-z]+)")
_CAPITAL = re.compile("([a-z])([A-Z])")


def snake_case(name: str) -> str:
    """Convert a class name as Keras does: `MeanSquaredError` to `mean_squared_error`, without `2_d` in `Conv2D`."""
    name = _NO_LETTER.sub("", name)
    name = _WORD.sub(r"\1_\2", name)
    return _CAPITAL.sub(r"\1_\2", name).lower()


def canonical_loss(name: str) -> str:
    """The full snake-case name of a built-in loss."""
    lowered = _in_snake_case(name)
    return _LOSS_ALIASES.get(lowered.lower(), lowered)


def metric_class(text: str) -> str:
    """Return the class for a metric's name; the name itself if there is none."""
    return METRIC_CLASSES.get(_in_snake_case(text).lower(), text)


def _in_snake_case(text: str) -> str:
    return text if "_" in text or text.islower() else snake_case(text)

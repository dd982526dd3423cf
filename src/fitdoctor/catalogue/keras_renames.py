"""What the names that Keras dropped are called now."""

from __future__ import annotations

from fitdoctor.catalogue.keras_signatures import REMOVED_ARGUMENTS

RENAMED_ARGUMENTS = {"lr": "learning_rate", "nb_epoch": "epochs", "alpha": "negative_slope"}
RENAMED_METHODS = {
    "fit_generator": "fit",
    "evaluate_generator": "evaluate",
    "predict_generator": "predict",
    "predict_proba": "predict",
}
OLDER_ARGUMENTS = {
    "fit": ("nb_epoch", "nb_val_samples", "samples_per_epoch", "show_accuracy"),
    "compile": ("sample_weight_mode",),
}
"""Arguments of Keras 1, or among the `**kwargs` of Keras 2, that old programs still give."""
OLDER_HISTORY = {"acc": "accuracy", "val_acc": "val_accuracy"}
"""Keys of the history that Keras 2 once used for the metric `accuracy`."""


def older_arguments(method: str) -> frozenset[str]:
    """The arguments that a method of a model took in an older Keras, and takes no more."""
    return frozenset((*REMOVED_ARGUMENTS.get(method, ()), *OLDER_ARGUMENTS.get(method, ())))


LAYERS_OF_KERAS_1 = {
    "output_dim": "units", "init": "kernel_initializer", "nb_filter": "filters", "filter_length": "kernel_size",
    "border_mode": "padding", "subsample": "strides", "subsample_length": "strides", "stride": "strides",
    "pool_length": "pool_size", "dim_ordering": "data_format", "W_regularizer": "kernel_regularizer",
    "b_regularizer": "bias_regularizer", "U_regularizer": "recurrent_regularizer",
    "W_constraint": "kernel_constraint", "b_constraint": "bias_constraint",
    "inner_activation": "recurrent_activation", "inner_init": "recurrent_initializer",
    "dropout_W": "dropout", "dropout_U": "recurrent_dropout", "p": "rate", "nb_row": "kernel_size",
    "nb_col": "kernel_size",
}  # fmt: skip
"""Arguments of layers as Keras 1 called them, and their names since Keras 2."""
MODELS_OF_KERAS_1 = {"input": "inputs", "output": "outputs"}
_STILL_THERE = {("Embedding", "output_dim"), ("EinsumDense", "output_dim")}


def keras_1_arguments(called: str) -> dict[str, str]:
    """What Keras 1 called the arguments of a layer or model, by its dotted name, and the names now."""
    kind = called.rpartition(".")[2]
    if called in ("keras.Model", "keras.models.Model"):
        return MODELS_OF_KERAS_1
    if not called.startswith("keras.layers."):
        return {}
    return {old: new for old, new in LAYERS_OF_KERAS_1.items() if (kind, old) not in _STILL_THERE}

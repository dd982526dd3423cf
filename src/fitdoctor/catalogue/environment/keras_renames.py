"""Current names of things that Keras renamed."""

from __future__ import annotations

from fitdoctor.catalogue.environment.keras_signatures import REMOVED_ARGUMENTS

RENAMED_ARGUMENTS = {
    "lr": "learning_rate",
    "nb_epoch": "epochs",
    "alpha": "negative_slope",
    "samples_per_epoch": "steps_per_epoch",
    "nb_val_samples": "validation_steps",
    "val_samples": "steps",
}
RENAMED_METHODS = {
    "fit_generator": "fit",
    "evaluate_generator": "evaluate",
    "predict_generator": "predict",
    "predict_proba": "predict",
}
OF_GENERATORS = {
    "fit_generator": (
        "generator", "steps_per_epoch", "epochs", "verbose", "callbacks", "validation_data", "validation_steps",
    ),
    "evaluate_generator": ("generator", "steps", "callbacks"),
    "predict_generator": ("generator", "steps", "callbacks"),
}  # fmt: skip
"""The argument order of methods that accepted only generators."""
RENAMED_OF_METRICS = {"reset_states": "reset_state"}
RENAMED_OF_LAYERS = {"output_shape": "output.shape", "input_shape": "input.shape"}
OLDER_ARGUMENTS = {
    "fit": ("nb_epoch", "nb_val_samples", "samples_per_epoch", "show_accuracy"),
    "compile": ("sample_weight_mode", "cloning", "experimental_run_tf_function", "from_serialized"),
}
"""Keras 1 arguments, or `**kwargs` of Keras 2, that old programs still pass."""
DROPPED_WITH_KERAS_1 = {
    "BatchNormalization": ("mode",),
    "Embedding": ("dropout",),
    "LSTM": ("consume_less", "forget_bias_init"),
    "GRU": ("consume_less",),
    "SimpleRNN": ("consume_less",),
}
"""Layer arguments that Keras 2 removed without a replacement."""
OLDER_HISTORY = {"acc": "accuracy", "val_acc": "val_accuracy"}
"""History keys that Keras 2 once used for the metric `accuracy`."""


def older_arguments(method: str) -> frozenset[str]:
    """Return the arguments of a model method that are no longer accepted."""
    return frozenset((*REMOVED_ARGUMENTS.get(method, ()), *OLDER_ARGUMENTS.get(method, ())))


def refused_by_class(name: str) -> frozenset[str]:
    """Return the arguments that a class, function or method of a part, by dotted name, no longer accepts."""
    dropped = (
        DROPPED_WITH_KERAS_1.get(name.rpartition(".")[2], ()) if name.startswith("keras.layers.") else ()
    )
    return frozenset((*REMOVED_ARGUMENTS.get(name, ()), *dropped))


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
"""Keras 1 names of layer arguments, with their names since Keras 2."""
MODELS_OF_KERAS_1 = {"input": "inputs", "output": "outputs"}
_OF_KERAS_1 = frozenset(
    "Activation AveragePooling1D AveragePooling2D AveragePooling3D BatchNormalization Conv1D Conv2D Conv2DTranspose Conv3D "
    "ConvLSTM2D Cropping1D Cropping2D Cropping3D Dense Dropout ELU Embedding Flatten GRU GaussianDropout GaussianNoise "
    "GlobalAveragePooling1D GlobalAveragePooling2D GlobalMaxPooling1D GlobalMaxPooling2D Highway LSTM Lambda LeakyReLU "
    "LocallyConnected1D LocallyConnected2D Masking MaxPooling1D MaxPooling2D MaxPooling3D MaxoutDense PReLU Permute "
    "RepeatVector Reshape SeparableConv2D SimpleRNN SpatialDropout1D SpatialDropout2D SpatialDropout3D ThresholdedReLU "
    "TimeDistributed TimeDistributedDense UpSampling1D UpSampling2D UpSampling3D ZeroPadding1D ZeroPadding2D "
    "ZeroPadding3D".split()
)
"""The layers that existed then; a later one, such as `ReversibleEmbedding`, may use the same argument names."""
_STILL_THERE = {("Embedding", "output_dim")}


def keras_1_arguments(called: str) -> dict[str, str]:
    """Return the Keras 1 argument names of a layer or model, by dotted name, with the current ones."""
    kind = called.rpartition(".")[2]
    if called in ("keras.Model", "keras.models.Model"):
        return MODELS_OF_KERAS_1
    if not called.startswith("keras.layers.") or kind not in _OF_KERAS_1:
        return {}
    return {old: new for old, new in LAYERS_OF_KERAS_1.items() if (kind, old) not in _STILL_THERE}

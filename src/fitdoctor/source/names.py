"""Canonical names of TensorFlow and Keras objects, however they are imported."""

from __future__ import annotations

import functools

# Names that Keras exports, or once exported, more than once; judges use the first.
_SAME = {
    "keras.Sequential": "keras.models.Sequential keras.engine.sequential.Sequential keras.engine.Sequential",
    "keras.Model": "keras.models.Model keras.engine.training.Model keras.engine.Model keras.training.Model "
    "keras.models.Functional keras.engine.functional.Functional",
    "keras.Layer": "keras.layers.Layer keras.engine.Layer keras.engine.base_layer.Layer "
    "keras.engine.topology.Layer keras.layers.core.Layer",
    "keras.Input": "keras.layers.Input keras.engine.Input keras.engine.input_layer.Input keras.models.Input",
    "keras.losses.Loss": "keras.Loss",
    "keras.metrics.Metric": "keras.Metric",
    "keras.optimizers.Optimizer": "keras.Optimizer",
    "keras.regularizers.Regularizer": "keras.Regularizer",
    "keras.initializers.Initializer": "keras.Initializer",
    "keras.utils.PyDataset": "keras.utils.Sequence keras.utils.data_utils.Sequence",
    "keras.models.clone_model": "keras.clone_model",
    "keras.losses.mean_squared_error": "keras.losses.mse keras.losses.MSE keras.metrics.mse keras.metrics.MSE "
    "keras.metrics.mean_squared_error",
    "keras.losses.mean_absolute_error": "keras.losses.mae keras.losses.MAE keras.metrics.mae keras.metrics.MAE "
    "keras.metrics.mean_absolute_error",
    "keras.losses.mean_absolute_percentage_error": "keras.losses.mape keras.losses.MAPE",
    "keras.losses.mean_squared_logarithmic_error": "keras.losses.msle keras.losses.MSLE",
    "keras.losses.kl_divergence": "keras.losses.kld keras.losses.KLD keras.losses.kullback_leibler_divergence",
    "keras.losses.BinaryCrossentropy": "keras.losses.BCE",
    "keras.losses.binary_crossentropy": "keras.losses.bce keras.metrics.binary_crossentropy",
    "keras.losses.categorical_crossentropy": "keras.metrics.categorical_crossentropy",
    "keras.losses.sparse_categorical_crossentropy": "keras.metrics.sparse_categorical_crossentropy",
    "keras.utils.to_categorical": "keras.utils.np_utils.to_categorical",
    "tensorflow.data.AUTOTUNE": "tensorflow.data.experimental.AUTOTUNE",
}
_ALIASES = {alias: name for name, aliases in _SAME.items() for alias in aliases.split()}

_LAYER_ALIASES = {
    "Convolution1D": "Conv1D",
    "Convolution2D": "Conv2D",
    "Convolution3D": "Conv3D",
    "Convolution1DTranspose": "Conv1DTranspose",
    "Convolution2DTranspose": "Conv2DTranspose",
    "Deconvolution2D": "Conv2DTranspose",
    "Convolution3DTranspose": "Conv3DTranspose",
    "SeparableConvolution1D": "SeparableConv1D",
    "SeparableConvolution2D": "SeparableConv2D",
    **{f"MaxPool{d}D": f"MaxPooling{d}D" for d in (1, 2, 3)},
    **{f"AvgPool{d}D": f"AveragePooling{d}D" for d in (1, 2, 3)},
    **{f"GlobalMaxPool{d}D": f"GlobalMaxPooling{d}D" for d in (1, 2, 3)},
    **{f"GlobalAvgPool{d}D": f"GlobalAveragePooling{d}D" for d in (1, 2, 3)},
}

# What `tf.math` and `tf.linalg` share with `tf` itself, under the shorter name.
_TF_TOP = frozenset(
    "abs acos acosh add add_n argmax argmin asin asinh atan atan2 atanh complex cos cosh cumsum "
    "divide equal exp floor greater greater_equal less less_equal logical_and logical_not logical_or "
    "maximum minimum multiply negative not_equal pow reduce_all reduce_any reduce_logsumexp "
    "reduce_max reduce_mean reduce_min reduce_prod reduce_sum round scalar_mul sigmoid sign sin sinh "
    "sqrt square subtract tan tanh truediv".split()
)
_LINALG_TOP = frozenset("matmul einsum eye norm tensordot".split())

# What a star import from a part of Keras brings in, as far as programs use it.
STAR_NAMES: dict[str, frozenset[str]] = {
    "keras.layers": frozenset(
        "Activation ActivityRegularization Add AdditiveAttention AlphaDropout Attention Average "
        "AveragePooling1D AveragePooling2D AveragePooling3D AvgPool1D AvgPool2D AvgPool3D "
        "BatchNormalization Bidirectional CategoryEncoding CenterCrop Concatenate Conv1D "
        "Conv1DTranspose Conv2D Conv2DTranspose Conv3D Conv3DTranspose ConvLSTM1D ConvLSTM2D "
        "ConvLSTM3D Convolution1D Convolution2D Convolution3D Cropping1D Cropping2D Cropping3D Dense "
        "DepthwiseConv1D DepthwiseConv2D Discretization Dot Dropout ELU EinsumDense Embedding Flatten "
        "GRU GRUCell GaussianDropout GaussianNoise GlobalAveragePooling1D GlobalAveragePooling2D "
        "GlobalAveragePooling3D GlobalAvgPool1D GlobalAvgPool2D GlobalAvgPool3D GlobalMaxPool1D "
        "GlobalMaxPool2D GlobalMaxPool3D GlobalMaxPooling1D GlobalMaxPooling2D GlobalMaxPooling3D "
        "GroupNormalization GroupQueryAttention Hashing Identity Input InputLayer InputSpec "
        "IntegerLookup LSTM LSTMCell Lambda Layer LayerNormalization LeakyReLU Masking MaxPool1D "
        "MaxPool2D MaxPool3D MaxPooling1D MaxPooling2D MaxPooling3D Maximum Minimum "
        "MultiHeadAttention Multiply Normalization PReLU Permute RNN RandomBrightness RandomContrast "
        "RandomCrop RandomFlip RandomHeight RandomRotation RandomTranslation RandomWidth RandomZoom "
        "ReLU RepeatVector Rescaling Reshape Resizing SeparableConv1D SeparableConv2D SimpleRNN "
        "SimpleRNNCell Softmax SpatialDropout1D SpatialDropout2D SpatialDropout3D "
        "SpectralNormalization StackedRNNCells StringLookup Subtract TFSMLayer TextVectorization "
        "ThresholdedReLU TimeDistributed UnitNormalization UpSampling1D UpSampling2D UpSampling3D "
        "Wrapper ZeroPadding1D ZeroPadding2D ZeroPadding3D add average concatenate dot maximum "
        "minimum multiply subtract".split()
    ),
    "keras.models": frozenset("Sequential Model Functional load_model clone_model model_from_json".split()),
    "keras.optimizers": frozenset(
        "SGD RMSprop Adam AdamW Adadelta Adagrad Adamax Adafactor Nadam Ftrl Lion Optimizer".split()
    ),
    "keras.callbacks": frozenset(
        "Callback CSVLogger EarlyStopping LambdaCallback LearningRateScheduler ModelCheckpoint "
        "ReduceLROnPlateau TensorBoard TerminateOnNaN BackupAndRestore History".split()
    ),
    "keras.losses": frozenset(
        "Loss BinaryCrossentropy CategoricalCrossentropy SparseCategoricalCrossentropy "
        "MeanSquaredError MeanAbsoluteError Huber binary_crossentropy categorical_crossentropy "
        "sparse_categorical_crossentropy mean_squared_error mean_absolute_error mse mae".split()
    ),
    "keras.metrics": frozenset(
        "Metric Mean Accuracy BinaryAccuracy CategoricalAccuracy SparseCategoricalAccuracy AUC "
        "Precision Recall MeanSquaredError MeanAbsoluteError RootMeanSquaredError MeanIoU".split()
    ),
    "keras.utils": frozenset("to_categorical plot_model Sequence PyDataset get_file normalize".split()),
    "keras": frozenset(
        "Sequential Model Input Layer Variable layers models optimizers losses metrics callbacks "
        "utils ops backend regularizers initializers constraints datasets applications activations "
        "preprocessing".split()
    ),
    "tensorflow": frozenset("keras data function Variable constant cast reduce_mean reduce_sum".split()),
}

KINDS = {
    "keras.mixed_precision.LossScaleOptimizer": "Optimizer",
    "keras.Layer": "Layer",
    "keras.Model": "Model",
    "keras.Sequential": "Model",
    "keras.losses.Loss": "Loss",
    "keras.metrics.Metric": "Metric",
    "keras.callbacks.Callback": "Callback",
    "keras.utils.PyDataset": "PyDataset",
    "keras.constraints.Constraint": "Constraint",
    "keras.regularizers.Regularizer": "Regularizer",
    "keras.optimizers.Optimizer": "Optimizer",
}
"""Base classes and the kind of their subclasses."""

_KIND_PLACES = (
    ("keras.layers.", "Layer"),
    ("keras.losses.", "Loss"),
    ("keras.metrics.", "Metric"),
    ("keras.callbacks.", "Callback"),
    ("keras.constraints.", "Constraint"),
    ("keras.regularizers.", "Regularizer"),
    ("keras.optimizers.", "Optimizer"),
    ("keras.applications.", "Model"),
)


def canonical(dotted: str) -> str:
    """The one name of a dotted name as imports spell it; other libraries' names stay as they are."""
    root = dotted.partition(".")[0]
    if root not in ("keras", "tensorflow"):
        return dotted
    return _canonical(dotted)


@functools.lru_cache(maxsize=4096)
def _canonical(dotted: str) -> str:
    if dotted.startswith("tensorflow"):
        dotted = _from_tensorflow(dotted)
    if not dotted.startswith("keras"):
        return dotted
    if dotted.startswith("keras.api."):
        dotted = "keras." + dotted.removeprefix("keras.api.").removeprefix("_v2.keras.").removeprefix("v2.")
    if dotted.startswith("keras.src."):
        dotted = _from_inside(dotted)
    if dotted in _ALIASES:
        return _ALIASES[dotted]
    last = dotted.rpartition(".")[2]
    if dotted.startswith("keras.layers.") and last[:1].isupper():
        # Keras 1 and 2 kept layers in submodules: keras.layers.core.Dense, keras.layers.convolutional.Conv2D.
        short = "keras.layers." + _LAYER_ALIASES.get(last, last)
        return _ALIASES.get(short, short)
    return dotted


_ONE_LEVEL = frozenset(
    "activations callbacks constraints initializers layers losses metrics models ops regularizers utils".split()
)
"""Parts of Keras that show what their files define under one name."""
_AS_INSIDE = frozenset("applications datasets engine optimizers random saving".split())
"""Parts of Keras whose internal layout matches the public one."""


def _from_inside(dotted: str) -> str:
    """The public name of what is imported from the files of Keras: `keras.src.layers.core.dense.Dense`."""
    _keras, _src, part, *rest = dotted.split(".")
    if part == "optimizers" and "schedules" not in rest:
        return ".".join(["keras", part, *rest[-1:]])
    if part in _ONE_LEVEL and rest:
        return f"keras.{part}.{rest[-1]}"
    if part in _AS_INSIDE or part in _ONE_LEVEL or part[:1].isupper():
        return ".".join(["keras", part, *rest])
    return dotted


_SHOWN_BY_TENSORFLOW = frozenset({"initializers", "losses", "metrics", "optimizers"})
"""Parts of Keras that `tf` has too: `tf.optimizers.Adam`. Their functions were TensorFlow 1's own."""


def _from_tensorflow(dotted: str) -> str:
    if dotted.startswith("tensorflow.compat.v2."):
        dotted = "tensorflow." + dotted.removeprefix("tensorflow.compat.v2.")
    if dotted == "tensorflow.keras" or dotted.startswith("tensorflow.keras."):
        return dotted.removeprefix("tensorflow.")
    _tensorflow, part, *rest = (*dotted.split("."), "")
    if part in _SHOWN_BY_TENSORFLOW and rest[0][:1].isupper():
        return dotted.replace("tensorflow", "keras", 1)
    for place, shared in (("tensorflow.math.", _TF_TOP), ("tensorflow.linalg.", _LINALG_TOP)):
        if dotted.startswith(place) and dotted.removeprefix(place) in shared:
            return "tensorflow." + dotted.removeprefix(place)
    return dotted


def own_keras(name: str) -> str:
    """A name of `tf_keras` or `tensorflow.python.keras` as the same thing is called in `keras`."""
    if not name.startswith(("tf_keras", "tensorflow.")):
        return name
    for other in ("tf_keras", "tensorflow.python.keras", "tensorflow.compat.v1.keras"):
        if name == other or name.startswith(other + "."):
            return canonical("keras" + name[len(other) :])
    return name


def kind_of(name: str) -> str:
    """Return the kind of a subclass of a canonical base class; "" for others."""
    name = own_keras(name)
    if name in KINDS:
        return KINDS[name]
    last = name.rpartition(".")[2]
    if last[:1].isupper() and ".schedules." not in name:
        for place, kind in _KIND_PLACES:
            if name.startswith(place):
                return kind
    return ""

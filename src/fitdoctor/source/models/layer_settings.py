"""Settings of Keras layers: their names by position, and accessors for shape rules."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from fitdoctor.facts import Unknown
from fitdoctor.records import dataclass, field

Dim = int | None | Unknown
"""An axis length: a number, None where Keras itself leaves it open, Unknown where the source does not tell."""
Dims = tuple[Dim, ...]


class Obscure(Exception):
    """Raised if the source does not determine the result."""


class Refused(Exception):
    """Raised where Keras would raise."""

    def __init__(self, type: str, message: str) -> None:
        super().__init__(message)
        self.type = type
        self.message = message


_CONVOLUTION = "filters kernel_size strides padding data_format dilation_rate groups activation use_bias"
_TRANSPOSED = (
    "filters kernel_size strides padding output_padding data_format dilation_rate activation use_bias"
)
_SEPARABLE = (
    "filters kernel_size strides padding data_format dilation_rate depth_multiplier activation use_bias"
)
_DEPTHWISE = "kernel_size strides padding depth_multiplier data_format dilation_rate activation use_bias"
_RECURRENT = "units activation recurrent_activation use_bias"
_CONV_LSTM = (
    "filters kernel_size strides padding data_format dilation_rate activation recurrent_activation use_bias"
)
_POOLING = "pool_size strides padding data_format name"

KERAS_1_SETTINGS = frozenset(
    "border_mode subsample nb_filter nb_row nb_col filter_length subsample_length pool_length stride W_regularizer "
    "b_regularizer init dim_ordering inner_activation dropout_W dropout_U atrous_rate consume_less".split()
)
"""Keras 1 arguments: a layer with one fails, and its positional numbers had another meaning."""

POSITIONAL: Mapping[str, tuple[str, ...]] = {
    name: tuple(parameters.split())
    for name, parameters in {
        "Activation": "activation",
        "ActivityRegularization": "l1 l2",
        "AdditiveAttention": "use_scale dropout",
        "AlphaDropout": "rate noise_shape seed",
        "Attention": "use_scale score_mode dropout seed",
        "AveragePooling1D": _POOLING,
        "AveragePooling2D": _POOLING,
        "AveragePooling3D": _POOLING,
        "BatchNormalization": "axis momentum epsilon center scale",
        "Bidirectional": "layer merge_mode weights backward_layer",
        "CategoryEncoding": "num_tokens output_mode sparse",
        "CenterCrop": "height width data_format",
        "Concatenate": "axis",
        "Conv1D": _CONVOLUTION,
        "Conv2D": _CONVOLUTION,
        "Conv3D": _CONVOLUTION,
        "Conv1DTranspose": _TRANSPOSED,
        "Conv2DTranspose": _TRANSPOSED,
        "Conv3DTranspose": "filters kernel_size strides padding data_format output_padding dilation_rate "
        "activation use_bias",
        "ConvLSTM1D": _CONV_LSTM,
        "ConvLSTM2D": _CONV_LSTM,
        "ConvLSTM3D": _CONV_LSTM,
        "Cropping1D": "cropping",
        "Cropping2D": "cropping data_format",
        "Cropping3D": "cropping data_format",
        "Dense": "units activation use_bias",
        "DepthwiseConv1D": _DEPTHWISE,
        "DepthwiseConv2D": _DEPTHWISE,
        "Discretization": "bin_boundaries num_bins epsilon output_mode sparse dtype name",
        "Dot": "axes normalize",
        "Dropout": "rate noise_shape seed",
        "ELU": "alpha",
        "EinsumDense": "equation output_shape activation bias_axes",
        "Embedding": "input_dim output_dim",
        "Flatten": "data_format",
        "GRU": _RECURRENT,
        "GaussianDropout": "rate seed",
        "GaussianNoise": "stddev seed",
        "GlobalAveragePooling1D": "data_format keepdims",
        "GlobalAveragePooling2D": "data_format keepdims",
        "GlobalAveragePooling3D": "data_format keepdims",
        "GlobalMaxPooling1D": "data_format keepdims",
        "GlobalMaxPooling2D": "data_format keepdims",
        "GlobalMaxPooling3D": "data_format keepdims",
        "GroupNormalization": "groups axis epsilon center scale",
        "Hashing": "num_bins mask_value salt output_mode sparse",
        "InputLayer": "shape batch_size dtype sparse ragged batch_shape input_tensor optional name",
        "IntegerLookup": "max_tokens num_oov_indices mask_token oov_token vocabulary",
        "LSTM": _RECURRENT,
        "Lambda": "function output_shape mask arguments",
        "LayerNormalization": "axis epsilon center scale",
        "LeakyReLU": "negative_slope",
        "Masking": "mask_value",
        "MaxPooling1D": _POOLING,
        "MaxPooling2D": _POOLING,
        "MaxPooling3D": _POOLING,
        "MultiHeadAttention": "num_heads key_dim value_dim dropout use_bias output_shape attention_axes",
        "Normalization": "axis mean variance invert",
        "PReLU": "alpha_initializer alpha_regularizer alpha_constraint shared_axes",
        "Permute": "dims",
        "RandomBrightness": "factor value_range seed",
        "RandomContrast": "factor value_range seed",
        "RandomCrop": "height width seed data_format name",
        "RandomFlip": "mode seed data_format",
        "RandomRotation": "factor fill_mode interpolation seed fill_value data_format",
        "RandomTranslation": "height_factor width_factor fill_mode interpolation seed fill_value data_format",
        "RandomZoom": "height_factor width_factor fill_mode interpolation seed fill_value data_format",
        "ReLU": "max_value negative_slope threshold",
        "RepeatVector": "n",
        "Rescaling": "scale offset",
        "Reshape": "target_shape",
        "Resizing": "height width interpolation",
        "SeparableConv1D": _SEPARABLE,
        "SeparableConv2D": _SEPARABLE,
        "SimpleRNN": "units activation use_bias",
        "Softmax": "axis",
        "SpatialDropout1D": "rate seed name dtype",
        "SpatialDropout2D": "rate data_format seed name dtype",
        "SpatialDropout3D": "rate data_format seed name dtype",
        "SpectralNormalization": "layer power_iterations",
        "StringLookup": "max_tokens num_oov_indices mask_token oov_token vocabulary",
        "TextVectorization": "max_tokens standardize split ngrams output_mode output_sequence_length",
        "TimeDistributed": "layer",
        "UnitNormalization": "axis",
        "UpSampling1D": "size",
        "UpSampling2D": "size data_format interpolation",
        "UpSampling3D": "size data_format",
        "ZeroPadding1D": "padding data_format",
        "ZeroPadding2D": "padding data_format",
        "ZeroPadding3D": "padding data_format",
    }.items()
}
"""The leading parameters that may be given by position; what follows is given by name in practice."""

SYNONYMS: Mapping[str, str] = {
    "AvgPool1D": "AveragePooling1D",
    "AvgPool2D": "AveragePooling2D",
    "AvgPool3D": "AveragePooling3D",
    "Convolution1D": "Conv1D",
    "Convolution2D": "Conv2D",
    "Convolution3D": "Conv3D",
    "Convolution1DTranspose": "Conv1DTranspose",
    "Convolution2DTranspose": "Conv2DTranspose",
    "Convolution3DTranspose": "Conv3DTranspose",
    "GlobalAvgPool1D": "GlobalAveragePooling1D",
    "GlobalAvgPool2D": "GlobalAveragePooling2D",
    "GlobalAvgPool3D": "GlobalAveragePooling3D",
    "GlobalMaxPool1D": "GlobalMaxPooling1D",
    "GlobalMaxPool2D": "GlobalMaxPooling2D",
    "GlobalMaxPool3D": "GlobalMaxPooling3D",
    "MaxPool1D": "MaxPooling1D",
    "MaxPool2D": "MaxPooling2D",
    "MaxPool3D": "MaxPooling3D",
    "SeparableConvolution1D": "SeparableConv1D",
    "SeparableConvolution2D": "SeparableConv2D",
    "CuDNNLSTM": "LSTM",
    "CuDNNGRU": "GRU",
}


def class_of_layer(name: str) -> str:
    """The name of the class that a public name stands for: `MaxPool2D` is `MaxPooling2D`."""
    return SYNONYMS.get(name, name)


@dataclass(frozen=True)
class LayerPlan:
    """A layer as the source makes it: its class and its settings, plain values or Unknown."""

    class_name: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    inner: LayerPlan | None = None
    """For a wrapper: the layer that it wraps."""
    certain: bool = True
    """False where the call has `*args` or `**kwargs` that the source does not tell."""
    keras: int = 3

    def get(self, name: str, default: Any = None) -> Any:
        """Return a setting; Unknown if the source does not determine it."""
        if name in self.settings:
            return self.settings[name]
        return default if self.certain else Unknown("passed as **kwargs")

    def plain(self, name: str, default: Any = None) -> Any:
        """A setting that must be told.

        Raises:
            Obscure: it is not.
        """
        value = self.get(name, default)
        if isinstance(value, Unknown):
            raise Obscure(name)
        return value

    def whole(self, name: str, default: Any = None) -> int:
        """A setting that must be a told whole number.

        Raises:
            Obscure: it is not.
        """
        value = self.plain(name, default)
        if isinstance(value, bool) or not isinstance(value, int):
            raise Obscure(name)
        return value

    def width(self, name: str) -> int | Unknown:
        """Return the units or filters of a layer; Unknown if computed.

        Raises:
            Obscure: the setting is told, and no whole number.
        """
        value = self.get(name, None)
        return value if isinstance(value, Unknown) else self.whole(name)

    def sizes(self, name: str, rank: int, default: Any = None) -> tuple[int, ...]:
        """A setting that is one number, or one for each axis.

        Raises:
            Obscure: it is not told, or is neither.
        """
        value = self.plain(name, default)
        if isinstance(value, int) and not isinstance(value, bool):
            return (value,) * rank
        if isinstance(value, (tuple, list)) and len(value) == rank:
            if all(isinstance(item, int) and not isinstance(item, bool) for item in value):
                return tuple(value)
        raise Obscure(name)

    def flag(self, name: str, default: bool) -> bool:
        """A setting that must be a told truth value.

        Raises:
            Obscure: it is not told.
        """
        return bool(self.plain(name, default))

    def channels_last(self) -> bool:
        """Whether the channels are the last axis.

        Raises:
            Obscure: it is not told.
        """
        value = self.plain("data_format", None)
        if value in (None, "channels_last"):
            return True
        if value == "channels_first":
            return False
        raise Obscure("data_format")


def require_rank(plan: LayerPlan, dims: Dims, exact: int = 0, least: int = 0) -> None:
    """Check the rank as Keras' input specs do.

    Raises:
        Refused: the rank does not fit.
    """
    rank = len(dims)
    wrong = (exact and rank != exact) or (least and rank < least)
    if wrong:
        wanted = f"ndim={exact}" if exact else f"min_ndim={least}"
        raise Refused(
            "ValueError",
            f"Input 0 of layer {plan.class_name} is incompatible with the layer: expected {wanted}, "
            f"found ndim={rank}. Full shape received: {shown(dims)}",
        )


def shown(dims: Dims) -> str:
    """Format a shape, with `?` for unknown sizes."""
    inside = ", ".join("?" if isinstance(dim, Unknown) else str(dim) for dim in dims)
    return f"({inside},)" if len(dims) == 1 else f"({inside})"


def product(dims: Dims) -> Dim:
    """How many elements there are; None or Unknown where an axis is."""
    total = 1
    for dim in sure_first(dims):
        if not isinstance(dim, int):
            return dim
        total *= dim
    return total


def sure_first(dims: Dims) -> Iterator[Dim]:
    """Yield the axes, the unknown ones first."""
    yield from (dim for dim in dims if isinstance(dim, Unknown))
    yield from (dim for dim in dims if dim is None)
    yield from (dim for dim in dims if isinstance(dim, int))

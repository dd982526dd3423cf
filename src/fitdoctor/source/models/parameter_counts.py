"""How many weights a Keras layer makes on inputs of given shapes."""

from __future__ import annotations

from collections.abc import Callable
from math import prod

from fitdoctor.source.models.layer_settings import Dims, LayerPlan, Obscure

Counter = Callable[[LayerPlan, tuple[Dims, ...]], tuple[int, int]]
"""All weights, and those that are trained."""


def count(plan: LayerPlan, shapes: tuple[Dims, ...]) -> tuple[int, int]:
    """The number of all weights and of trained weights.

    Raises:
        Obscure: the source does not tell, or the layer is not known here.
    """
    name = plan.class_name
    if name in _WEIGHTLESS:
        return 0, 0
    counter = _COUNTERS.get(name)
    if counter is None:
        raise Obscure(name)
    total, trained = counter(plan, shapes)
    return total, trained if plan.flag("trainable", True) else 0


def _both(number: int) -> tuple[int, int]:
    return number, number


def _features(plan: LayerPlan, dims: Dims) -> int:
    channels = dims[-1] if plan.channels_last() else dims[1]
    if not isinstance(channels, int):
        raise Obscure("features")
    return channels


def _dense(plan: LayerPlan, shapes: tuple[Dims, ...]) -> tuple[int, int]:
    units = plan.whole("units")
    if plan.plain("lora_rank", None) is not None:
        raise Obscure("lora_rank")
    return _both(_last(shapes) * units + units * plan.flag("use_bias", True))


def _last(shapes: tuple[Dims, ...]) -> int:
    length = shapes[0][-1]
    if not isinstance(length, int):
        raise Obscure("features")
    return length


def _convolution(plan: LayerPlan, shapes: tuple[Dims, ...]) -> tuple[int, int]:
    filters = plan.whole("filters")
    kernel = prod(plan.sizes("kernel_size", len(shapes[0]) - 2))
    channels = _features(plan, shapes[0]) // plan.whole("groups", 1)
    return _both(kernel * channels * filters + filters * plan.flag("use_bias", True))


def _separable(plan: LayerPlan, shapes: tuple[Dims, ...]) -> tuple[int, int]:
    filters = plan.whole("filters")
    kernel = prod(plan.sizes("kernel_size", len(shapes[0]) - 2))
    deep = _features(plan, shapes[0]) * plan.whole("depth_multiplier", 1)
    return _both(kernel * deep + deep * filters + filters * plan.flag("use_bias", True))


def _depthwise(plan: LayerPlan, shapes: tuple[Dims, ...]) -> tuple[int, int]:
    kernel = prod(plan.sizes("kernel_size", len(shapes[0]) - 2))
    deep = _features(plan, shapes[0]) * plan.whole("depth_multiplier", 1)
    return _both(kernel * deep + deep * plan.flag("use_bias", True))


def _embedding(plan: LayerPlan, shapes: tuple[Dims, ...]) -> tuple[int, int]:
    if plan.plain("lora_rank", None) is not None:
        raise Obscure("lora_rank")
    return _both(plan.whole("input_dim") * plan.whole("output_dim"))


def _recurrent(gates: int) -> Counter:
    def counter(plan: LayerPlan, shapes: tuple[Dims, ...]) -> tuple[int, int]:
        units = plan.whole("units")
        biases = 0
        if plan.flag("use_bias", True):
            # the GRU that Keras makes by default keeps two biases a gate
            doubled = plan.class_name == "GRU" and plan.flag("reset_after", True)
            biases = units * (2 if doubled else 1)
        if plan.flag("stateful", False):
            raise Obscure("stateful")
        return _both(gates * (_last(shapes) * units + units * units + biases))

    return counter


def _batch_normalised(plan: LayerPlan, shapes: tuple[Dims, ...]) -> tuple[int, int]:
    length = _along(plan, shapes)
    trained = length * (plan.flag("center", True) + plan.flag("scale", True))
    return trained + 2 * length, trained


def _layer_normalised(plan: LayerPlan, shapes: tuple[Dims, ...]) -> tuple[int, int]:
    return _both(_along(plan, shapes) * (plan.flag("center", True) + plan.flag("scale", True)))


def _along(plan: LayerPlan, shapes: tuple[Dims, ...]) -> int:
    length = shapes[0][plan.whole("axis", -1)]
    if not isinstance(length, int):
        raise Obscure("axis")
    return length


def _bidirectional(plan: LayerPlan, shapes: tuple[Dims, ...]) -> tuple[int, int]:
    if plan.inner is None or plan.plain("backward_layer", None) is not None:
        raise Obscure("layer")
    total, trained = count(plan.inner, shapes)
    return 2 * total, 2 * trained


def _time_distributed(plan: LayerPlan, shapes: tuple[Dims, ...]) -> tuple[int, int]:
    if plan.inner is None:
        raise Obscure("layer")
    dims = shapes[0]
    return count(plan.inner, ((dims[0], *dims[2:]),))


_WEIGHTLESS = frozenset(
    (
        "Activation Add Average Concatenate Dot ELU Flatten Identity InputLayer LeakyReLU Masking Maximum "
        "Minimum Multiply Permute ReLU RepeatVector Rescaling Reshape Resizing Softmax Subtract "
        "UnitNormalization "
        + " ".join(
            f"Max{kind} Average{kind} GlobalMax{kind} GlobalAverage{kind}"
            for kind in ("Pooling1D", "Pooling2D", "Pooling3D")
        )
        + " "
        + " ".join(
            f"{kind}{rank}D" for kind in ("ZeroPadding", "Cropping", "UpSampling") for rank in (1, 2, 3)
        )
    ).split()
)
"""Layers without any weight; dropout keeps the state of its random numbers and is counted below."""


def _random(plan: LayerPlan, shapes: tuple[Dims, ...]) -> tuple[int, int]:
    # a seed generator is a variable of two numbers, which Keras leaves out of `count_params`
    return 0, 0


_COUNTERS: dict[str, Counter] = {
    "BatchNormalization": _batch_normalised,
    "Bidirectional": _bidirectional,
    "Conv1D": _convolution,
    "Conv2D": _convolution,
    "Conv3D": _convolution,
    "Conv1DTranspose": _convolution,
    "Conv2DTranspose": _convolution,
    "Conv3DTranspose": _convolution,
    "Dense": _dense,
    "DepthwiseConv1D": _depthwise,
    "DepthwiseConv2D": _depthwise,
    "Dropout": _random,
    "Embedding": _embedding,
    "GRU": _recurrent(3),
    "GaussianDropout": _random,
    "GaussianNoise": _random,
    "LSTM": _recurrent(4),
    "LayerNormalization": _layer_normalised,
    "SeparableConv1D": _separable,
    "SeparableConv2D": _separable,
    "SimpleRNN": _recurrent(1),
    "SpatialDropout1D": _random,
    "SpatialDropout2D": _random,
    "SpatialDropout3D": _random,
    "TimeDistributed": _time_distributed,
}

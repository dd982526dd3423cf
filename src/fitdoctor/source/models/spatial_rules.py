"""Shape rules of convolutions, pooling, padding, cropping and upsampling."""

from __future__ import annotations

from collections.abc import Callable

from fitdoctor.facts import Unknown
from fitdoctor.source.models.layer_settings import Dim, Dims, LayerPlan, Obscure, Refused, require_rank, shown

Rule = Callable[[LayerPlan, Dims], Dims]


def _apart(plan: LayerPlan, dims: Dims) -> tuple[Dims, Dim]:
    """Split a shape into its spatial axes and its channels."""
    return (dims[1:-1], dims[-1]) if plan.channels_last() else (dims[2:], dims[1])


def _together(plan: LayerPlan, batch: Dim, spatial: Dims, channels: Dim) -> Dims:
    return (batch, *spatial, channels) if plan.channels_last() else (batch, channels, *spatial)


def window_output(dim: Dim, window: int, stride: int, padding: str, received: str) -> Dim:
    """Return the length of an axis after a window slides over it.

    Raises:
        Refused: the axis would become empty.
    """
    if not isinstance(dim, int):
        return dim
    if padding in ("same", "causal"):
        return (dim - 1) // stride + 1
    length = (dim - window) // stride + 1
    if length <= 0:
        raise Refused("ValueError", f"Computed output size would be zero or negative. Received: {received}")
    return length


def _windows(
    plan: LayerPlan, spatial: Dims, sizes: tuple[int, ...], strides: tuple[int, ...], dims: Dims
) -> Dims:
    padding = plan.plain("padding", "valid")
    if not isinstance(padding, str) or padding.lower() not in ("valid", "same", "causal"):
        raise Obscure("padding")
    received = f"inputs.shape={shown(dims)}, window={sizes}, strides={strides}, padding={padding}"
    return tuple(
        window_output(dim, size, stride, padding.lower(), received)
        for dim, size, stride in zip(spatial, sizes, strides, strict=True)
    )


def _kernel(plan: LayerPlan, rank: int) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
    """Return kernel sizes, strides and dilations as the constructor accepts them."""
    sizes = plan.sizes("kernel_size", rank)
    strides = plan.sizes("strides", rank, 1)
    dilations = plan.sizes("dilation_rate", rank, 1)
    if min(*sizes, *strides, *dilations) < 1:
        raise Obscure("sizes below one")
    if max(strides) > 1 and max(dilations) > 1:
        raise Obscure("strides and dilations")
    return sizes, strides, dilations


def _channels(plan: LayerPlan, dims: Dims, rank: int) -> int | Unknown:
    """Return the input channels after checking them."""
    require_rank(plan, dims, least=rank + 2)
    channels = _apart(plan, dims)[1]
    if channels is None:
        raise Obscure("channels")
    if len(dims) != rank + 2:
        if plan.keras == 2:
            raise Obscure("further batch axes")
        # Keras 3 takes a higher rank past the input spec and fails on the kernel
        raise Refused("ValueError", f"Kernel shape must have the same length as input: {shown(dims)}")
    return channels


def convolution(rank: int) -> Rule:
    """Conv1D, Conv2D, Conv3D."""

    def rule(plan: LayerPlan, dims: Dims) -> Dims:
        filters = plan.width("filters")
        groups = plan.whole("groups", 1)
        sizes, strides, dilations = _kernel(plan, rank)
        if groups < 1 or (isinstance(filters, int) and (filters < 1 or filters % groups)):
            raise Obscure("filters")
        if plan.plain("padding", "valid") == "causal" and rank != 1:
            raise Obscure("padding")
        channels = _channels(plan, dims, rank)
        if isinstance(channels, Unknown):
            if groups != 1:
                raise Obscure("groups")
        elif channels % groups:
            raise Refused(
                "ValueError",
                f"The number of input channels must be evenly divisible by the number of groups. "
                f"Received groups={groups}, but the input has {channels} channels.",
            )
        spatial = _apart(plan, dims)[0]
        spans = _spans(sizes, dilations)
        return _together(plan, dims[0], _windows(plan, spatial, spans, strides, dims), filters)

    return rule


def _spans(sizes: tuple[int, ...], dilations: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(dilation * (size - 1) + 1 for size, dilation in zip(sizes, dilations, strict=True))


def separable(rank: int) -> Rule:
    """SeparableConv1D, SeparableConv2D."""

    def rule(plan: LayerPlan, dims: Dims) -> Dims:
        filters = plan.width("filters")
        sizes, strides, dilations = _kernel(plan, rank)
        if filters == 0 or plan.whole("depth_multiplier", 1) < 1:
            raise Obscure("filters")
        _channels(plan, dims, rank)
        spatial = _windows(plan, _apart(plan, dims)[0], _spans(sizes, dilations), strides, dims)
        return _together(plan, dims[0], spatial, filters)

    return rule


def depthwise(rank: int) -> Rule:
    """DepthwiseConv1D, DepthwiseConv2D."""

    def rule(plan: LayerPlan, dims: Dims) -> Dims:
        multiplier = plan.whole("depth_multiplier", 1)
        sizes, strides, dilations = _kernel(plan, rank)
        if multiplier < 1:
            raise Obscure("depth_multiplier")
        channels = _channels(plan, dims, rank)
        spatial = _windows(plan, _apart(plan, dims)[0], _spans(sizes, dilations), strides, dims)
        given = channels if isinstance(channels, Unknown) else channels * multiplier
        return _together(plan, dims[0], spatial, given)

    return rule


def transposed(rank: int) -> Rule:
    """Conv1DTranspose, Conv2DTranspose, Conv3DTranspose."""

    def rule(plan: LayerPlan, dims: Dims) -> Dims:
        filters = plan.width("filters")
        sizes, strides, dilations = _kernel(plan, rank)
        if filters == 0 or plan.plain("output_padding", None) is not None or max(dilations) > 1:
            raise Obscure("output_padding or dilation")
        padding = plan.plain("padding", "valid")
        if padding not in ("valid", "same"):
            raise Obscure("padding")
        if len(dims) > rank + 2:
            raise Obscure("rank")
        _channels(plan, dims, rank)
        spatial = tuple(
            _grown(dim, size, stride, padding)
            for dim, size, stride in zip(_apart(plan, dims)[0], sizes, strides, strict=True)
        )
        return _together(plan, dims[0], spatial, filters)

    return rule


def _grown(dim: Dim, size: int, stride: int, padding: str) -> Dim:
    if not isinstance(dim, int):
        return dim
    return dim * stride if padding == "same" else dim * stride + max(size - stride, 0)


def pooling(rank: int) -> Rule:
    """MaxPooling and AveragePooling."""

    def rule(plan: LayerPlan, dims: Dims) -> Dims:
        sizes = plan.sizes("pool_size", rank, 2)
        given = plan.plain("strides", None)
        strides = sizes if given is None else plan.sizes("strides", rank)
        if min(*sizes, *strides) < 1:
            raise Obscure("sizes below one")
        require_rank(plan, dims, exact=rank + 2)
        spatial, channels = _apart(plan, dims)
        return _together(plan, dims[0], _windows(plan, spatial, sizes, strides, dims), channels)

    return rule


def global_pooling(rank: int) -> Rule:
    """GlobalMaxPooling and GlobalAveragePooling."""

    def rule(plan: LayerPlan, dims: Dims) -> Dims:
        require_rank(plan, dims, exact=rank + 2)
        channels = _apart(plan, dims)[1]
        if plan.flag("keepdims", False):
            return _together(plan, dims[0], (1,) * rank, channels)
        return (dims[0], channels)

    return rule


def _pairs(plan: LayerPlan, name: str, rank: int, default: int) -> tuple[tuple[int, int], ...]:
    """Return the amounts before and after each axis, given one number, one per axis, or one pair per axis."""
    value = plan.plain(name, default)
    if isinstance(value, int) and not isinstance(value, bool):
        return ((value, value),) * rank
    if not isinstance(value, (tuple, list)):
        raise Obscure(name)
    if rank == 1 and len(value) == 2 and all(isinstance(item, int) for item in value):
        return ((value[0], value[1]),)
    if len(value) != rank:
        raise Obscure(name)
    pairs: list[tuple[int, int]] = []
    for item in value:
        if isinstance(item, int) and not isinstance(item, bool):
            pairs.append((item, item))
        elif isinstance(item, (tuple, list)) and len(item) == 2 and all(isinstance(one, int) for one in item):
            pairs.append((item[0], item[1]))
        else:
            raise Obscure(name)
    return tuple(pairs)


def padding_by(rank: int) -> Rule:
    """ZeroPadding."""

    def rule(plan: LayerPlan, dims: Dims) -> Dims:
        pairs = _pairs(plan, "padding", rank, 1)
        require_rank(plan, dims, exact=rank + 2)
        spatial, channels = _apart(plan, dims)
        grown = tuple(
            dim + sum(pair) if isinstance(dim, int) else dim for dim, pair in zip(spatial, pairs, strict=True)
        )
        return _together(plan, dims[0], grown, channels)

    return rule


def cropping_by(rank: int) -> Rule:
    """Cropping."""

    def rule(plan: LayerPlan, dims: Dims) -> Dims:
        pairs = _pairs(plan, "cropping", rank, 0 if rank == 2 else 1)
        require_rank(plan, dims, exact=rank + 2)
        spatial, channels = _apart(plan, dims)
        cropped: list[Dim] = []
        for dim, pair in zip(spatial, pairs, strict=True):
            if isinstance(dim, int) and sum(pair) >= dim:
                raise Refused(
                    "ValueError",
                    f"Values in `cropping` should be smaller than the corresponding axis of the input. "
                    f"Received: input_shape={shown(dims)}, cropping={pairs}",
                )
            cropped.append(dim - sum(pair) if isinstance(dim, int) else dim)
        return _together(plan, dims[0], tuple(cropped), channels)

    return rule


def upsampling(rank: int) -> Rule:
    """UpSampling."""

    def rule(plan: LayerPlan, dims: Dims) -> Dims:
        sizes = plan.sizes("size", rank, 2)
        require_rank(plan, dims, exact=rank + 2)
        spatial, channels = _apart(plan, dims)
        grown = tuple(
            dim * size if isinstance(dim, int) else dim for dim, size in zip(spatial, sizes, strict=True)
        )
        return _together(plan, dims[0], grown, channels)

    return rule


SPATIAL: dict[str, Rule] = {
    **{f"Conv{rank}D": convolution(rank) for rank in (1, 2, 3)},
    **{f"Conv{rank}DTranspose": transposed(rank) for rank in (1, 2, 3)},
    **{f"SeparableConv{rank}D": separable(rank) for rank in (1, 2)},
    **{f"DepthwiseConv{rank}D": depthwise(rank) for rank in (1, 2)},
    **{f"{kind}Pooling{rank}D": pooling(rank) for kind in ("Max", "Average") for rank in (1, 2, 3)},
    **{
        f"Global{kind}Pooling{rank}D": global_pooling(rank)
        for kind in ("Max", "Average")
        for rank in (1, 2, 3)
    },
    **{f"ZeroPadding{rank}D": padding_by(rank) for rank in (1, 2, 3)},
    **{f"Cropping{rank}D": cropping_by(rank) for rank in (1, 2, 3)},
    **{f"UpSampling{rank}D": upsampling(rank) for rank in (1, 2, 3)},
}

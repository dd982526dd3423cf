"""Shape rules of Keras layers: output shapes, an error, or Unknown."""

from __future__ import annotations

from collections.abc import Callable

from fitdoctor.facts import Unknown
from fitdoctor.records import dataclass
from fitdoctor.source.models.layer_settings import (
    Dims,
    LayerPlan,
    Obscure,
    Refused,
    product,
    require_rank,
    shown,
)
from fitdoctor.source.models.parameter_counts import count

Rule = Callable[[LayerPlan, Dims], Dims]
Joined = Callable[[LayerPlan, tuple[Dims, ...]], tuple[Dims, ...]]


@dataclass(frozen=True)
class Applied:
    """The result of calling a layer."""

    outputs: tuple[Dims, ...] | Unknown = Unknown("not evident from the source")
    """One shape, or several where the layer returns several tensors."""
    refusal: Refused | None = None
    """The exception that Keras would raise instead."""
    parameters: int | Unknown = Unknown("not evident from the source")
    trainable_parameters: int | Unknown = Unknown("not evident from the source")


def apply_layer(
    plan: LayerPlan, inputs: tuple[Dims | Unknown, ...], call: frozenset[str] = frozenset()
) -> Applied:
    """Return the result of a layer on inputs of these shapes, batch axis first.

    Args:
        plan: the layer.
        inputs: one shape, or several where it was called on a list of tensors or with several of them.
        call: the names of further arguments of the call, such as `initial_state` or `return_attention_scores`.
    """
    shapes = tuple(dims for dims in inputs if not isinstance(dims, Unknown))
    if len(shapes) != len(inputs) or not shapes:
        return Applied()
    try:
        outputs = _outputs(plan, shapes, call)
    except Refused as refused:
        return Applied(refusal=refused)
    except Obscure:
        return Applied()
    total, trainable = count_parameters(plan, shapes)
    return Applied(outputs, parameters=total, trainable_parameters=trainable)


def _outputs(plan: LayerPlan, shapes: tuple[Dims, ...], call: frozenset[str]) -> tuple[Dims, ...]:
    name = plan.class_name
    if call - _HARMLESS_ARGUMENTS:
        raise Obscure("further arguments of the call")
    rule = RULES.get(name)
    if rule is None:
        from fitdoctor.source.models.merge_rules import MERGES
        from fitdoctor.source.models.sequence_rules import SEQUENCES
        from fitdoctor.source.models.spatial_rules import SPATIAL

        of_several = MERGES.get(name) or SEQUENCES.get(name) or WRAPPERS.get(name)
        if of_several is not None:
            return of_several(plan, shapes)
        rule = SPATIAL.get(name)
    if rule is None or len(shapes) != 1:
        raise Obscure(name)
    return (rule(plan, shapes[0]),)


_HARMLESS_ARGUMENTS = frozenset({"training", "mask", "attention_mask", "use_causal_mask"})


# --- layers that keep the shape -----------------------------------------------------------------------------------


def _same(plan: LayerPlan, dims: Dims) -> Dims:
    return dims


def _same_of_rank(rank: int) -> Rule:
    def rule(plan: LayerPlan, dims: Dims) -> Dims:
        require_rank(plan, dims, exact=rank)
        return dims

    return rule


def _dropout(plan: LayerPlan, dims: Dims) -> Dims:
    rate = plan.get("rate", 0.0)
    if isinstance(rate, (int, float)) and not 0 <= rate <= 1:
        raise Refused("ValueError", f"Invalid value received for argument `rate`: {rate}")
    return dims


def _normalised(plan: LayerPlan, dims: Dims) -> Dims:
    axis = plan.plain("axis", -1)
    axes = axis if isinstance(axis, (tuple, list)) else (axis,)
    for one in axes:
        if not isinstance(one, int) or not -len(dims) <= one < len(dims) or dims[one] is None:
            raise Obscure("axis")
    return dims


def _normalised_by_data(plan: LayerPlan, dims: Dims) -> Dims:
    # with axis=None there is one mean for all values, and no axis has to be known
    return dims if plan.plain("axis", -1) is None else _normalised(plan, dims)


def _group_normalised(plan: LayerPlan, dims: Dims) -> Dims:
    _normalised(plan, dims)
    channels, groups = dims[plan.whole("axis", -1)], plan.whole("groups", 32)
    if groups != -1 and isinstance(channels, int) and (channels < groups or channels % groups):
        raise Refused(
            "ValueError", f"Number of groups ({groups}) does not divide the number of channels ({channels})."
        )
    return dims


def _parametric(plan: LayerPlan, dims: Dims) -> Dims:
    # PReLU has a weight for each place that is not shared: an open axis cannot be built
    shared = plan.plain("shared_axes", None) or ()
    if any(not isinstance(dim, int) for at, dim in enumerate(dims) if at and at not in shared):
        raise Obscure("open axis")
    return dims


# --- Dense, Embedding and reshaping -------------------------------------------------------------------------------


def _dense(plan: LayerPlan, dims: Dims) -> Dims:
    units = _positive(plan, "units")
    require_rank(plan, dims, least=2)
    if dims[-1] is None:
        raise Refused(
            "ValueError", f"The last axis of the input of Dense must be defined. Full shape: {shown(dims)}"
        )
    return (*dims[:-1], units)


def _positive(plan: LayerPlan, name: str) -> int | Unknown:
    value = plan.width(name)
    if isinstance(value, int) and value <= 0:
        raise Refused("ValueError", f"`{name}` must be positive. Received: {name}={value}")
    return value


def _embedding(plan: LayerPlan, dims: Dims) -> Dims:
    return (*dims, _positive(plan, "output_dim"))


def _flatten(plan: LayerPlan, dims: Dims) -> Dims:
    if not dims:
        raise Refused("ValueError", "Flatten: expected min_ndim=1, found ndim=0")
    return (dims[0], product(dims[1:]))


def _reshape(plan: LayerPlan, dims: Dims) -> Dims:
    target = plan.plain("target_shape")
    if isinstance(target, int) or not isinstance(target, (tuple, list)):
        raise Obscure("target_shape")
    if not all(isinstance(size, int) and size >= -1 for size in target) or list(target).count(-1) > 1:
        raise Obscure("target_shape")
    return (dims[0], *reshaped(dims[1:], tuple(target)))


def reshaped(dims: Dims, target: tuple[int, ...]) -> Dims:
    """Return the shape after a reshape, with -1 resolved.

    Raises:
        Refused: the sizes do not match.
    """
    size = product(dims)
    if not isinstance(size, int):
        return tuple(size if wanted == -1 else wanted for wanted in target)
    told = product(tuple(wanted for wanted in target if wanted != -1))
    assert isinstance(told, int)
    if -1 not in target:
        if told != size:
            raise size_changed(dims, target)
        return target
    if told == 0 or size % told:
        raise size_changed(dims, target)
    return tuple(size // told if wanted == -1 else wanted for wanted in target)


def size_changed(dims: Dims, target: tuple[int, ...]) -> Refused:
    """Return the Keras error for a reshape to a different number of elements."""
    return Refused(
        "ValueError",
        f"The total size of the tensor must be unchanged. Received: input_shape={shown(dims)}, "
        f"target_shape={shown(target)}",
    )


def _permute(plan: LayerPlan, dims: Dims) -> Dims:
    order = plan.plain("dims")
    if not isinstance(order, (tuple, list)) or sorted(order) != list(range(1, len(order) + 1)):
        raise Obscure("dims")
    require_rank(plan, dims, exact=len(order) + 1)
    return (dims[0], *(dims[at] for at in order))


def _repeat(plan: LayerPlan, dims: Dims) -> Dims:
    times = plan.whole("n")
    require_rank(plan, dims, exact=2)
    return (dims[0], times, dims[1])


def _input_layer(plan: LayerPlan, dims: Dims) -> Dims:
    return dims


def _resized(plan: LayerPlan, dims: Dims) -> Dims:
    height, width = plan.whole("height"), plan.whole("width")
    if len(dims) not in (3, 4):
        raise Obscure("rank")
    if plan.channels_last():
        return (*dims[:-3], height, width, dims[-1])
    return (*dims[:-2], height, width)


def _image(plan: LayerPlan, dims: Dims) -> Dims:
    if len(dims) not in (3, 4):
        raise Obscure("rank")
    return dims


_UNCHANGED = (
    "Activation ActivityRegularization AlphaDropout ELU GaussianDropout GaussianNoise Identity "
    "LeakyReLU Masking ReLU Rescaling Softmax UnitNormalization Layer"
)
_AUGMENTATIONS = (
    "RandomBrightness RandomContrast RandomFlip RandomRotation RandomTranslation RandomZoom RandomShear "
    "RandomHue RandomSaturation RandomGrayscale RandomSharpness RandomErasing RandomGaussianBlur"
)

RULES: dict[str, Rule] = {
    **dict.fromkeys(_UNCHANGED.split(), _same),
    **dict.fromkeys(_AUGMENTATIONS.split(), _image),
    "BatchNormalization": _normalised,
    "CenterCrop": _resized,
    "Dense": _dense,
    "Dropout": _dropout,
    "Embedding": _embedding,
    "Flatten": _flatten,
    "GroupNormalization": _group_normalised,
    "InputLayer": _input_layer,
    "LayerNormalization": _normalised,
    "Normalization": _normalised_by_data,
    "PReLU": _parametric,
    "Permute": _permute,
    "RandomCrop": _resized,
    "RepeatVector": _repeat,
    "Reshape": _reshape,
    "Resizing": _resized,
    "RMSNormalization": _normalised,
    "SpatialDropout1D": _same_of_rank(3),
    "SpatialDropout2D": _same_of_rank(4),
    "SpatialDropout3D": _same_of_rank(5),
}

KEEPS_DTYPE = frozenset(
    "Flatten Reshape Permute RepeatVector Cropping1D Cropping2D Cropping3D ZeroPadding1D ZeroPadding2D "
    "ZeroPadding3D UpSampling1D UpSampling2D UpSampling3D InputLayer".split()
)
"""Layers whose output has the dtype of their input; other layers output floats."""


# --- wrappers ----------------------------------------------------------------------------------------------------


def _time_distributed(plan: LayerPlan, shapes: tuple[Dims, ...]) -> tuple[Dims, ...]:
    dims = shapes[0]
    if plan.inner is None:
        raise Obscure("layer")
    if len(dims) < 3:
        raise Refused(
            "ValueError", f"`TimeDistributed` needs an input with at least 3 axes, received: {shown(dims)}"
        )
    applied = apply_layer(plan.inner, ((dims[0], *dims[2:]),))
    if applied.refusal is not None:
        raise applied.refusal
    if not isinstance(applied.outputs, tuple) or len(applied.outputs) != 1:
        raise Obscure("layer")
    (step,) = applied.outputs
    return ((step[0], dims[1], *step[1:]),)


def _spectral(plan: LayerPlan, shapes: tuple[Dims, ...]) -> tuple[Dims, ...]:
    if plan.inner is None:
        raise Obscure("layer")
    applied = apply_layer(plan.inner, shapes)
    if applied.refusal is not None:
        raise applied.refusal
    if not isinstance(applied.outputs, tuple):
        raise Obscure("layer")
    return applied.outputs


WRAPPERS: dict[str, Joined] = {"SpectralNormalization": _spectral, "TimeDistributed": _time_distributed}


# --- weights ------------------------------------------------------------------------------------------------------


def count_parameters(plan: LayerPlan, shapes: tuple[Dims, ...]) -> tuple[int | Unknown, int | Unknown]:
    """Return the number of weights for these inputs, and of trainable ones."""
    try:
        return count(plan, shapes)
    except Obscure:
        unknown = Unknown("not evident from the source")
        return unknown, unknown


def fixed_axis(plan: LayerPlan) -> int | None:
    """Return the axis whose size is fixed by `build` and checked on every later call."""
    name = plan.class_name
    if name == "Dense":
        return -1
    if "Conv" in name and "LSTM" not in name:
        try:
            return -1 if plan.channels_last() else 1
        except Obscure:
            return None
    return None

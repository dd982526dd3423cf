"""Shape rules of recurrent layers and attention."""

from __future__ import annotations

from collections.abc import Callable

from fitdoctor.facts import Unknown
from fitdoctor.source.models.layer_settings import Dims, LayerPlan, Obscure, Refused, require_rank
from fitdoctor.source.models.spatial_rules import convolution

Rule = Callable[[LayerPlan, tuple[Dims, ...]], tuple[Dims, ...]]

_STATES = {"LSTM": 2, "GRU": 1, "SimpleRNN": 1}


def _recurrent(plan: LayerPlan, shapes: tuple[Dims, ...]) -> tuple[Dims, ...]:
    dims = _only(shapes)
    units = plan.width("units")
    if isinstance(units, int) and units <= 0:
        raise Refused("ValueError", f"Received an invalid value for argument `units`: {units}")
    require_rank(plan, dims, exact=3)
    if dims[2] is None:
        raise Obscure("features")
    if plan.flag("stateful", False) and not isinstance(dims[0], int):
        raise Obscure("stateful")
    if plan.flag("unroll", False) and not isinstance(dims[1], int):
        raise Obscure("unroll")
    output = (dims[0], dims[1], units) if plan.flag("return_sequences", False) else (dims[0], units)
    if plan.flag("return_state", False):
        return (output, *(((dims[0], units),) * _STATES[plan.class_name]))
    return (output,)


def _only(shapes: tuple[Dims, ...]) -> Dims:
    if len(shapes) != 1:
        raise Obscure("inputs")
    return shapes[0]


def _conv_recurrent(rank: int) -> Rule:
    def rule(plan: LayerPlan, shapes: tuple[Dims, ...]) -> tuple[Dims, ...]:
        dims = _only(shapes)
        require_rank(plan, dims, exact=rank + 3)
        if plan.flag("return_state", False) or plan.flag("stateful", False):
            raise Obscure("state")
        if any(not isinstance(dim, int) for dim in dims[2:]):
            raise Obscure("open axis")
        step = convolution(rank)(plan, (dims[0], *dims[2:]))
        if plan.flag("return_sequences", False):
            return ((step[0], dims[1], *step[1:]),)
        return (step,)

    return rule


def _bidirectional(plan: LayerPlan, shapes: tuple[Dims, ...]) -> tuple[Dims, ...]:
    inner = plan.inner
    if inner is None or plan.plain("backward_layer", None) is not None:
        raise Obscure("layer")
    if inner.class_name not in _STATES:
        raise Obscure("layer")
    output, *states = _recurrent(inner, shapes)
    mode = plan.plain("merge_mode", "concat")
    if mode is None:
        return (output, output, *states, *states)
    if mode == "concat":
        units = inner.width("units")
        both = (*output[:-1], units if isinstance(units, Unknown) else units * 2)
        return (both, *states, *states)
    if mode in ("sum", "mul", "ave"):
        return (output, *states, *states)
    raise Obscure("merge_mode")


def _attention(plan: LayerPlan, shapes: tuple[Dims, ...]) -> tuple[Dims, ...]:
    if len(shapes) not in (2, 3):
        raise Obscure("inputs")
    query, value = shapes[0], shapes[1]
    if not {len(query), len(value)} <= {2, 3}:
        raise Obscure("rank")
    # Keras says so for two axes too, where the batch is taken for the time (see FIT304).
    return ((*query[:-1], value[-1]),)


def _multi_head(plan: LayerPlan, shapes: tuple[Dims, ...]) -> tuple[Dims, ...]:
    if len(shapes) not in (2, 3):
        raise Obscure("inputs")
    query, value = shapes[0], shapes[1]
    if any(len(dims) != 3 or dims[-1] is None for dims in shapes):
        raise Obscure("rank")
    if plan.plain("attention_axes", None) is not None or plan.plain("output_shape", None) is not None:
        raise Obscure("settings")
    if plan.whole("num_heads") < 1 or plan.whole("key_dim") < 1:
        raise Obscure("settings")
    if plan.flag("return_attention_scores", False):
        raise Obscure("scores")
    if len(shapes) == 3 and shapes[2][1:-1] != value[1:-1]:
        raise Obscure("key")
    return (query,)


SEQUENCES: dict[str, Rule] = {
    **dict.fromkeys(_STATES, _recurrent),
    **{f"ConvLSTM{rank}D": _conv_recurrent(rank) for rank in (1, 2, 3)},
    "AdditiveAttention": _attention,
    "Attention": _attention,
    "Bidirectional": _bidirectional,
    "MultiHeadAttention": _multi_head,
}

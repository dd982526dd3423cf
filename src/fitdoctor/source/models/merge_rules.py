"""Shape rules of the layers that merge several tensors."""

from __future__ import annotations

from collections.abc import Callable

from fitdoctor.facts import Unknown
from fitdoctor.source.models.layer_settings import Dim, Dims, LayerPlan, Obscure, Refused, shown

Rule = Callable[[LayerPlan, tuple[Dims, ...]], tuple[Dims, ...]]


def _elementwise(plan: LayerPlan, shapes: tuple[Dims, ...]) -> tuple[Dims, ...]:
    if len(shapes) < 2 or any(not dims for dims in shapes):
        raise Obscure("inputs")
    _same_batch(plan, shapes)
    merged = shapes[0][1:]
    for dims in shapes[1:]:
        merged = _broadcast(merged, dims[1:], shapes)
    batches = {dims[0] for dims in shapes if dims[0] is not None}
    batch: Dim = batches.pop() if len(batches) == 1 else None
    return ((batch, *merged),)


def _same_batch(plan: LayerPlan, shapes: tuple[Dims, ...]) -> None:
    if any(isinstance(dims[0], Unknown) for dims in shapes):
        raise Obscure("batch axis")
    batches = {dims[0] for dims in shapes if dims[0] is not None}
    if len(batches) > 1:
        raise Refused("ValueError", f"Cannot merge tensors with different batch sizes. {_listed(shapes)}")


def _listed(shapes: tuple[Dims, ...]) -> str:
    return "Received shapes " + ", ".join(shown(dims) for dims in shapes)


def _broadcast(one: Dims, other: Dims, shapes: tuple[Dims, ...]) -> Dims:
    if len(one) < len(other):
        one, other = other, one
    if not other:
        return one
    merged: list[Dim] = list(one[: -len(other)])
    for left, right in zip(one[-len(other) :], other, strict=True):
        if isinstance(left, Unknown) or isinstance(right, Unknown):
            merged.append(Unknown("not evident from the source"))
        elif left is None or right is None:
            merged.append(None)
        elif left == 1 or right == 1 or left == right:
            merged.append(right if left == 1 else left)
        else:
            # Keras names the shapes of samples here.
            samples = tuple(dims[1:] for dims in shapes)
            raise Refused("ValueError", f"Inputs have incompatible shapes. {_listed(samples)}")
    return tuple(merged)


def _concatenate(plan: LayerPlan, shapes: tuple[Dims, ...]) -> tuple[Dims, ...]:
    axis = plan.whole("axis", -1)
    if len(shapes) < 2:
        raise Obscure("inputs")
    ranks = {len(dims) for dims in shapes}
    if any(not -rank <= axis < rank for rank in ranks):
        raise Obscure(
            "axis"
        )  # Keras removes that axis of each first: what it then says depends on the others
    if len(ranks) > 1:
        raise _unlike(shapes)
    rank = ranks.pop()
    at = axis % rank
    for place in range(rank):
        lengths = {dims[place] for dims in shapes if isinstance(dims[place], int)}
        if place != at and len(lengths) > 1:
            raise _unlike(shapes)
    return (tuple(_joined(shapes, place, place == at) for place in range(rank)),)


def _unlike(shapes: tuple[Dims, ...]) -> Refused:
    return Refused(
        "ValueError",
        "A `Concatenate` layer requires inputs with matching shapes except for the concatenation axis. "
        + _listed(shapes),
    )


def _joined(shapes: tuple[Dims, ...], place: int, along: bool) -> Dim:
    lengths = [dims[place] for dims in shapes]
    for length in lengths:
        if isinstance(length, Unknown):
            return length
    if not along:
        return lengths[0]
    total = 0
    for length in lengths:
        if not isinstance(length, int):
            return None
        total += length
    return total


def _dot(plan: LayerPlan, shapes: tuple[Dims, ...]) -> tuple[Dims, ...]:
    if len(shapes) != 2:
        raise Obscure("inputs")
    given = plan.plain("axes")
    pair = (
        (given, given) if isinstance(given, int) else tuple(given) if isinstance(given, (tuple, list)) else ()
    )
    if len(pair) != 2 or not all(isinstance(axis, int) for axis in pair):
        raise Obscure("axes")
    one, other = shapes
    if not all(-len(dims) <= axis < len(dims) for dims, axis in zip(shapes, pair, strict=True)):
        raise Obscure("axes")
    first, second = pair[0] % len(one), pair[1] % len(other)
    if first == 0 or second == 0 or len(one) > 3 or len(other) > 3:
        raise Obscure("axes")
    left, right = one[first], other[second]
    if not isinstance(left, int) or not isinstance(right, int):
        raise Obscure("axes")
    if left != right:
        raise Refused(
            "ValueError",
            f"Incompatible input shapes: axis values {left} (at axis {first}) != {right} (at axis {second}). "
            + _listed(shapes),
        )
    rest = (*_without(one, first), *_without(other, second)[1:])
    return (rest if len(rest) > 1 else (*rest, 1),)


def _without(dims: Dims, axis: int) -> Dims:
    return (*dims[:axis], *dims[axis + 1 :])


MERGES: dict[str, Rule] = {
    **dict.fromkeys(("Add", "Subtract", "Multiply", "Average", "Maximum", "Minimum"), _elementwise),
    "Concatenate": _concatenate,
    "Dot": _dot,
}
"""Subtract takes exactly two; Keras says so itself when it is called on more."""

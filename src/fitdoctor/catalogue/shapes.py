"""How the shape of a sample stands to the shape that the model expects."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from fitdoctor.facts import ArrayFacts, DataFacts, ModelFacts, Shape, Spec, Unknown


@dataclass(frozen=True)
class Mismatch:
    """One input whose samples do not have the expected shape."""

    array: ArrayFacts
    expected: Spec
    found_sample: Shape
    expected_sample: Shape
    kind: str
    """See `relation`."""


def relation(found: Shape, expected: Shape) -> str:
    """Name how two sample shapes differ.

    Returns:
        `same`: they fit; `permuted`: the same lengths in another order; `axis`: they differ by axes of length 1;
        `reshaped`: as many elements in other axes; `lengths`: the same rank, other lengths; `rank`: another rank.
    """
    if len(found) == len(expected) and all(map(_fits, found, expected)):
        return "same"
    lengths = [length for length in found if length != 1]
    wanted = [length for length in expected if length != 1]
    same_rank = len(found) == len(expected)
    if same_rank and None not in found and sorted(found, key=str) == sorted(expected, key=str):
        return "permuted"
    if not same_rank and len(lengths) == len(wanted) and all(map(_fits, lengths, wanted)):
        return "axis"
    if None not in found and None not in expected and size(found) == size(expected):
        return "reshaped"
    return "lengths" if same_rank else "rank"


def _fits(found: int | None, expected: int | None) -> bool:
    return found is None or expected is None or found == expected


def size(shape: Shape) -> int | None:
    """How many elements a shape holds; None when an axis is unknown."""
    return None if None in shape else math.prod(length for length in shape if length is not None)


def mismatches(model: ModelFacts, data: DataFacts) -> Iterator[Mismatch]:
    """The inputs whose samples surely do not fit the model's own `Input` specs."""
    if data.role != "training" or isinstance(model.inputs, Unknown):
        return
    forward = data.trial.forward
    if not isinstance(forward, Unknown) and forward.ok:
        return
    if len(data.x) != len(model.inputs):
        return
    for array, expected in _paired(data.x, model):
        if isinstance(array.shape, Unknown) or isinstance(expected.shape, Unknown) or not array.shape:
            continue
        kind = relation(array.shape[1:], expected.shape[1:])
        if kind != "same":
            yield Mismatch(array, expected, array.shape[1:], expected.shape[1:], kind)


def _paired(arrays: tuple[ArrayFacts, ...], model: ModelFacts) -> Iterator[tuple[ArrayFacts, Spec]]:
    assert not isinstance(model.inputs, Unknown)
    by_name = {spec.name: spec for spec in model.inputs}
    if all(array.key in by_name for array in arrays) and len(arrays) > 1:
        for array in arrays:
            yield array, by_name[array.key]
    else:
        yield from zip(arrays, model.inputs, strict=True)


def proven(data: DataFacts) -> bool:
    """Whether the abstract forward pass raised."""
    forward = data.trial.forward
    return not isinstance(forward, Unknown) and not forward.ok

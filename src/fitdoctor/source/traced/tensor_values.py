"""Abstract values in traced code: a tensor, a variable, a layer, or containers of these."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from fitdoctor.records import dataclass


@dataclass(frozen=True)
class Value:
    """What is known of a value: its kind, and the values of its parts."""

    kind: str
    """`tensor`, `some` (a tensor, or a structure of tensors), `member` (what came out of such a structure or of the user's
    own layer: a tensor by all that is done with it, but it may be a list, or a flag), `variable`, `layer` (gives one
    tensor), `own` (gives what its author wrote), `metric` (one of Keras's own), `tape`, `given` (called as a layer is),
    `parts` (a tuple or list written out), `each` (all parts alike), or "" when nothing is known."""
    parts: tuple[Value, ...] = ()


NOTHING = Value("")
TENSOR = Value("tensor")
VARIABLE = Value("variable")
LAYER = Value("layer")
OWN = Value("own")
METRIC = Value("metric")
TAPE = Value("tape")
TENSORS = Value("each", (TENSOR,))
SOME = Value("some")
MEMBER = Value("member")
LAYERS = Value("each", (LAYER,))

NUMERIC = frozenset(("tensor", "variable", "some", "member"))
"""Kinds that computing with gives a tensor."""

Env = dict[str, Value]


def join(first: Value, second: Value) -> Value:
    """What holds of a value that may be either."""
    if first == second:
        return first
    if all(value in (MEMBER, TENSOR) for value in (first, second)):
        return MEMBER
    if all(value in (SOME, MEMBER, TENSOR, TENSORS) for value in (first, second)):
        return SOME
    if first.kind == second.kind == "parts" and len(first.parts) == len(second.parts):
        return Value("parts", tuple(join(a, b) for a, b in zip(first.parts, second.parts, strict=True)))
    if first.kind in ("parts", "each") and second.kind in ("parts", "each"):
        return each((*first.parts, *second.parts))
    return NOTHING


def each(parts: Iterable[Value]) -> Value:
    """A container of which only what all parts share is known."""
    joined: Value | None = None
    for part in parts:
        joined = part if joined is None else join(joined, part)
    return NOTHING if joined is None or joined == NOTHING else Value("each", (joined,))


def part(value: Value, key: object) -> Value:
    """The part of a value at a key; None where the key is not known."""
    if value.kind == "tensor" and isinstance(key, str):
        return SOME  # what a layer gave was a dict, then
    if value.kind in ("some", "member"):
        return MEMBER
    if value.kind in NUMERIC:
        return TENSOR
    if value.kind == "each":
        return value.parts[0]
    if value.kind == "parts":
        if isinstance(key, int) and not isinstance(key, bool):
            return value.parts[key] if -len(value.parts) <= key < len(value.parts) else NOTHING
        joined = each(value.parts)
        return joined.parts[0] if joined.parts else NOTHING
    return NOTHING


def item(value: Value) -> Value:
    """What a loop over a value gives: of a dict it would be the keys."""
    return NOTHING if value in (SOME, MEMBER) else part(value, None)


def arithmetic(operator: ast.operator, left: Value, right: Value) -> Value:
    """What an operator gives; the sum of two lists is a list."""
    kinds = {left.kind, right.kind}
    if isinstance(operator, ast.Add) and kinds & {"some", "member"} and not kinds & {"tensor", "variable"}:
        return MEMBER
    if left.kind in NUMERIC or right.kind in NUMERIC:
        return TENSOR
    if left.kind in ("parts", "each") and right.kind in ("parts", "each"):
        return each((*left.parts, *right.parts))
    return NOTHING


def merge(first: Env | None, second: Env | None) -> Env | None:
    """What is known where two ways meet."""
    if first is None:
        return second
    if second is None:
        return first
    return {name: join(value, second[name]) for name, value in first.items() if name in second}


def holds_tensor(value: Value) -> bool:
    """Whether it is a tensor or has one among its parts."""
    if value.kind in ("tensor", "some", "member"):
        return True
    return value.kind in ("parts", "each") and any(holds_tensor(part) for part in value.parts)

"""Draws frozen dataclasses from their annotations, so that a new field is tested without a new line here."""

from __future__ import annotations

import dataclasses
import enum
import types
import typing
from typing import Any

from hypothesis import strategies as st

_SCALARS: dict[Any, st.SearchStrategy[Any]] = {
    str: st.text(max_size=12),
    int: st.integers(-(2**40), 2**40),
    bool: st.booleans(),
    float: st.floats(allow_nan=False),
    type(None): st.none(),
}


def drawn(annotation: Any, depth: int = 4) -> st.SearchStrategy[Any]:
    """A strategy for an annotation; nesting ends at `depth`."""
    if annotation in _SCALARS:
        return _SCALARS[annotation]
    origin = typing.get_origin(annotation)
    arguments = typing.get_args(annotation)
    if origin in (typing.Union, types.UnionType):
        choices = [drawn(choice, depth) for choice in arguments if depth > 0 or not _deep(choice)]
        return st.one_of(choices)
    if origin is tuple:
        if arguments[-1] is Ellipsis:
            most = 2 if depth > 0 or not _deep(arguments[0]) else 0
            return st.lists(drawn(arguments[0], depth - 1), max_size=most).map(tuple) if most else st.just(())
        return st.tuples(*(drawn(item, depth - 1) for item in arguments))
    if isinstance(annotation, type) and issubclass(annotation, enum.Enum):
        return st.sampled_from(list(annotation))
    if dataclasses.is_dataclass(annotation):
        return st.deferred(lambda: _object(annotation, depth))
    raise TypeError(f"cannot draw {annotation!r}")


def _object(cls: Any, depth: int) -> st.SearchStrategy[Any]:
    hints = typing.get_type_hints(cls)
    fields = {field.name: drawn(hints[field.name], depth - 1) for field in dataclasses.fields(cls)}
    return st.builds(cls, **fields)


def _deep(annotation: Any) -> bool:
    """Whether drawing it goes on downwards; `Unknown` holds no more than a sentence."""
    if dataclasses.is_dataclass(annotation):
        return getattr(annotation, "KIND", "") != "unknown"
    return any(_deep(argument) for argument in typing.get_args(annotation))

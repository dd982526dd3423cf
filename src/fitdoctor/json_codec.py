"""Frozen dataclasses to JSON-ready values and back, driven by their annotations."""

from __future__ import annotations

import dataclasses
import enum
import functools
import math
import types
import typing
from typing import Any, TypeVar

T = TypeVar("T")

_SPECIAL_FLOATS = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}


def to_plain(value: Any) -> Any:
    """Turn a dataclass, enum, tuple or scalar into what `json.dumps` takes."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        plain = {field.name: to_plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
        kind = getattr(value, "KIND", None)
        return {"kind": kind, **plain} if kind else plain
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, (tuple, list)):
        return [to_plain(item) for item in value]
    if isinstance(value, dict):
        return {str(key): to_plain(item) for key, item in value.items()}
    if isinstance(value, float) and not math.isfinite(value):
        # JSON has no NaN: a strict reader must be able to read what we write.
        return {"kind": "float", "value": repr(value)}
    return value


def from_plain(annotation: type[T], value: Any) -> T:
    """Build `annotation` from what `to_plain` made.

    Raises:
        ValueError: the value does not have the shape that the annotation asks for.
    """
    built = _build(annotation, value)
    return typing.cast(T, built)


def _build(annotation: Any, value: Any) -> Any:
    origin = typing.get_origin(annotation)
    if annotation is Any:
        return value
    if origin in (typing.Union, types.UnionType):
        return _build_union(typing.get_args(annotation), value)
    if origin is tuple:
        return _build_tuple(typing.get_args(annotation), value)
    if dataclasses.is_dataclass(annotation):
        return _build_dataclass(typing.cast(type, annotation), value)
    if isinstance(annotation, type) and issubclass(annotation, enum.Enum):
        return annotation(value)
    if annotation is float:
        return _build_float(value)
    if annotation in (None, type(None)):
        if value is not None:
            raise ValueError(f"expected null, found {type(value).__name__}")
        return None
    if annotation in (str, int, bool):
        if not isinstance(value, annotation) or (annotation is int and isinstance(value, bool)):
            raise ValueError(f"expected {annotation.__name__}, found {type(value).__name__}")
        return value
    raise ValueError(f"cannot read a value of type {annotation!r}")


def _build_float(value: Any) -> float:
    if isinstance(value, dict) and value.get("kind") == "float":
        return _SPECIAL_FLOATS[value["value"]]
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ValueError(f"expected a number, found {type(value).__name__}")
    return float(value)


def _build_union(choices: tuple[Any, ...], value: Any) -> Any:
    if isinstance(value, dict) and "kind" in value:
        for choice in choices:
            if getattr(choice, "KIND", None) == value["kind"]:
                return _build(choice, value)
    for choice in choices:
        if getattr(choice, "KIND", None):
            continue
        if choice is float and isinstance(value, int) and int in choices:
            continue
        try:
            return _build(choice, value)
        except (ValueError, KeyError, TypeError):
            continue
    raise ValueError(f"no reading of {type(value).__name__} fits")


def _build_tuple(items: tuple[Any, ...], value: Any) -> tuple[Any, ...]:
    if not isinstance(value, list):
        raise ValueError(f"expected a list, found {type(value).__name__}")
    if len(items) == 2 and items[1] is Ellipsis:
        return tuple(_build(items[0], item) for item in value)
    if len(items) != len(value):
        raise ValueError(f"expected {len(items)} items, found {len(value)}")
    return tuple(_build(item, each) for item, each in zip(items, value, strict=True))


def _build_dataclass(cls: type, value: Any) -> Any:
    if not isinstance(value, dict):
        raise ValueError(f"expected an object for {cls.__name__}, found {type(value).__name__}")
    kind = getattr(cls, "KIND", None)
    if kind and value.get("kind") != kind:
        raise ValueError(f"not a {cls.__name__}")
    hints = _hints(cls)
    arguments = {
        field.name: _build(hints[field.name], value[field.name])
        for field in dataclasses.fields(cls)
        if field.name in value
    }
    return cls(**arguments)


@functools.cache
def _hints(cls: type) -> dict[str, Any]:
    return typing.get_type_hints(cls)

"""Aspects of data that a finding is about (rank, dtype, NaN, …), read from a living value without changing it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

MOST_ITEMS = 200_000
"""A list with more elements is judged by its first ones."""
_TEXT_KINDS = "OUS"


def is_data(value: Any) -> bool:
    """Whether a value is an array, a table, an eager tensor or a list: something with rows."""
    kind = type(value)
    if kind in (list, tuple):
        return True
    root = kind.__module__.partition(".")[0]
    if root == "numpy":
        return kind.__name__ in ("ndarray", "memmap", "MaskedArray")
    if root == "pandas":
        return kind.__name__ in ("DataFrame", "Series", "Index", "RangeIndex", "Categorical")
    return kind.__name__ == "EagerTensor"


def is_dataset(value: Any) -> bool:
    """Whether a value is a `tf.data.Dataset`: it passes data on, and has no rows to look at."""
    return any(base.__name__ == "DatasetV2" for base in type(value).__mro__)


def aspect_of(value: Any, name: str) -> Any:
    """Return one aspect of a value; None where the value has no such aspect."""
    try:
        return ASPECTS[name](value)
    # The user's objects may raise anything; an aspect that cannot be read is unknown.
    except Exception:
        return None


def _array(value: Any) -> Any:
    numpy: Any = sys.modules["numpy"]
    if type(value) in (list, tuple):
        return numpy.asarray(value[:MOST_ITEMS])
    return value.numpy() if hasattr(value, "numpy") and not hasattr(value, "iloc") else numpy.asarray(value)


def _shape(value: Any) -> tuple[int, ...]:
    if type(value) in (list, tuple):
        inner = _shape(value[0]) if value and is_data(value[0]) else ()
        return (len(value), *inner)
    return tuple(int(size) for size in value.shape)


def _rank(value: Any) -> int:
    return len(_shape(value))


def _width(value: Any) -> tuple[int, ...]:
    return _shape(value)[1:]


def _rows(value: Any) -> int:
    return _shape(value)[0]


def _columns(value: Any) -> list[Any]:
    """Return the columns of a table, or the value itself."""
    if type(value).__name__ == "DataFrame":
        return [value.iloc[:, index] for index in range(value.shape[1])]
    return [value]


def _non_finite(value: Any) -> bool | None:
    numpy: Any = sys.modules["numpy"]
    if type(value) in (list, tuple) and any(type(item) is str for item in value[:20]):
        return None
    for column in _columns(value):
        found = _array(column)
        if found.dtype.kind in "fc" and not bool(numpy.isfinite(found).all()):
            return True
        pandas: Any = sys.modules.get("pandas")
        if found.dtype.kind in "OMm" and pandas is not None and bool(pandas.isna(found).any()):
            return True
    return False


def _holds_objects(value: Any) -> bool:
    """Whether it holds text, None or rows of several lengths, where a model needs numbers."""
    if type(value) in (list, tuple):
        return _list_holds_objects(value)
    for column in _columns(value):
        dtype = column.dtype
        if getattr(dtype, "kind", "O") in _TEXT_KINDS or str(dtype) in ("string", "str", "category"):
            return True
    return False


def _list_holds_objects(value: Any) -> bool:
    items = value[:500]
    lengths = {len(item) for item in items if is_data(item) and _rank(item)}
    if len(lengths) > 1:
        return True
    return any(map(_is_object, items))


def _is_object(item: Any) -> bool:
    if is_data(item):
        return _holds_objects(item)
    dtype = getattr(item, "dtype", None)
    if dtype is None:
        return not isinstance(item, (int, float, complex))
    return getattr(dtype, "kind", "f") in _TEXT_KINDS


def _dtype(value: Any) -> str:
    return str(_array(value).dtype)


def _numbers(value: Any) -> Any:
    found = _array(value)
    return found if found.size and found.dtype.kind in "fiub" else None


def _extremes(value: Any) -> tuple[float, float] | None:
    if type(value).__name__ == "DataFrame":
        return None  # the range of a whole table is not that of its labels
    found = _numbers(value)
    return None if found is None else (float(found.min()), float(found.max()))


def _fractions(value: Any) -> bool | None:
    if type(value).__name__ == "DataFrame":
        return None
    found = _numbers(value)
    if found is None:
        return None
    return found.dtype.kind == "f" and bool((found[found == found] % 1 != 0).any())


def _empty(value: Any) -> bool:
    return 0 in _shape(value)[:1]


def _is_list(value: Any) -> bool:
    return type(value) in (list, tuple)


ASPECTS: dict[str, Callable[[Any], Any]] = {
    "non-finite": _non_finite,
    "objects": _holds_objects,
    "dtype": _dtype,
    "rank": _rank,
    "shape": _width,
    "rows": _rows,
    "range": _extremes,
    "fractions": _fractions,
    "empty": _empty,
    "list": _is_list,
}
"""By the name that a cause gives as its `aspect`."""


def same_aspect(name: str, wanted: Any, found: Any) -> bool:
    """Whether a value earlier on the path has the aspect of the value that reached `fit`."""
    if found is None or wanted is None:
        return False
    if name == "range":
        # Labels that start at 1 show it in any part of them; otherwise the largest one is too large.
        index = 0 if wanted[0] != 0 else 1
        return bool(wanted[index] == found[index])
    return bool(wanted == found)

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


def is_scalar(value: Any) -> bool:
    """Whether a value is a single number, or None."""
    return value is None or isinstance(value, (int, float))


def aspect_of(value: Any, name: str) -> Any:
    """Return one aspect of a value; None where the value has no such aspect."""
    try:
        if isinstance(value, dict):
            value = list(value.values())
            if not all(map(is_scalar, value)):
                return None
        return ASPECTS[name](value)
    # The user's objects may raise anything; an aspect that cannot be read is unknown.
    except Exception:
        return None


def _array(value: Any) -> Any:
    numpy: Any = sys.modules["numpy"]
    if type(value) in (list, tuple):
        return numpy.asarray(value[:MOST_ITEMS])
    return value.numpy() if hasattr(value, "numpy") and not hasattr(value, "iloc") else numpy.asarray(value)


def _shape(value: Any) -> tuple[int, ...] | None:
    """Return the shape of an array; a table has more columns than a model needs, and of a list the elements count."""
    if type(value).__name__ == "DataFrame":
        return None
    if type(value) in (list, tuple):
        return None if any(map(is_data, value[:1])) else (len(value),)
    return tuple(int(size) for size in value.shape)


def _length(value: Any) -> int:
    return len(value) if type(value) in (list, tuple) else int(value.shape[0])


def _by_column(value: Any, aspect: Callable[[Any], Any]) -> Any:
    """Return an aspect of anything but a table; of a table, those of its columns that have it."""
    if type(value).__name__ == "DataFrame":
        found = ((name, aspect(value.iloc[:, index])) for index, name in enumerate(value.columns))
        return {name: each for name, each in found if each}
    return aspect(value)


def _non_finite(value: Any) -> Any:
    if type(value) in (list, tuple) and any(type(item) is str for item in value[:20]):
        return None
    return _by_column(value, _is_non_finite)


def _is_non_finite(value: Any) -> bool:
    numpy: Any = sys.modules["numpy"]
    found = _array(value)
    if found.dtype.kind in "fc":
        return not bool(numpy.isfinite(found).all())
    pandas: Any = sys.modules.get("pandas")
    return found.dtype.kind in "OMm" and pandas is not None and bool(pandas.isna(found).any())


def _holds_objects(value: Any) -> Any:
    """Whether it holds text, None or rows of several lengths, where a model needs numbers."""
    if type(value) in (list, tuple):
        return _list_holds_objects(value)
    return _by_column(value, _is_of_objects)


def _is_of_objects(column: Any) -> bool:
    dtype = column.dtype
    return getattr(dtype, "kind", "O") in _TEXT_KINDS or str(dtype) in ("string", "str", "category")


def _list_holds_objects(value: Any) -> bool:
    """Whether a list of numbers holds something else, too. Text alone, and rows of several lengths, are in order."""
    items = value[:MOST_ITEMS]
    rows = [item for item in items if type(item) in (list, tuple)]
    if rows:
        return any(map(_list_holds_objects, rows))
    numbers = sum(isinstance(item, (int, float, complex)) or hasattr(item, "dtype") for item in items)
    return 0 < numbers < len(items)


def _dtype(value: Any) -> str | None:
    return None if type(value) in (list, tuple) else str(_array(value).dtype)


def _numbers(value: Any) -> Any:
    found = _array(value)
    return found if found.size and found.dtype.kind in "fiub" else None


def _range(value: Any) -> Any:
    return _by_column(value, _extremes)


def _scale(value: Any) -> tuple[float, float] | None:
    return None if type(value).__name__ == "DataFrame" else _extremes(value)


def _extremes(value: Any) -> tuple[float, float] | None:
    found = _numbers(value)
    return None if found is None else (float(found.min()), float(found.max()))


def _scales(value: Any) -> tuple[int, float, float] | None:
    found = _extremes(value)
    return None if found is None else (_length(value), *found)


def _fractions(value: Any) -> Any:
    return _by_column(value, _has_fractions)


def _has_fractions(value: Any) -> bool | None:
    found = _numbers(value)
    if found is None:
        return None
    return bool(found.dtype.kind == "f" and (found[found == found] % 1 != 0).any())


def _own_scale(value: Any) -> Any:
    """Whether the values have a scale of their own, as a scaler leaves the rows that it was fitted to."""
    if type(value) in (list, tuple):
        return None
    return _by_column(value, _has_own_scale)


def _has_own_scale(value: Any) -> bool:
    from fitdoctor.collect.statistics import own_scale

    found = _array(value)
    return bool(own_scale(found if found.ndim in (2, 3) else found.reshape(len(found), -1)))


def _empty(value: Any) -> bool:
    return _length(value) == 0


def _is_list(value: Any) -> bool:
    return type(value) in (list, tuple)


ASPECTS: dict[str, Callable[[Any], Any]] = {
    "non-finite": _non_finite,
    "objects": _holds_objects,
    "dtype": _dtype,
    "rank": _shape,
    "shape": _shape,
    "rows": _length,
    "split": _length,
    "range": _range,
    "scale": _scale,
    "scales": _scales,
    "fractions": _fractions,
    "own-scale": _own_scale,
    "empty": _empty,
    "list": _is_list,
}
"""By the name that a cause gives as its `aspect`. Of tables, some give a dict of the columns that have it."""


def same_aspect(name: str, wanted: Any, found: Any, *, sample: bool = False, part: bool = False) -> bool:
    """Whether a value earlier on the path has the aspect of the value that reached `fit`.

    Args:
        name: the aspect.
        wanted: what the value has that reached `fit`: its number of axes, the lengths of those behind the first, …
        found: the earlier value's.
        sample: the earlier value is a single sample.
        part: what reached `fit` is a part of the earlier value, which may have a larger range.
    """
    if found is None or wanted is None:
        return False
    if name == "rank":
        return bool(len(found) == wanted - sample)
    if name == "shape":
        return list(found if sample else found[1:]) == list(wanted)
    if name in ("range", "scale"):
        return _same_range(wanted, found, part)
    return bool(wanted == found)


def _same_range(wanted: Any, found: Any, part: bool) -> bool:
    """Whether values lie beyond the same end of their range."""
    low, high = wanted
    if low < 0:
        return bool(found[0] <= low if part else _is_near(found[0], low))
    same_high = bool(found[1] >= high if part else _is_near(found[1], high))
    return same_high and (low == 0 or found[0] > 0)


def _is_near(number: float, other: float) -> bool:
    """Whether two numbers are the same but for a conversion to float32."""
    return abs(number - other) <= 1e-6 * abs(other)

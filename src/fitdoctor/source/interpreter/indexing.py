"""Evaluates `array[key]`: slices, integers, new axes, masks and index arrays."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from fitdoctor.facts import Unknown
from fitdoctor.source.data.arrays import SIZES, is_whole, known_dims, likely_size
from fitdoctor.source.interpreter.values import UNTOLD, Array, Bounds, Items, Plain, Span, Value
from fitdoctor.source.models.layer_settings import Dim, Dims


def index_dims(dims: Dims, key: Value) -> tuple[Dims, bool] | None:
    """Return the shape of `array[key]`, and whether it keeps all values in order; None if unknown."""
    keys = list(key.items) if isinstance(key, Items) else [key]
    takes = sum(0 if _is_new_axis(one) or _is_ellipsis(one) else _axes_taken(one) for one in keys)
    if takes > len(dims) or sum(_is_ellipsis(one) for one in keys) > 1:
        return None
    if not any(_is_ellipsis(one) for one in keys):
        keys.append(Plain(Ellipsis))
    return _walk(dims, keys, len(dims) - takes)


def _walk(dims: Dims, keys: Sequence[Value], spare: int) -> tuple[Dims, bool] | None:
    made: list[Dim] = []
    advanced: list[Dims] = []
    place = 0
    whole_view = True
    for key in keys:
        if _is_ellipsis(key):
            made.extend(dims[place : place + spare])
            place += spare
        elif _is_new_axis(key):
            made.append(1)
        elif isinstance(key, Span):
            length, untouched = _sliced(dims[place], key)
            if isinstance(length, Unknown) and place == 1 and len(dims) == 2:
                length = columns_named(key)
            made.append(length)
            whole_view = whole_view and untouched
            place += 1
        elif is_whole(key):
            whole_view = False
            place += 1
        elif isinstance(key, Array) and known_dims(key) is not None:
            picked = known_dims(key) or ()
            whole_view = False
            if advanced or not picked:
                return None
            taken = _axes_taken(key)
            advanced.append(picked)
            made.extend((UNTOLD,) if key.dtype == "bool" else picked)
            if isinstance(key.dtype, Unknown):
                # a mask selects as many as are true, an index array as many as it has
                made[-len(picked) :] = (UNTOLD,) * len(picked)
                if len(picked) > 1:
                    return None
            place += taken
        else:
            return None
    return tuple(made), whole_view


def _axes_taken(key: Value) -> int:
    if isinstance(key, Array) and key.dtype == "bool" and key.rank:
        return key.rank
    return 1


def _is_ellipsis(key: Value) -> bool:
    return isinstance(key, Plain) and key.value is Ellipsis


def _is_new_axis(key: Value) -> bool:
    return isinstance(key, Plain) and key.value is None


def _sliced(dim: Dim, span: Span) -> tuple[Dim, bool]:
    """Return the length of a slice, and whether it keeps everything."""
    ends = (span.start, span.stop, span.step)
    if all(isinstance(end, Plain) and end.value is None for end in ends):
        return dim, True
    if any(not (isinstance(end, Plain) and (end.value is None or is_whole(end))) for end in ends):
        return (UNTOLD if span.width is None else span.width), False
    start, stop, step = (end.value for end in ends if isinstance(end, Plain))
    if step == 0:
        return UNTOLD, False
    if isinstance(dim, int):
        return len(range(dim)[start:stop:step]), False
    return UNTOLD, False


def columns_named(span: Span) -> Dim:
    """Return the number of columns that `table[:, 0:8]` names, assuming that the table has them."""
    ends = [end.value for end in (span.start, span.stop) if isinstance(end, Plain) and is_whole(end)]
    plain = len(ends) == 2 and span.step == Plain(None) and 0 <= ends[0] < ends[1]
    return ends[1] - ends[0] if plain else UNTOLD


def index(array: Array, key: Value) -> Value:
    """`array[key]`."""
    dims = known_dims(array)
    if dims is None:
        return Array(dtype=array.dtype, container=array.container, buffer=array.buffer)
    walked = index_dims(dims, key)
    if walked is None:
        return Array(dtype=array.dtype, container=array.container, buffer=array.buffer)
    made, whole_view = walked
    single = is_whole(key) and len(dims) == 1 and array.numbers is not None
    if (
        single
        and isinstance(key, Plain)
        and -len(array.numbers or ()) <= key.value < len(array.numbers or ())
    ):
        return Plain(_number(array, key.value))
    advanced = any(isinstance(one, Array) for one in (key.items if isinstance(key, Items) else (key,)))
    values = array.numbers if whole_view else None
    if values is None and array.numbers is not None and isinstance(key, Span):
        values = _sliced_numbers(array, key, dims)
    return Array(
        made,
        array.dtype,
        container="numpy.ndarray" if array.container == "pandas.DataFrame" else array.container,
        bounds=_kept_bounds(array, made, whole_view),
        numbers=values,
        unit_rows=array.unit_rows and len(made) >= 2 and made[-1] == dims[-1],
        fractions=array.fractions and array.columns is None,
        buffer=0 if advanced else array.buffer,
    )


def _number(array: Array, at: int) -> float | int:
    number = (array.numbers or ())[at]
    return int(number) if array.dtype in SIZES else number


def _sliced_numbers(array: Array, key: Span, dims: Dims) -> tuple[float, ...] | None:
    ends = [end.value for end in (key.start, key.stop, key.step) if isinstance(end, Plain)]
    if len(ends) != 3 or not all(isinstance(dim, int) for dim in dims):
        return None
    width = prod(dim for dim in dims[1:] if isinstance(dim, int))
    rows = range(dims[0] if isinstance(dims[0], int) else 0)[slice(*ends)]
    numbers = array.numbers or ()
    return tuple(number for row in rows for number in numbers[row * width : (row + 1) * width])


def _kept_bounds(array: Array, made: Dims, whole_view: bool) -> Bounds | None:
    """Keep the range of random numbers if the selected part is large enough."""
    bounds = array.bounds
    if bounds is None or whole_view:
        return bounds
    size = prod(dim for dim in made if isinstance(dim, int))
    enough = all(isinstance(dim, int) for dim in made) and bounds.integral and not bounds.complete
    return bounds if enough and size >= likely_size(bounds) else None

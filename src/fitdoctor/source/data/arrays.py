"""What NumPy does to shapes, types and ranges: indexing, reshaping, broadcasting, reducing, joining."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from fitdoctor.facts import Unknown
from fitdoctor.records import replace
from fitdoctor.source.interpreter.joining import join_dim
from fitdoctor.source.interpreter.values import UNTOLD, Array, Bounds, Items, Plain, Symbolic, Value
from fitdoctor.source.models.layer_rules import reshaped
from fitdoctor.source.models.layer_settings import Dim, Dims, Refused

MOST_NUMBERS = 4096
"""Written-out arrays are followed value by value up to this size."""

SIZES = {"int8": 1, "int16": 2, "int32": 4, "int64": 8, "uint8": 1, "uint16": 2, "uint32": 4, "uint64": 8}
FLOATS = ("float16", "float32", "float64")


def known_dims(array: Array | Symbolic) -> Dims | None:
    """The shape when the rank is told."""
    return None if isinstance(array.dims, Unknown) else array.dims


def is_whole(value: Value | None) -> bool:
    """Whether it is a told whole number."""
    return isinstance(value, Plain) and isinstance(value.value, int) and not isinstance(value.value, bool)


def whole(value: Value | None) -> int | None:
    """The whole number that a value is."""
    if isinstance(value, Plain) and isinstance(value.value, int) and not isinstance(value.value, bool):
        return value.value
    return None


def dim_of(value: Value) -> Dim:
    """An axis length from a value."""
    if isinstance(value, Plain) and value.value is None:
        return None
    number = whole(value)
    return UNTOLD if number is None else number


def value_of(dim: Dim) -> Value:
    """An axis length as a value."""
    return UNTOLD if isinstance(dim, Unknown) else Plain(dim)


def shape_value(array: Array | Symbolic) -> Value:
    """`array.shape`."""
    return UNTOLD if isinstance(array.dims, Unknown) else Items(tuple(value_of(dim) for dim in array.dims))


# --- literals -------------------------------------------------------------------------------------------------------


def literal_array(items: Sequence[Value], dtype: str | Unknown = UNTOLD) -> Array:
    """`np.array([…])` of evaluated items: numbers, nested sequences, or arrays."""
    if not items:
        return Array((0,), dtype if isinstance(dtype, str) else "float64")
    if all(isinstance(item, Plain) for item in items):
        return _of_plain([item.value for item in items if isinstance(item, Plain)], dtype)
    rows = [literal_array(item.items) if isinstance(item, Items) else item for item in items]
    arrays = [row for row in rows if isinstance(row, Array)]
    if len(arrays) != len(rows):
        return Array(dtype=dtype)
    return _stacked_rows(arrays, dtype)


def _of_plain(values: list[object], dtype: str | Unknown) -> Array:
    kinds = {type(value) for value in values}
    natural: str | Unknown = UNTOLD
    if kinds <= {bool}:
        natural = "bool"
    elif kinds <= {bool, int}:
        natural = "int64"
    elif kinds <= {bool, int, float}:
        natural = "float64"
    elif kinds <= {str}:
        natural = "str"
    numbers = None
    if kinds <= {bool, int, float} and len(values) <= MOST_NUMBERS:
        numbers = tuple(float(value) for value in values)  # type: ignore[arg-type]
    different = len(set(values)) if natural in ("str", "int64", "bool") else None
    made = Array((len(values),), natural, numbers=numbers, kinds=different)
    return cast(made, dtype) if isinstance(dtype, str) else made


def _stacked_rows(rows: list[Array], dtype: str | Unknown) -> Array:
    shapes = [row.dims for row in rows]
    first = shapes[0]
    if isinstance(first, Unknown) or any(shape != first for shape in shapes):
        return Array(dtype=dtype)
    if any(not isinstance(dim, int) for dim in first):
        return Array(dtype=dtype)
    natural = common_dtype(row.dtype for row in rows)
    numbers: tuple[float, ...] | None = None
    if (
        all(row.numbers is not None for row in rows)
        and len(rows) * len(rows[0].numbers or ()) <= MOST_NUMBERS
    ):
        numbers = tuple(number for row in rows for number in row.numbers or ())
    bounds = join_bounds([row.bounds for row in rows])
    drawn = all(row.fractions for row in rows)
    made = Array((len(rows), *first), natural, numbers=numbers, bounds=bounds, fractions=drawn)
    return cast(made, dtype) if isinstance(dtype, str) else made


def join_bounds(parts: Sequence[Bounds | None]) -> Bounds | None:
    """The range of several arrays together."""
    told = [part for part in parts if part is not None]
    if not told or len(told) != len(parts):
        return None
    return Bounds(
        min(part.low for part in told),
        max(part.high for part in told),
        all(part.integral for part in told),
        all(part.complete for part in told),
    )


def bounds_of(array: Array) -> Bounds | None:
    """Least and largest value, from the values themselves where they are written out."""
    if array.numbers:
        finite = [number for number in array.numbers if abs(number) != float("inf") and number == number]
        if not finite:
            return None
        return Bounds(min(finite), max(finite), all(number == int(number) for number in finite), True)
    return array.bounds


def likely_size(bounds: Bounds) -> float:
    """How many draws make it all but certain (1 in 10⁸) that both ends of the range were drawn."""
    return 20 * (bounds.high - bounds.low + 1)


# --- types ----------------------------------------------------------------------------------------------------------


def common_dtype(dtypes: Iterable[str | Unknown]) -> str | Unknown:
    """The type that NumPy gives arrays of these types together."""
    result: str | Unknown | None = None
    for dtype in dtypes:
        result = dtype if result is None else _promoted(result, dtype)
    return UNTOLD if result is None else result


def _promoted(one: str | Unknown, other: str | Unknown) -> str | Unknown:
    if isinstance(one, Unknown) or isinstance(other, Unknown):
        return UNTOLD
    if one == other:
        return one
    pair = {one, other}
    if "float64" in pair and pair <= {*SIZES, *FLOATS, "bool"}:
        return "float64"
    if "bool" in pair:
        rest = (pair - {"bool"}).pop()
        return rest if rest in SIZES or rest in FLOATS else UNTOLD
    if "float32" in pair:
        rest = (pair - {"float32"}).pop()
        if rest in SIZES:
            return "float32" if SIZES[rest] <= 2 else "float64"
        return "float32" if rest == "float16" else UNTOLD
    if one in SIZES and other in SIZES and one[0] == other[0]:
        return one if SIZES[one] >= SIZES[other] else other
    if pair <= {"uint8", "int64"} or pair <= {"uint8", "int32"}:
        return (pair - {"uint8"}).pop()
    return UNTOLD


def cast(array: Array, dtype: str | Unknown) -> Array:
    """`array.astype(dtype)`: what is left of its values."""
    if dtype == "object" and (isinstance(array.dtype, Unknown) or array.dtype == "str"):
        dtype = UNTOLD  # strings perhaps: Keras takes a flat array of such objects, and no other
    to_float = isinstance(dtype, str) and dtype in FLOATS
    bounds = bounds_of(array)
    keeps = to_float or (
        isinstance(dtype, str) and bounds is not None and bounds.integral and _fits(bounds, dtype)
    )
    columns = (
        None if array.columns is None else tuple((name, cast(one, dtype)) for name, one in array.columns)
    )
    return replace(
        array,
        dtype=dtype,
        bounds=array.bounds if keeps else None,
        numbers=array.numbers if keeps else None,
        unit_rows=array.unit_rows,
        columns=columns,
        kinds=array.kinds if keeps or dtype == array.dtype or array.dtype == "str" else None,
        fractions=array.fractions and to_float,
        buffer=0,
    )


def _fits(bounds: Bounds, dtype: str) -> bool:
    if dtype not in SIZES:
        return False
    bits = 8 * SIZES[dtype]
    low, high = (0, 2**bits - 1) if dtype.startswith("u") else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    return low <= bounds.low and bounds.high <= high


# --- shape changes --------------------------------------------------------------------------------------------------


def reshape(array: Array, target: Sequence[Value]) -> Array:
    """`array.reshape(…)`."""
    sizes = [whole(size) for size in target]
    dims = known_dims(array)
    if any(size is None for size in sizes):
        made: Dims = tuple(UNTOLD if size is None or size < 0 else size for size in sizes)
        return _moved(array, made)
    plain = tuple(size for size in sizes if size is not None)
    if dims is None or plain.count(-1) > 1 or any(size < -1 for size in plain):
        return _moved(array, tuple(UNTOLD if size < 0 else size for size in plain))
    try:
        return _moved(array, _closed(reshaped(dims, plain)))
    except Refused:
        return Array(dtype=array.dtype)


def _closed(dims: Dims) -> Dims:
    # data has no axis that Keras leaves open: what is not a number is not told
    return tuple(UNTOLD if dim is None else dim for dim in dims)


def _moved(array: Array, dims: Dims | Unknown) -> Array:
    container = array.container if array.container == "tensorflow.Tensor" else "numpy.ndarray"
    return replace(array, dims=dims, columns=None, container=container, unit_rows=False)


def expand(array: Array, axis: int | None) -> Array:
    """`np.expand_dims(array, axis)`."""
    dims = known_dims(array)
    if dims is None or axis is None or not -len(dims) - 1 <= axis <= len(dims):
        return _moved(array, UNTOLD)
    at = axis % (len(dims) + 1)
    return _moved(array, (*dims[:at], 1, *dims[at:]))


def squeeze(array: Array, axis: Value | None) -> Array:
    """`np.squeeze(array, axis)`."""
    dims = known_dims(array)
    if dims is None or (axis is None and any(not isinstance(dim, int) for dim in dims)):
        return _moved(array, UNTOLD)
    if axis is None:
        return _moved(array, tuple(dim for dim in dims if dim != 1))
    at = whole(axis)
    if at is None or not -len(dims) <= at < len(dims) or dims[at] != 1:
        return _moved(array, UNTOLD)
    return _moved(array, tuple(dim for place, dim in enumerate(dims) if place != at % len(dims)))


def transpose(array: Array, order: Sequence[int] | None) -> Array:
    """`np.transpose(array, order)`."""
    dims = known_dims(array)
    if dims is None:
        return replace(_moved(array, UNTOLD), numbers=None)
    if order is None:
        order = range(len(dims))[::-1]
    if sorted(at % len(dims) for at in order) != list(range(len(dims))):
        return replace(_moved(array, UNTOLD), numbers=None)
    moved = _moved(array, tuple(dims[at] for at in order))
    return replace(moved, bounds=bounds_of(array), numbers=array.numbers if len(dims) < 2 else None)


def reduce(array: Array, axis: Value | None, keepdims: bool, dtype: str | Unknown) -> Value:
    """A sum, mean, maximum … along an axis."""
    dims = known_dims(array)
    if axis is None or (isinstance(axis, Plain) and axis.value is None):
        if keepdims:
            return UNTOLD
        return Array((), dtype, container=array.container, fractions=array.fractions and dtype in FLOATS)
    axes = [whole(one) for one in axis.items] if isinstance(axis, Items) else [whole(axis)]
    if dims is None or any(at is None or not -len(dims) <= at < len(dims) for at in axes):
        return Array(dtype=dtype, container=array.container)
    places = {at % len(dims) for at in axes if at is not None}
    kept = [
        1 if place in places else dim for place, dim in enumerate(dims) if keepdims or place not in places
    ]
    drawn = array.fractions and dtype in FLOATS
    return Array(tuple(kept), dtype, container=array.container, fractions=drawn)


def concatenate(arrays: Sequence[Array], axis: int) -> Array:
    """`np.concatenate(arrays, axis)`."""
    shapes = [known_dims(array) for array in arrays]
    told = [shape for shape in shapes if shape is not None]
    if not told or len(told) != len(shapes) or len({len(shape) for shape in told}) > 1:
        return Array(dtype=common_dtype(array.dtype for array in arrays))
    rank = len(told[0])
    if not -rank <= axis < rank:
        return Array()
    at = axis % rank
    dims: list[Dim] = []
    for place in range(rank):
        lengths = [shape[place] for shape in told]
        if place == at:
            dims.append(_total(lengths))
        else:
            dim = lengths[0]
            for other in lengths[1:]:
                dim = join_dim(dim, other)
            dims.append(dim)
    return Array(
        tuple(dims),
        common_dtype(array.dtype for array in arrays),
        container=arrays[0].container if arrays[0].container == "tensorflow.Tensor" else "numpy.ndarray",
        bounds=join_bounds([bounds_of(array) for array in arrays]),
        fractions=all(array.fractions for array in arrays),
    )


def _total(lengths: Sequence[Dim]) -> Dim:
    total = 0
    for length in lengths:
        if not isinstance(length, int):
            return UNTOLD
        total += length
    return total


def stack(arrays: Sequence[Array], axis: int) -> Array:
    """`np.stack(arrays, axis)`."""
    return concatenate([expand(array, axis) for array in arrays], axis)


# --- arithmetic -----------------------------------------------------------------------------------------------------


def broadcast(one: Dims | Unknown, other: Dims | Unknown) -> Dims | Unknown:
    """The shape of an elementwise operation; Unknown where it would raise."""
    if isinstance(one, Unknown) or isinstance(other, Unknown):
        return UNTOLD
    if len(one) < len(other):
        one, other = other, one
    padded: Dims = (*((1,) * (len(one) - len(other))), *other)
    dims: list[Dim] = []
    for left, right in zip(one, padded, strict=True):
        if left == right and not isinstance(left, Unknown):
            dims.append(left)
        elif left == 1:
            dims.append(right)
        elif right == 1:
            dims.append(left)
        elif isinstance(left, int) and isinstance(right, int):
            return UNTOLD
        elif isinstance(left, int) or isinstance(right, int):
            # the other is 1 or the same length: either way the length is this one
            dims.append(left if isinstance(left, int) else right)
        else:
            dims.append(UNTOLD)
    return tuple(dims)


def scaled(array: Array, operation: str, number: float, swapped: bool) -> Bounds | None:
    """The range after arithmetic with one number."""
    bounds = bounds_of(array)
    if (
        bounds is None
        or isinstance(array.dtype, Unknown)
        or array.dtype in ("uint8", "int8", "uint16", "bool")
    ):
        # small integers wrap around
        if not (bounds and operation == "Div" and not swapped and number):
            return None
    ends: tuple[float, float] | None = None
    if operation == "Add":
        ends = (bounds.low + number, bounds.high + number)
    elif operation == "Sub" and not swapped:
        ends = (bounds.low - number, bounds.high - number)
    elif operation == "Sub":
        ends = (number - bounds.high, number - bounds.low)
    elif operation == "Mult":
        ends = (bounds.low * number, bounds.high * number)
    elif operation == "Div" and not swapped and number:
        ends = (bounds.low / number, bounds.high / number)
    if ends is None or ends[0] != ends[0] or ends[1] != ends[1]:
        return None
    integral = bounds.integral and float(number).is_integer() and operation != "Div"
    return Bounds(min(ends), max(ends), integral, bounds.complete)

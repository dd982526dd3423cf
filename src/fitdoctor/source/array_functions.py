"""NumPy and TensorFlow functions that make or change arrays: what shape, type and range comes out."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from fitdoctor.facts import Unknown
from fitdoctor.source import arrays, objects
from fitdoctor.source.expressions import array_operation, matrix_dims
from fitdoctor.source.layer_settings import Dims, product
from fitdoctor.source.library import FUNCTIONS, handles
from fitdoctor.source.values import (
    UNTOLD,
    Arguments,
    Array,
    Bounds,
    Items,
    LayerCall,
    Named,
    Numbers,
    Plain,
    Ref,
    Symbolic,
    Value,
)

if TYPE_CHECKING:
    from fitdoctor.source.interpret import Interpreter

_DTYPES = {
    "float": "float64",
    "double": "float64",
    "single": "float32",
    "half": "float16",
    "int": "int64",
    "long": "int64",
    "f4": "float32",
    "f8": "float64",
    "i4": "int32",
    "i8": "int64",
    "bool_": "bool",
    "str_": "str",
}
_TENSOR = "tensorflow.Tensor"


def dtype_of(value: Value | None) -> str | Unknown | None:
    """The type that a `dtype=` names; None when there is none."""
    if value is None or (isinstance(value, Plain) and value.value is None):
        return None
    name = value.value if isinstance(value, Plain) else value.name if isinstance(value, Named) else None
    if not isinstance(name, str):
        return UNTOLD
    last = name.rpartition(".")[2]
    return _DTYPES.get(last, last)


def size_of(run: Interpreter, value: Value | None) -> Dims | Unknown:
    """The shape that a `size=` or `shape=` names; a missing one is a scalar's."""
    if value is None or (isinstance(value, Plain) and value.value is None):
        return ()
    number = arrays.whole(value)
    if number is not None:
        return (number,)
    items = run.sequence(value)
    if items is None:
        return UNTOLD
    dims = tuple(arrays.dim_of(item) for item in items)
    return tuple(UNTOLD if dim is None else dim for dim in dims)


def frozen(run: Interpreter, value: Value) -> Value:
    """Lists as tuples, all the way down."""
    if isinstance(value, (Ref, Items, Numbers)):
        items = run.sequence(value)
        return UNTOLD if items is None else Items(tuple(frozen(run, item) for item in items))
    return value


def to_array(run: Interpreter, value: Value | None, dtype: str | Unknown | None = None) -> Value:
    """`np.array(value, dtype)`."""
    wanted: str | Unknown = UNTOLD if dtype is None else dtype
    if isinstance(value, (Array, Symbolic)):
        if isinstance(value, Symbolic):
            return value if dtype is None else replace(value, dtype=str(dtype))
        plain = replace(value, container="numpy.ndarray", columns=None, buffer=0)
        return plain if dtype is None else arrays.cast(plain, wanted)
    if isinstance(value, Plain) and isinstance(value.value, (bool, int, float)):
        made = arrays.literal_array((value,), wanted)
        return replace(made, dims=())
    if isinstance(value, (Ref, Items, Numbers)):
        inside = frozen(run, value)
        if isinstance(inside, Items):
            return arrays.literal_array(inside.items, wanted)
    return Array(UNTOLD, wanted) if isinstance(value, Array) else UNTOLD


def _as_tensor(value: Value) -> Value:
    if isinstance(value, Array):
        dtype = value.dtype
        return replace(value, container=_TENSOR, dtype=dtype)
    return value


def through_symbolic(handler: Callable[[Interpreter, Arguments], Value]) -> Callable[[Interpreter, Arguments], Value]:
    """Let a function of arrays work on symbolic tensors too: the history goes on."""

    def wrapped(run: Interpreter, arguments: Arguments) -> Value:
        symbolic: list[Symbolic] = []

        def lowered(value: Value) -> Value:
            if isinstance(value, Symbolic):
                symbolic.append(value)
                return Array(value.dims, value.dtype, _TENSOR)
            if isinstance(value, Items):
                return Items(tuple(lowered(item) for item in value.items))
            if isinstance(value, Ref) and run.sequence(value) is not None:
                items = run.sequence(value) or ()
                if any(isinstance(item, Symbolic) for item in items):
                    return Items(tuple(lowered(item) for item in items))
            return value

        changed = replace(
            arguments,
            positional=tuple(lowered(value) for value in arguments.positional),
            keywords=tuple((name, lowered(value)) for name, value in arguments.keywords),
        )
        made = handler(run, changed)
        if not symbolic:
            return made
        if not isinstance(made, Array):
            return UNTOLD
        dtype = made.dtype if isinstance(made.dtype, str) else symbolic[0].dtype
        return Symbolic(made.dims, dtype, LayerCall(None, tuple(symbolic), run.fresh(), arguments.node))

    return wrapped


def shapes(*names: str) -> Callable[[Callable[[Interpreter, Arguments], Value]], Callable[[Interpreter, Arguments], Value]]:
    """Enter a function that works on arrays and on symbolic tensors."""

    def enter(handler: Callable[[Interpreter, Arguments], Value]) -> Callable[[Interpreter, Arguments], Value]:
        return handles(*names)(through_symbolic(handler))

    return enter


def _everywhere(name: str, tensorflow: str = "") -> tuple[str, ...]:
    """A function's name in NumPy, Keras and TensorFlow."""
    return (f"numpy.{name}", f"keras.ops.{name}", f"tensorflow.{tensorflow or name}", f"tensorflow.math.{tensorflow or name}")


def _origin(arguments: Arguments) -> str:
    """Which library the call names: for the container of the result."""
    func = arguments.node.func
    return "" if not isinstance(func, (ast.Attribute, ast.Name)) else getattr(func, "attr", getattr(func, "id", ""))


def array_argument(run: Interpreter, arguments: Arguments, *names: str) -> Array | None:
    """The first argument as an array."""
    value = arguments.positional[0] if arguments.positional else None
    for name in names:
        value = arguments.get(name) if value is None else value
    if isinstance(value, Array):
        return value
    made = to_array(run, value)
    return made if isinstance(made, Array) else None


# --- making arrays ----------------------------------------------------------------------------------------------------


def _filled(library: str, number: float | None, default: str) -> Callable[[Interpreter, Arguments], Value]:
    container = _TENSOR if library == "tensorflow" else "numpy.ndarray"

    def handler(run: Interpreter, arguments: Arguments) -> Value:
        dims = size_of(run, arguments.get("shape", 0))
        dtype = dtype_of(arguments.get("dtype", 1))
        bounds = None if number is None else Bounds(number, number, True, True)
        return Array(dims, default if dtype is None else dtype, container, bounds=bounds)

    return handler


for _library, _default in (("numpy", "float64"), ("tensorflow", "float32")):
    handles(f"{_library}.zeros")(_filled(_library, 0.0, _default))
    handles(f"{_library}.ones")(_filled(_library, 1.0, _default))
handles("numpy.empty")(_filled("numpy", None, "float64"))


@handles("numpy.full", "tensorflow.fill")
def _full(run: Interpreter, arguments: Arguments) -> Value:
    value = arguments.get("fill_value", 1) or arguments.get("value")
    dtype = dtype_of(arguments.get("dtype", 2))
    if dtype is None and isinstance(value, Plain):
        kind = type(value.value)
        dtype = {bool: "bool", int: "int64", float: "float64"}.get(kind, UNTOLD)
    bounds = None
    if isinstance(value, Plain) and isinstance(value.value, (int, float)) and math.isfinite(value.value):
        bounds = Bounds(value.value, value.value, float(value.value).is_integer(), True)
    dims = size_of(run, arguments.get("shape", 0) or arguments.get("dims"))
    return Array(dims, UNTOLD if dtype is None else dtype, bounds=bounds)


@handles("numpy.zeros_like", "numpy.ones_like", "numpy.empty_like", "numpy.full_like")
def _like(run: Interpreter, arguments: Arguments) -> Value:
    array = array_argument(run, arguments, "a")
    if array is None:
        return UNTOLD
    dtype = dtype_of(arguments.get("dtype", 1))
    return Array(array.dims, array.dtype if dtype is None else dtype)


@handles("numpy.array", "numpy.asarray", "numpy.ascontiguousarray", "numpy.asanyarray", "keras.ops.array")
def _array(run: Interpreter, arguments: Arguments) -> Value:
    value = arguments.positional[0] if arguments.positional else None
    return to_array(run, value, dtype_of(arguments.get("dtype", 1)))


@handles("tensorflow.constant", "tensorflow.convert_to_tensor", "keras.ops.convert_to_tensor", "tensorflow.Variable")
def _tensor(run: Interpreter, arguments: Arguments) -> Value:
    value = arguments.get("value", 0)
    if value is None:
        value = arguments.get("initial_value")
    dtype = dtype_of(arguments.get("dtype", 1))
    made = to_array(run, value, dtype)
    if isinstance(made, Array) and dtype is None and not isinstance(value, Array):
        # Python numbers become 32 bits wide
        narrow = {"float64": "float32", "int64": "int32", "str": "string"}
        made = replace(made, dtype=narrow.get(made.dtype, made.dtype) if isinstance(made.dtype, str) else made.dtype)
    return _as_tensor(made)


@handles("numpy.arange", "tensorflow.range")
def _arange(run: Interpreter, arguments: Arguments) -> Value:
    numbers = [value.value for value in arguments.positional if isinstance(value, Plain)]
    if len(numbers) != len(arguments.positional) or not 1 <= len(numbers) <= 3 or not arguments.complete:
        return Array((UNTOLD,))
    if set(arguments.names()) - {"dtype"} or not all(isinstance(number, (int, float)) for number in numbers):
        return Array((UNTOLD,))
    start, stop, step = (0, numbers[0], 1) if len(numbers) == 1 else (numbers[0], numbers[1], (numbers[2:] or [1])[0])
    dtype = dtype_of(arguments.get("dtype"))
    whole = all(isinstance(number, int) for number in numbers)
    if step == 0:
        return UNTOLD
    count = max(0, math.ceil((stop - start) / step))
    natural = "int64" if whole else "float64"
    made = Array((count,), natural if dtype is None else dtype)
    if whole and count:
        ends = sorted((start, start + (count - 1) * step))
        values = tuple(float(start + at * step) for at in range(count)) if count <= arrays.MOST_NUMBERS else None
        made = replace(made, bounds=Bounds(ends[0], ends[1], True, True), numbers=values)
    return made


@handles("numpy.linspace")
def _linspace(run: Interpreter, arguments: Arguments) -> Value:
    count = arguments.get("num", 2)
    length = 50 if count is None else arrays.whole(count)
    start, stop = arguments.get("start", 0), arguments.get("stop", 1)
    bounds = None
    if isinstance(start, Plain) and isinstance(stop, Plain) and arguments.get("endpoint", 3) is None and (length or 0) > 1:
        low, high = sorted((float(start.value), float(stop.value)))
        bounds = Bounds(low, high, False)
    scalar = all(isinstance(end, Plain) or (isinstance(end, Array) and end.rank == 0) for end in (start, stop))
    if not scalar or arguments.get("retstep") is not None:
        return UNTOLD
    dtype = dtype_of(arguments.get("dtype"))
    return Array((UNTOLD if length is None else length,), "float64" if dtype is None else dtype, bounds=bounds)


@handles("numpy.eye", "numpy.identity")
def _eye(run: Interpreter, arguments: Arguments) -> Value:
    count = arrays.whole(arguments.get("N", 0) or arguments.get("n"))
    columns = arguments.get("M", 1) if isinstance(arguments.get("M", 1), Plain) else None
    width = arrays.whole(columns) if columns is not None else count
    dtype = dtype_of(arguments.get("dtype"))
    rows = UNTOLD if count is None else count
    wide = UNTOLD if width is None else width
    made = Array((rows, wide), "float64" if dtype is None else dtype, bounds=Bounds(0, 1, True, True), unit_rows=True)
    return made if count is not None and (columns is None or width == count) else replace(made, unit_rows=False, bounds=None)


# --- changing shapes --------------------------------------------------------------------------------------------------


@shapes("numpy.reshape", "tensorflow.reshape", "keras.ops.reshape")
def _reshape(run: Interpreter, arguments: Arguments) -> Value:
    array = array_argument(run, arguments, "a", "tensor", "x")
    target = arguments.get("shape", 1) or arguments.get("newshape")
    items = (target,) if arrays.is_whole(target) else run.sequence(target)
    if array is None or items is None:
        return UNTOLD
    return arrays.reshape(array, [item for item in items if item is not None])


@shapes("numpy.expand_dims", "tensorflow.expand_dims", "keras.ops.expand_dims")
def _expand(run: Interpreter, arguments: Arguments) -> Value:
    array = array_argument(run, arguments, "a", "input", "x")
    return UNTOLD if array is None else arrays.expand(array, arrays.whole(arguments.get("axis", 1)))


@shapes("numpy.squeeze", "tensorflow.squeeze", "keras.ops.squeeze")
def _squeeze(run: Interpreter, arguments: Arguments) -> Value:
    array = array_argument(run, arguments, "a", "input", "x")
    return UNTOLD if array is None else arrays.squeeze(array, arguments.get("axis", 1))


@shapes("numpy.transpose", "tensorflow.transpose", "keras.ops.transpose")
def _transpose(run: Interpreter, arguments: Arguments) -> Value:
    array = array_argument(run, arguments, "a", "x")
    given = arguments.get("axes", 1) or arguments.get("perm")
    return UNTOLD if array is None else arrays.transpose(array, order_of(run, given))


def order_of(run: Interpreter, value: Value | None) -> Sequence[int] | None:
    """The order of axes; an order that is not told fits no array."""
    if value is None or (isinstance(value, Plain) and value.value is None):
        return None
    axes = [arrays.whole(item) for item in run.sequence(value) or (UNTOLD,)]
    told = [axis for axis in axes if axis is not None]
    return told if len(told) == len(axes) else (-1, -1)


@shapes("numpy.concatenate", "tensorflow.concat", "keras.ops.concatenate")
def _concatenate(run: Interpreter, arguments: Arguments) -> Value:
    return _joined(run, arguments, arrays.concatenate, 0)


@shapes("numpy.stack", "tensorflow.stack", "keras.ops.stack")
def _stack(run: Interpreter, arguments: Arguments) -> Value:
    return _joined(run, arguments, arrays.stack, 0)


def _joined(
    run: Interpreter, arguments: Arguments, join: Callable[[Sequence[Array], int], Array], default: int
) -> Value:
    value = arguments.positional[0] if arguments.positional else arguments.get("arrays") or arguments.get("values")
    parts = run.sequence(value)
    axis = arguments.get("axis", 1)
    at = default if axis is None else arrays.whole(axis)
    rows = [to_array(run, part) for part in parts or ()]
    told = [row for row in rows if isinstance(row, Array)]
    if not told or len(told) != len(rows) or at is None:
        return UNTOLD
    return join(told, at)


@handles("numpy.vstack", "numpy.row_stack")
def _vstack(run: Interpreter, arguments: Arguments) -> Value:
    parts = _parts(run, arguments)
    if parts is None:
        return UNTOLD
    rows = [arrays.expand(part, 0) if part.rank == 1 else part for part in parts]
    return arrays.concatenate(rows, 0)


@handles("numpy.hstack")
def _hstack(run: Interpreter, arguments: Arguments) -> Value:
    parts = _parts(run, arguments)
    if parts is None or any(part.rank is None for part in parts):
        return UNTOLD
    return arrays.concatenate(parts, 0 if all(part.rank == 1 for part in parts) else 1)


@handles("numpy.column_stack")
def _column_stack(run: Interpreter, arguments: Arguments) -> Value:
    parts = _parts(run, arguments)
    if parts is None or any(part.rank is None for part in parts):
        return UNTOLD
    return arrays.concatenate([arrays.expand(part, 1) if part.rank == 1 else part for part in parts], 1)


def _parts(run: Interpreter, arguments: Arguments) -> list[Array] | None:
    items = run.sequence(arguments.positional[0]) if arguments.positional else None
    rows = [to_array(run, item) for item in items or ()]
    told = [row for row in rows if isinstance(row, Array)]
    return told if told and len(told) == len(rows) else None


@handles("numpy.repeat", "numpy.tile")
def _repeat(run: Interpreter, arguments: Arguments) -> Value:
    array = array_argument(run, arguments, "a", "A")
    times = arrays.whole(arguments.get("repeats", 1) or arguments.get("reps"))
    dims = None if array is None else arrays.known_dims(array)
    if array is None or dims is None:
        return UNTOLD
    name = _origin(arguments)
    if name == "tile":
        last = dims[-1] if dims else UNTOLD
        if times is None or not isinstance(last, int):
            return Array(dtype=array.dtype)
        return Array((*dims[:-1], last * times), array.dtype, bounds=arrays.bounds_of(array))
    axis = arguments.get("axis", 2)
    if axis is None:
        size = product(dims)
        told = isinstance(size, int) and times is not None
        return Array((size * times if told else UNTOLD,), array.dtype, bounds=arrays.bounds_of(array))  # type: ignore[operator]
    at = arrays.whole(axis)
    if at is None or not -len(dims) <= at < len(dims):
        return Array(dtype=array.dtype)
    length = dims[at]
    grown = length * times if isinstance(length, int) and times is not None else UNTOLD
    at %= len(dims)
    return Array((*dims[:at], grown, *dims[at + 1 :]), array.dtype, bounds=arrays.bounds_of(array))


@shapes("tensorflow.cast", "keras.ops.cast")
def _cast(run: Interpreter, arguments: Arguments) -> Value:
    array = array_argument(run, arguments, "x")
    dtype = dtype_of(arguments.get("dtype", 1))
    if array is None:
        return UNTOLD
    return arrays.cast(array, UNTOLD if dtype is None else dtype)


@handles("numpy.swapaxes", "numpy.moveaxis", "numpy.rollaxis")
def _moved(run: Interpreter, arguments: Arguments) -> Value:
    array = array_argument(run, arguments, "a")
    dims = None if array is None else arrays.known_dims(array)
    one, other = (arrays.whole(value) for value in (*arguments.positional[1:3], UNTOLD, UNTOLD)[:2])
    if array is None or dims is None or one is None or other is None:
        return UNTOLD
    if not (-len(dims) <= one < len(dims) and -len(dims) <= other < len(dims)):
        return UNTOLD
    order = list(range(len(dims)))
    if _origin(arguments) == "swapaxes":
        order[one], order[other] = order[other], order[one]
    elif _origin(arguments) == "moveaxis":
        order.insert(other % len(dims), order.pop(one % len(dims)))
    else:
        return UNTOLD
    return arrays.transpose(array, order)


# --- elementwise functions and reductions -----------------------------------------------------------------------------

_ELEMENTWISE = (
    "abs absolute exp log log2 log10 log1p expm1 sqrt square sin cos tan tanh arctan round rint floor ceil sign "
    "clip nan_to_num cumsum isnan isfinite logical_not sinh cosh reciprocal negative"
).split()
_FLOATING = frozenset("exp log log2 log10 log1p expm1 sqrt sin cos tan tanh arctan sinh cosh".split())


def _elementwise(name: str) -> Callable[[Interpreter, Arguments], Value]:
    def handler(run: Interpreter, arguments: Arguments) -> Value:
        value = arguments.positional[0] if arguments.positional else None
        if isinstance(value, Plain):
            return UNTOLD
        array = array_argument(run, arguments, "x", "a")
        if array is None:
            return UNTOLD
        if name == "cumsum" and arguments.get("axis", 1) is None:
            return UNTOLD
        dtype: str | Unknown = array.dtype
        if name in ("isnan", "isfinite", "logical_not"):
            dtype = "bool"
        elif name in _FLOATING and dtype not in arrays.FLOATS:
            dtype = "float64" if dtype in ("int64", "int32") else UNTOLD
        elif name in ("cumsum", "sign", "negative") and dtype == "bool":
            dtype = UNTOLD
        return Array(array.dims, dtype, array.container)

    return handler


for _name in _ELEMENTWISE:
    shapes(*_everywhere(_name))(_elementwise(_name))
for _name in ("relu", "sigmoid", "softmax", "tanh", "gelu", "elu", "selu", "softplus", "log_softmax", "silu", "leaky_relu", "l2_normalize"):
    shapes(f"tensorflow.nn.{_name}", f"keras.ops.{_name}", f"keras.activations.{_name}")(_elementwise(_name))
shapes("tensorflow.sigmoid", "tensorflow.stop_gradient", "keras.ops.stop_gradient", "tensorflow.identity")(_elementwise("abs"))


def _two(op: ast.operator) -> Callable[[Interpreter, Arguments], Value]:
    def handler(run: Interpreter, arguments: Arguments) -> Value:
        if len(arguments.positional) < 2:
            return UNTOLD
        left, right = (_operand(run, value) for value in arguments.positional[:2])
        return array_operation(left, right, op)

    return handler


def _operand(run: Interpreter, value: Value) -> Value:
    return value if isinstance(value, (Array, Plain)) else to_array(run, value)


for _name, _op in (
    ("add", ast.Add()),
    ("subtract", ast.Sub()),
    ("multiply", ast.Mult()),
    ("divide", ast.Div()),
    ("maximum", ast.BitOr()),
    ("minimum", ast.BitOr()),
    ("matmul", ast.MatMult()),
    ("true_divide", ast.Div()),
):
    shapes(*_everywhere(_name))(_two(_op))


@shapes("numpy.dot")
def _dot(run: Interpreter, arguments: Arguments) -> Value:
    left, right = (_operand(run, value) for value in (*arguments.positional, UNTOLD, UNTOLD)[:2])
    if not isinstance(left, Array) or not isinstance(right, Array) or (left.rank or 3) > 2 or (right.rank or 3) > 2:
        return UNTOLD
    return Array(matrix_dims(left.dims, right.dims), arrays.common_dtype((left.dtype, right.dtype)))


@shapes("numpy.where", "tensorflow.where", "keras.ops.where")
def _where(run: Interpreter, arguments: Arguments) -> Value:
    if len(arguments.positional) != 3:
        return UNTOLD
    parts = [_operand(run, value) for value in arguments.positional]
    dims: Dims | Unknown = ()
    for part in parts:
        if isinstance(part, Array):
            dims = arrays.broadcast(dims, part.dims)
        elif not isinstance(part, Plain):
            return UNTOLD
    return Array(dims, _chosen_dtype(parts[1:]))


def _chosen_dtype(parts: Sequence[Value]) -> str | Unknown:
    if all(isinstance(part, Plain) for part in parts):
        made = arrays.literal_array(parts)
        return made.dtype
    told = [part.dtype for part in parts if isinstance(part, Array)]
    dtype = arrays.common_dtype(told)
    numbers = [part.value for part in parts if isinstance(part, Plain)]
    if isinstance(dtype, str) and any(isinstance(number, float) for number in numbers) and dtype not in arrays.FLOATS:
        return "float64" if dtype in ("int64", "int32") else UNTOLD
    return dtype


_SUMS = "sum mean std var max min amax amin prod median any all".split()


def reduction(run: Interpreter, array: Array, name: str, arguments: Arguments, first: int) -> Value:
    """A reduction such as `sum`, as a function (`first` is 1) or a method (0)."""
    axis = arguments.get("axis", first)
    keepdims = objects.truth(run, arguments.get("keepdims") or Plain(False))
    if keepdims is None:
        return UNTOLD
    if isinstance(axis, Ref):
        axis = frozen(run, axis)
    return arrays.reduce(array, axis, keepdims, _reduced_dtype(array, name))


def _reduced_dtype(array: Array, name: str) -> str | Unknown:
    if name in ("max", "min", "amax", "amin", "reduce_max", "reduce_min"):
        return array.dtype
    if name in ("any", "all"):
        return "bool"
    if array.container == _TENSOR and name not in ("argmax", "argmin"):
        return array.dtype
    if name in ("argmax", "argmin"):
        return "int64"
    if name in ("sum", "prod") and array.dtype == "bool":
        return "int64"
    if array.dtype in arrays.FLOATS:
        return array.dtype
    if name in ("sum", "prod"):
        return array.dtype if array.dtype in ("int64", "uint64") else UNTOLD
    if name in ("mean", "std", "var", "median"):
        return "float64" if array.dtype in ("int64", "int32", "uint8", "bool") else UNTOLD
    return UNTOLD


def _reducing(name: str) -> Callable[[Interpreter, Arguments], Value]:
    def handler(run: Interpreter, arguments: Arguments) -> Value:
        array = array_argument(run, arguments, "a", "input_tensor", "x")
        return UNTOLD if array is None else reduction(run, array, name, arguments, 1)

    return handler


for _name in (*_SUMS, "argmax", "argmin"):
    shapes(f"numpy.{_name}", f"keras.ops.{_name}")(_reducing(_name))
for _name in ("sum", "mean", "max", "min", "prod", "any", "all"):
    shapes(f"tensorflow.reduce_{_name}")(_reducing(_name))
shapes("tensorflow.argmax")(_reducing("argmax"))


@handles("numpy.unique", "numpy.nonzero", "numpy.flatnonzero", "numpy.argsort", "numpy.sort", "numpy.bincount")
def _unique(run: Interpreter, arguments: Arguments) -> Value:
    array = array_argument(run, arguments, "ar", "a")
    name = _origin(arguments)
    if array is not None and name in ("argsort", "sort") and arguments.get("axis", 1) is None:
        return Array(array.dims, "int64" if name == "argsort" else array.dtype)
    if name in ("unique", "flatnonzero", "bincount") and not arguments.keywords and len(arguments.positional) == 1:
        return Array((UNTOLD,), UNTOLD)
    return UNTOLD


@handles("numpy.random.shuffle")
def _shuffle(run: Interpreter, arguments: Arguments) -> Value:
    value = arguments.positional[0] if arguments.positional else None
    if isinstance(value, Array) and value.numbers is not None:
        run.state.written.add(value.buffer)
    elif isinstance(value, Ref):
        return FUNCTIONS["random.shuffle"](run, arguments)
    return Plain(None)


@handles("numpy.put", "numpy.place", "numpy.copyto", "numpy.putmask", "numpy.fill_diagonal", "numpy.add.at")
def _written(run: Interpreter, arguments: Arguments) -> Value:
    for value in arguments.positional[:1]:
        run.state.touch(value)
    return Plain(None)


@handles("numpy.pad")
def _pad(run: Interpreter, arguments: Arguments) -> Value:
    array = array_argument(run, arguments, "array")
    dims = None if array is None else arrays.known_dims(array)
    width = frozen(run, arguments.get("pad_width", 1) or UNTOLD)
    if array is None or dims is None or not isinstance(width, Items) or len(width.items) != len(dims):
        return UNTOLD
    grown = []
    for dim, pair in zip(dims, width.items, strict=True):
        amounts = [arrays.whole(one) for one in pair.items] if isinstance(pair, Items) else [None]
        told = isinstance(dim, int) and all(amount is not None for amount in amounts) and len(amounts) == 2
        grown.append(dim + sum(amount or 0 for amount in amounts) if told and isinstance(dim, int) else UNTOLD)
    return Array(tuple(grown), array.dtype)


# --- one-hot and padding ----------------------------------------------------------------------------------------------


@handles("keras.utils.to_categorical")
def _to_categorical(run: Interpreter, arguments: Arguments) -> Value:
    array = array_argument(run, arguments, "x", "y")
    dims = None if array is None else arrays.known_dims(array)
    if array is None or dims is None:
        return UNTOLD
    given = arguments.get("num_classes", 1)
    width = arrays.whole(given)
    if given is None or (isinstance(given, Plain) and given.value is None):
        bounds = arrays.bounds_of(array)
        width = int(bounds.high) + 1 if bounds is not None and bounds.integral else None
    kept = dims[:-1] if len(dims) > 1 and dims[-1] == 1 else dims
    if len(dims) > 1 and isinstance(dims[-1], Unknown):
        return Array(UNTOLD, UNTOLD)
    return Array(
        (*kept, UNTOLD if width is None else width),
        "float64" if run.module.keras == 3 else "float32",
        bounds=Bounds(0, 1, True),
        unit_rows=True,
    )


@shapes("tensorflow.one_hot", "keras.ops.one_hot")
def _one_hot(run: Interpreter, arguments: Arguments) -> Value:
    array = array_argument(run, arguments, "indices", "x")
    dims = None if array is None else arrays.known_dims(array)
    depth = arrays.whole(arguments.get("depth", 1) or arguments.get("num_classes"))
    if dims is None or set(arguments.names()) - {"depth", "dtype", "indices", "num_classes", "x"} or len(arguments.positional) > 2:
        return UNTOLD
    dtype = dtype_of(arguments.get("dtype"))
    return Array(
        (*dims, UNTOLD if depth is None else depth),
        "float32" if dtype is None else dtype,
        _TENSOR,
        bounds=Bounds(0, 1, True),
        unit_rows=True,
    )


@handles(
    "keras.utils.pad_sequences",
    "keras.preprocessing.sequence.pad_sequences",
    "keras_preprocessing.sequence.pad_sequences",
)
def _pad_sequences(run: Interpreter, arguments: Arguments) -> Value:
    value = arguments.get("sequences", 0)
    items = run.sequence(value)
    rows: int | None | Unknown = None if items is None else len(items)
    if isinstance(value, Array):
        dims = arrays.known_dims(value)
        rows = dims[0] if dims else None
    length = arrays.whole(arguments.get("maxlen", 1))
    dtype = dtype_of(arguments.get("dtype", 2))
    count = rows if isinstance(rows, int) else UNTOLD
    return Array((count, UNTOLD if length is None else length), "int32" if dtype is None else dtype)

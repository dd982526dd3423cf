"""Elementwise functions and reductions of NumPy, TensorFlow and Keras."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Sequence

from fitdoctor.facts import Unknown
from fitdoctor.records import replace
from fitdoctor.source.data import arrays
from fitdoctor.source.data.array_arguments import (
    TENSOR,
    array_argument,
    called_name,
    dtype_of,
    everywhere,
    frozen,
    operand,
    shapes,
)
from fitdoctor.source.interpreter import objects
from fitdoctor.source.interpreter.interpret import Interpreter
from fitdoctor.source.interpreter.library import FUNCTIONS, entry, handles
from fitdoctor.source.interpreter.operators import array_operation, matrix_dims
from fitdoctor.source.interpreter.values import UNTOLD, Arguments, Array, Items, Plain, Ref, Value
from fitdoctor.source.models.layer_settings import Dims

_ELEMENTWISE = (
    "abs absolute exp log log2 log10 log1p expm1 sqrt square sin cos tan tanh arctan round rint floor ceil sign "
    "clip nan_to_num cumsum isnan isfinite logical_not sinh cosh reciprocal negative"
).split()
_FLOATING = frozenset("exp log log2 log10 log1p expm1 sqrt sin cos tan tanh arctan sinh cosh".split())

_KEEP_FRACTIONS = _FLOATING | frozenset("abs absolute square cumsum negative reciprocal".split())


def _elementwise(name: str) -> Callable[[Interpreter, Arguments], Value]:
    def handler(run: Interpreter, arguments: Arguments) -> Value:
        value = arguments.positional[0] if arguments.positional else None
        if isinstance(value, Plain):
            return _of_number(name, value.value)
        array = array_argument(run, arguments, "x", "a")
        if array is None or "out" in arguments.names():
            return UNTOLD
        if name == "cumsum" and arguments.get("axis", 1) is None and array.rank != 1:
            return UNTOLD
        dtype: str | Unknown = array.dtype
        if name in ("isnan", "isfinite", "logical_not"):
            dtype = "bool"
        elif name in _FLOATING and dtype not in arrays.FLOATS:
            dtype = "float64" if dtype in ("int64", "int32") else UNTOLD
        elif name in ("cumsum", "sign", "negative") and dtype == "bool":
            dtype = UNTOLD
        drawn = array.fractions and name in _KEEP_FRACTIONS
        return Array(array.dims, dtype, array.container, fractions=drawn)

    return handler


def _of_number(name: str, value: object) -> Value:
    function = getattr(math, name, None)
    if function is None or isinstance(value, bool) or not isinstance(value, (int, float)):
        return UNTOLD
    try:
        # NumPy's own number, which unlike Python's makes float32 arrays wider
        return Array((), "float64", numbers=(float(function(value)),))
    except (ArithmeticError, ValueError):
        return UNTOLD


for _name in _ELEMENTWISE:
    shapes(*everywhere(_name))(_elementwise(_name))
for _name in (
    "relu",
    "sigmoid",
    "softmax",
    "tanh",
    "gelu",
    "elu",
    "selu",
    "softplus",
    "log_softmax",
    "silu",
    "leaky_relu",
    "l2_normalize",
):
    shapes(f"tensorflow.nn.{_name}", f"keras.ops.{_name}", f"keras.activations.{_name}")(_elementwise(_name))
shapes("tensorflow.sigmoid", "tensorflow.stop_gradient", "keras.ops.stop_gradient", "tensorflow.identity")(
    _elementwise("abs")
)


def _two(op: ast.operator) -> Callable[[Interpreter, Arguments], Value]:
    def handler(run: Interpreter, arguments: Arguments) -> Value:
        if len(arguments.positional) != 2 or set(arguments.names()) - {"name"}:
            return UNTOLD
        left, right = (operand(run, value) for value in arguments.positional[:2])
        return array_operation(left, right, op)

    return handler


for _name, _op in (
    ("add", ast.Add()),
    ("subtract", ast.Sub()),
    ("multiply", ast.Mult()),
    ("divide", ast.Div()),
    ("maximum", ast.BitOr()),
    ("minimum", ast.BitOr()),
    ("true_divide", ast.Div()),
):
    shapes(*everywhere(_name))(_two(_op))


@shapes(*everywhere("matmul"))
def _matmul(run: Interpreter, arguments: Arguments) -> Value:
    left, right = (operand(run, value) for value in (*arguments.positional, UNTOLD, UNTOLD)[:2])
    if set(arguments.names()) - {"name", "transpose_a", "transpose_b"} or len(arguments.positional) != 2:
        return UNTOLD
    if not isinstance(left, Array) or not isinstance(right, Array):
        return UNTOLD
    for name in ("transpose_a", "transpose_b"):
        turned = objects.truth(run, arguments.get(name) or Plain(False))
        if turned is None:
            return UNTOLD
        if turned and name == "transpose_a":
            left = _turned(left)
        elif turned:
            right = _turned(right)
    dims = matrix_dims(left.dims, right.dims)
    return Array(dims, arrays.common_dtype((left.dtype, right.dtype)), left.container)


def _turned(array: Array) -> Array:
    dims = arrays.known_dims(array)
    if dims is None or len(dims) < 2:
        return Array(dtype=array.dtype)
    return Array((*dims[:-2], dims[-1], dims[-2]), array.dtype, array.container)


@shapes("numpy.dot")
def _dot(run: Interpreter, arguments: Arguments) -> Value:
    left, right = (operand(run, value) for value in (*arguments.positional, UNTOLD, UNTOLD)[:2])
    if (
        not isinstance(left, Array)
        or not isinstance(right, Array)
        or (left.rank or 3) > 2
        or (right.rank or 3) > 2
    ):
        return UNTOLD
    return Array(matrix_dims(left.dims, right.dims), arrays.common_dtype((left.dtype, right.dtype)))


@shapes("numpy.where", "tensorflow.where", "keras.ops.where")
def _where(run: Interpreter, arguments: Arguments) -> Value:
    if len(arguments.positional) != 3:
        return UNTOLD
    parts = [operand(run, value) for value in arguments.positional]
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
    if (
        isinstance(dtype, str)
        and any(isinstance(number, float) for number in numbers)
        and dtype not in arrays.FLOATS
    ):
        return "float64" if dtype in ("int64", "int32") else UNTOLD
    return dtype


_SUMS = "sum mean std var max min amax amin prod median any all".split()


def reduction(run: Interpreter, array: Array, name: str, arguments: Arguments, first: int) -> Value:
    """A reduction such as `sum`, as a function (`first` is 1) or a method (0)."""
    axis = arguments.get("axis", first)
    kept = arguments.get("keepdims")
    keepdims = objects.truth(run, kept or Plain(False))
    if keepdims is None or len(arguments.positional) > first + 1 or "out" in arguments.names():
        return UNTOLD
    if isinstance(axis, Ref):
        axis = frozen(run, axis)
    given = dtype_of(arguments.get("dtype") or arguments.get("output_type"))
    return arrays.reduce(array, axis, keepdims, _reduced_dtype(array, name) if given is None else given)


def _reduced_dtype(array: Array, name: str) -> str | Unknown:
    if name in ("max", "min", "amax", "amin", "reduce_max", "reduce_min"):
        return array.dtype
    if name in ("any", "all"):
        return "bool"
    if array.container == TENSOR and name not in ("argmax", "argmin"):
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


def _reducing_tensors(name: str) -> Callable[[Interpreter, Arguments], Value]:
    """TensorFlow takes `keepdims` by position too."""

    def handler(run: Interpreter, arguments: Arguments) -> Value:
        if len(arguments.positional) == 3:
            kept = ("keepdims", arguments.positional[2])
            arguments = replace(
                arguments, positional=arguments.positional[:2], keywords=(*arguments.keywords, kept)
            )
        return _reducing(name)(run, arguments)

    return handler


for _name in (*_SUMS, "argmax", "argmin"):
    shapes(f"numpy.{_name}", f"keras.ops.{_name}")(_reducing(_name))
for _name in ("sum", "mean", "max", "min", "prod", "any", "all"):
    shapes(f"tensorflow.reduce_{_name}")(_reducing_tensors(_name))


@shapes("tensorflow.argmax", "tensorflow.argmin")
def _tensor_argmax(run: Interpreter, arguments: Arguments) -> Value:
    array = array_argument(run, arguments, "input")
    if array is None:
        return UNTOLD
    if arguments.get("axis", 1) is None:
        arguments = replace(arguments, keywords=(*arguments.keywords, ("axis", Plain(0))))
    return reduction(run, array, "argmax", arguments, 1)


@handles("numpy.nonzero", "numpy.flatnonzero", "numpy.argsort", "numpy.sort", "numpy.bincount")
def _unique(run: Interpreter, arguments: Arguments) -> Value:
    array = array_argument(run, arguments, "ar", "a")
    name = called_name(arguments)
    if array is not None and name in ("argsort", "sort") and arguments.get("axis", 1) is None:
        return Array(array.dims, "int64" if name == "argsort" else array.dtype)
    if (
        name in ("unique", "flatnonzero", "bincount")
        and not arguments.keywords
        and len(arguments.positional) == 1
    ):
        return Array((UNTOLD,), UNTOLD)
    return UNTOLD


@handles("numpy.digitize", "numpy.searchsorted")
def _binned(run: Interpreter, arguments: Arguments) -> Value:
    at = 0 if called_name(arguments) == "digitize" else 1
    value = arguments.positional[at] if len(arguments.positional) > at else None
    return Array(value.dims, "int64") if isinstance(value, Array) else UNTOLD


@handles("numpy.random.shuffle")
def _shuffle(run: Interpreter, arguments: Arguments) -> Value:
    value = arguments.positional[0] if arguments.positional else None
    if isinstance(value, Ref):
        in_place = entry(FUNCTIONS, "random.shuffle")
        assert in_place is not None
        return in_place(run, arguments)
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
        grown.append(
            dim + sum(amount or 0 for amount in amounts) if told and isinstance(dim, int) else UNTOLD
        )
    return Array(tuple(grown), array.dtype)

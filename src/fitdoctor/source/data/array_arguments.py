"""Arguments of array functions: dtypes, sizes, and values converted to arrays."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from fitdoctor.facts import Unknown
from fitdoctor.records import replace
from fitdoctor.source.data import arrays
from fitdoctor.source.interpreter.library import handles
from fitdoctor.source.interpreter.values import (
    UNTOLD,
    Arguments,
    Array,
    Items,
    LayerCall,
    ListRecord,
    Named,
    Numbers,
    Plain,
    Ref,
    Symbolic,
    Value,
)
from fitdoctor.source.models.layer_settings import Dims

if TYPE_CHECKING:
    from fitdoctor.source.interpreter.interpret import Interpreter


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
TENSOR = "tensorflow.Tensor"


def dtype_of(value: Value | None) -> str | Unknown | None:
    """Return the dtype that `dtype=` names; None if there is none."""
    if value is None or (isinstance(value, Plain) and value.value is None):
        return None
    name = value.value if isinstance(value, Plain) else value.name if isinstance(value, Named) else None
    if not isinstance(name, str):
        return UNTOLD
    last = name.rpartition(".")[2]
    return _DTYPES.get(last, last)


def size_of(run: Interpreter, value: Value | None) -> Dims | Unknown:
    """Return the shape that `size=` or `shape=` names; () if missing."""
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
    """Convert nested lists to tuples."""
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
        record = run.record(value) if isinstance(value, Ref) else None
        if isinstance(record, ListRecord) and record.element is not None:
            return _of_rows(run, record.element, wanted)
    return Array(UNTOLD, wanted) if isinstance(value, Array) else UNTOLD


def _of_rows(run: Interpreter, element: Value, dtype: str | Unknown) -> Value:
    """Return an array with an unknown number of equal rows."""
    row = to_array(run, element)
    if not isinstance(row, Array) or isinstance(row.dims, Unknown):
        return UNTOLD
    if any(not isinstance(dim, int) for dim in row.dims):
        # rows of different lengths do not form an array
        return UNTOLD
    made = Array((UNTOLD, *row.dims), row.dtype, fractions=row.fractions)
    return arrays.cast(made, dtype) if isinstance(dtype, str) else made


def as_tensor(value: Value) -> Value:
    """An array as TensorFlow's."""
    if isinstance(value, Array):
        dtype = value.dtype
        return replace(value, container=TENSOR, dtype=dtype)
    return value


def through_symbolic(
    handler: Callable[[Interpreter, Arguments], Value],
) -> Callable[[Interpreter, Arguments], Value]:
    """Make an array function work on symbolic tensors too, and record their history."""

    def wrapped(run: Interpreter, arguments: Arguments) -> Value:
        symbolic: list[Symbolic] = []

        def lowered(value: Value) -> Value:
            if isinstance(value, Symbolic):
                symbolic.append(value)
                return Array(value.dims, value.dtype, TENSOR)
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


def shapes(
    *names: str,
) -> Callable[[Callable[[Interpreter, Arguments], Value]], Callable[[Interpreter, Arguments], Value]]:
    """Register a function for arrays and symbolic tensors."""

    def enter(
        handler: Callable[[Interpreter, Arguments], Value],
    ) -> Callable[[Interpreter, Arguments], Value]:
        return handles(*names)(through_symbolic(handler))

    return enter


def everywhere(name: str) -> tuple[str, ...]:
    """A function's name in NumPy, Keras and TensorFlow."""
    return tuple(f"{module}.{name}" for module in ("numpy", "keras.ops", "tensorflow", "tensorflow.math"))


def called_name(arguments: Arguments) -> str:
    """Return the last part of the called name, which distinguishes functions that share a handler."""
    func = arguments.node.func
    return func.attr if isinstance(func, ast.Attribute) else getattr(func, "id", "")


def array_argument(run: Interpreter, arguments: Arguments, *names: str) -> Array | None:
    """The first argument as an array."""
    value = arguments.positional[0] if arguments.positional else None
    for name in names:
        value = arguments.get(name) if value is None else value
    if isinstance(value, Array):
        return value
    made = to_array(run, value)
    return made if isinstance(made, Array) else None


def order_of(run: Interpreter, value: Value | None) -> Sequence[int] | None:
    """Return the order of axes, or one that fits no array if unknown."""
    if value is None or (isinstance(value, Plain) and value.value is None):
        return None
    axes = [arrays.whole(item) for item in run.sequence(value) or (UNTOLD,)]
    told = [axis for axis in axes if axis is not None]
    return told if len(told) == len(axes) else (-1, -1)


def operand(run: Interpreter, value: Value) -> Value:
    """A side of an operation: an array, or a plain number."""
    return value if isinstance(value, (Array, Plain)) else to_array(run, value)

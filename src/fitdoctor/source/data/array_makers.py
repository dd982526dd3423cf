"""NumPy, TensorFlow and Keras functions that create arrays: filled, ranges, literals, one-hot, padded."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable

from fitdoctor.facts import Unknown
from fitdoctor.records import replace
from fitdoctor.source.data import arrays
from fitdoctor.source.data.array_arguments import (
    TENSOR,
    array_argument,
    as_tensor,
    dtype_of,
    shapes,
    size_of,
    to_array,
)
from fitdoctor.source.interpreter.interpret import Interpreter
from fitdoctor.source.interpreter.library import handles, handles_method
from fitdoctor.source.interpreter.values import UNTOLD, Arguments, Array, Bounds, ListRecord, Plain, Value


def _filled(library: str, number: float | None, default: str) -> Callable[[Interpreter, Arguments], Value]:
    container = TENSOR if library == "tensorflow" else "numpy.ndarray"

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
    if set(arguments.names()) - {"dtype", "copy", "order"}:
        return UNTOLD
    dtype = dtype_of(arguments.get("dtype", 1))
    made = to_array(run, value, dtype)
    # The result is an array whatever the input is.
    return made if not isinstance(made, Unknown) else Array(UNTOLD, UNTOLD if dtype is None else dtype)


@handles(
    "tensorflow.constant",
    "tensorflow.convert_to_tensor",
    "keras.ops.convert_to_tensor",
    "tensorflow.Variable",
)
def _tensor(run: Interpreter, arguments: Arguments) -> Value:
    value = arguments.get("value", 0)
    if value is None:
        value = arguments.get("initial_value")
    if set(arguments.names()) - {"dtype", "name", "value", "initial_value", "trainable"}:
        return UNTOLD
    dtype = dtype_of(arguments.get("dtype", 1))
    made = to_array(run, value, dtype)
    if isinstance(made, Array) and dtype is None and not isinstance(value, Array):
        # Python numbers become 32 bits wide
        narrow = {"float64": "float32", "int64": "int32", "str": "string"}
        made = replace(
            made, dtype=narrow.get(made.dtype, made.dtype) if isinstance(made.dtype, str) else made.dtype
        )
    return as_tensor(made)


@handles("numpy.arange", "tensorflow.range")
def _arange(run: Interpreter, arguments: Arguments) -> Value:
    numbers = [value.value for value in arguments.positional if isinstance(value, Plain)]
    if len(numbers) != len(arguments.positional) or not 1 <= len(numbers) <= 3 or not arguments.complete:
        return Array((UNTOLD,))
    if set(arguments.names()) - {"dtype"} or not all(isinstance(number, (int, float)) for number in numbers):
        return Array((UNTOLD,))
    start, stop, step = (
        (0, numbers[0], 1) if len(numbers) == 1 else (numbers[0], numbers[1], (numbers[2:] or [1])[0])
    )
    dtype = dtype_of(arguments.get("dtype"))
    whole = all(isinstance(number, int) for number in numbers)
    if step == 0:
        return UNTOLD
    count = max(0, math.ceil((stop - start) / step))
    natural = "int64" if whole else "float64"
    made = Array((count,), natural if dtype is None else dtype)
    if whole and count:
        ends = sorted((start, start + (count - 1) * step))
        values = (
            tuple(float(start + at * step) for at in range(count)) if count <= arrays.MOST_NUMBERS else None
        )
        made = replace(made, bounds=Bounds(ends[0], ends[1], True, True), numbers=values)
    return made


@handles("numpy.linspace")
def _linspace(run: Interpreter, arguments: Arguments) -> Value:
    count = arguments.get("num", 2)
    length = 50 if count is None else arrays.whole(count)
    start, stop = arguments.get("start", 0), arguments.get("stop", 1)
    bounds = None
    if (
        isinstance(start, Plain)
        and isinstance(stop, Plain)
        and arguments.get("endpoint", 3) is None
        and (length or 0) > 1
    ):
        low, high = sorted((float(start.value), float(stop.value)))
        bounds = Bounds(low, high, False)
    scalar = all(
        isinstance(end, Plain) or (isinstance(end, Array) and end.rank == 0) for end in (start, stop)
    )
    if not scalar or arguments.get("retstep") is not None:
        return UNTOLD
    dtype = dtype_of(arguments.get("dtype"))
    return Array(
        (UNTOLD if length is None else length,), "float64" if dtype is None else dtype, bounds=bounds
    )


@handles("numpy.eye", "numpy.identity")
def _eye(run: Interpreter, arguments: Arguments) -> Value:
    count = arrays.whole(arguments.get("N", 0) or arguments.get("n"))
    columns = arguments.get("M", 1) if isinstance(arguments.get("M", 1), Plain) else None
    width = arrays.whole(columns) if columns is not None else count
    dtype = dtype_of(arguments.get("dtype"))
    rows = UNTOLD if count is None else count
    wide = UNTOLD if width is None else width
    made = Array(
        (rows, wide), "float64" if dtype is None else dtype, bounds=Bounds(0, 1, True, True), unit_rows=True
    )
    square = count is not None and (columns is None or width == count)
    moved = "k" in arguments.names() or len(arguments.positional) > 2
    return made if square and not moved else replace(made, unit_rows=False, bounds=None)


@handles_method("numpy.load.reshape")
def _loaded(run: Interpreter, arguments: Arguments) -> Value:
    """Return an array loaded from a file, of unknown shape."""
    from fitdoctor.source.data import array_methods

    return array_methods.call(
        run, Array(), "reshape", replace(arguments, positional=arguments.positional[1:])
    )


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
    natural: str | Unknown = "float64" if run.module.keras == 3 else "float32"
    if array.container == TENSOR or "dtype" in arguments.names():
        natural = UNTOLD
    return Array(
        (*kept, UNTOLD if width is None else width), natural, bounds=Bounds(0, 1, True), unit_rows=True
    )


@shapes("tensorflow.one_hot", "keras.ops.one_hot")
def _one_hot(run: Interpreter, arguments: Arguments) -> Value:
    array = array_argument(run, arguments, "indices", "x")
    dims = None if array is None else arrays.known_dims(array)
    depth = arrays.whole(arguments.get("depth", 1) or arguments.get("num_classes"))
    if (
        dims is None
        or set(arguments.names()) - {"depth", "dtype", "indices", "num_classes", "x"}
        or len(arguments.positional) > 2
    ):
        return UNTOLD
    dtype = dtype_of(arguments.get("dtype"))
    return Array(
        (*dims, UNTOLD if depth is None else depth),
        "float32" if dtype is None else dtype,
        TENSOR,
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
    rows: int | Unknown | None = None if items is None else len(items)
    if isinstance(value, Array):
        if value.rank == 1 and isinstance(value.node, ast.Call):
            return Array()  # an array of objects: each row may be a list of numbers, or of vectors
        dims = arrays.known_dims(value)
        rows = dims[0] if dims else None
    length = arrays.whole(arguments.get("maxlen", 1))
    dtype = dtype_of(arguments.get("dtype", 2))
    count = rows if isinstance(rows, int) else UNTOLD
    return Array((count, UNTOLD if length is None else length), "int32" if dtype is None else dtype)


@handles_method(
    "keras.preprocessing.text.Tokenizer.texts_to_sequences",
    "keras_preprocessing.text.Tokenizer.texts_to_sequences",
)
def _sequences(run: Interpreter, arguments: Arguments) -> Value:
    """Return one list per text, as long as the text."""
    row = run.allocate(ListRecord(None, grows=True))
    return run.allocate(ListRecord(None, arguments.node, row, grows=True))

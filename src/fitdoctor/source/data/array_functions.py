"""Functions of NumPy, TensorFlow and Keras that reshape and join arrays."""

from __future__ import annotations

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
    order_of,
    shapes,
    to_array,
)
from fitdoctor.source.interpreter.interpret import Interpreter
from fitdoctor.source.interpreter.library import handles
from fitdoctor.source.interpreter.values import (
    UNTOLD,
    Arguments,
    Array,
    Items,
    LayerCall,
    LayerRecord,
    Made,
    Plain,
    Symbolic,
    Value,
)
from fitdoctor.source.models.layer_rules import size_changed
from fitdoctor.source.models.layer_settings import Dims, LayerPlan, product
from fitdoctor.source.models.refusals import Failure


@shapes("numpy.reshape", "tensorflow.reshape", "keras.ops.reshape")
def _reshape(run: Interpreter, arguments: Arguments) -> Value:
    array = array_argument(run, arguments, "a", "tensor", "x")
    target = arguments.get("shape", 1) or arguments.get("newshape")
    items = (target,) if arrays.is_whole(target) else run.sequence(target)
    if array is None or items is None:
        return UNTOLD
    sizes = [item for item in items if item is not None]
    if array.container == TENSOR and not isinstance(array.dims, Unknown) and array.dims[:1] == (None,):
        return _reshape_batch(run, array, array.dims, sizes, arguments)
    return arrays.reshape(array, sizes)


BATCH = Made("tensorflow.shape.batch")
"""The size of an open batch axis, as `tf.shape(x)[0]` returns it."""


def _reshape_batch(
    run: Interpreter, array: Array, dims: Dims, target: list[Value], arguments: Arguments
) -> Value:
    """Reshape a tensor with an open batch axis: the size of a sample must divide into the rest of the target."""
    wanted = [arrays.whole(size) for size in target[1:]]
    size, told = product(dims[1:]), [length for length in wanted if length is not None]
    if not target or len(told) != len(wanted) or not isinstance(size, int) or any(one == 0 for one in told):
        return arrays.reshape(array, target)
    rest = math.prod(length for length in told if length != -1)
    if target[0] == Plain(-1) and -1 not in told:
        # Samples may be split or merged; that changes the batch but is not an error by itself.
        if size % rest and rest % size:
            return _refuse(run, dims, (-1, *told), arguments)
        return replace(array, dims=(None if size == rest else UNTOLD, *told))
    if target[0] != BATCH or told.count(-1) > 1:
        return arrays.reshape(array, target)
    if size % rest or (size != rest and -1 not in told):
        return _refuse(run, dims, tuple(told), arguments)
    return replace(array, dims=(None, *(size // rest if length == -1 else length for length in told)))


def _refuse(run: Interpreter, dims: Dims, target: tuple[int, ...], arguments: Arguments) -> Value:
    if run.reporting:
        record = LayerRecord(LayerPlan("reshape"), "reshape", False, arguments.node)
        refused = size_changed(dims[1:], target)
        run.listener.refusal(
            run, Failure(refused, run.allocate(record), record, (dims,), None, arguments.node)
        )
    return UNTOLD


@handles("keras.backend.image_data_format", "keras.config.image_data_format")
def _image_data_format(run: Interpreter, arguments: Arguments) -> Value:
    project = run.module.project
    modules = project.modules if project is not None else (run.module,)
    # `set_image_data_format`, or `set_image_dim_ordering` of Keras 1
    return UNTOLD if any(module.mentions("set_image_d") for module in modules) else Plain("channels_last")


@handles("tensorflow.shape", "keras.ops.shape", "keras.backend.shape", "keras.backend.int_shape")
def _shape(run: Interpreter, arguments: Arguments) -> Value:
    tensor = arguments.positional[0] if arguments.positional else UNTOLD
    if not isinstance(tensor, (Array, Symbolic)) or isinstance(tensor.dims, Unknown):
        return UNTOLD
    lengths = [arrays.value_of(dim) for dim in tensor.dims]
    if lengths and called_name(arguments) != "int_shape" and lengths[0] == Plain(None):
        lengths[0] = BATCH
    return Items(tuple(UNTOLD if length == Plain(None) else length for length in lengths))


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


@shapes("numpy.concatenate", "tensorflow.concat", "keras.ops.concatenate")
def _concatenate(run: Interpreter, arguments: Arguments) -> Value:
    return _joined(run, arguments, arrays.concatenate)


@shapes("numpy.stack", "tensorflow.stack", "keras.ops.stack")
def _stack(run: Interpreter, arguments: Arguments) -> Value:
    return _joined(run, arguments, arrays.stack)


def _joined(run: Interpreter, arguments: Arguments, join: Callable[[Sequence[Array], int], Array]) -> Value:
    value = (
        arguments.positional[0]
        if arguments.positional
        else arguments.get("arrays") or arguments.get("values")
    )
    parts = run.sequence(value)
    axis = arguments.get("axis", 1)
    at = 0 if axis is None else arrays.whole(axis)
    rows = [to_array(run, part) for part in parts or ()]
    told = [row for row in rows if isinstance(row, Array)]
    if not told or len(told) != len(rows) or at is None:
        return UNTOLD
    return join(told, at)


@handles("tensorflow.split", "keras.ops.split")
def _split(run: Interpreter, arguments: Arguments) -> Value:
    """Equal parts along an axis."""
    value = arguments.positional[0] if arguments.positional else arguments.get("value") or arguments.get("x")
    count = arrays.whole(arguments.get("num_or_size_splits", 1) or arguments.get("indices_or_sections"))
    at = arrays.whole(arguments.get("axis", 2) or Plain(0))
    if not isinstance(value, (Array, Symbolic)) or isinstance(value.dims, Unknown) or not count or at is None:
        return UNTOLD
    length = value.dims[at] if -len(value.dims) <= at < len(value.dims) else None
    if not isinstance(length, int) or length % count:
        return UNTOLD
    place = at % len(value.dims)
    dims = (*value.dims[:place], length // count, *value.dims[place + 1 :])
    if isinstance(value, Array):
        return Items((Array(dims, value.dtype, value.container),) * count)
    call = LayerCall(None, (value,), run.fresh(), arguments.node)
    return Items(tuple(Symbolic(dims, value.dtype, call, part) for part in range(count)))


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
    name = called_name(arguments)
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


@handles("numpy.lib.stride_tricks.sliding_window_view")
def _sliding(run: Interpreter, arguments: Arguments) -> Value:
    """Windows along one axis: fewer positions there, and the window as a new last axis."""
    array = array_argument(run, arguments, "x")
    dims = None if array is None else arrays.known_dims(array)
    given, axis = arguments.get("window_shape", 1), arguments.get("axis", 2)
    sizes = run.sequence(given)
    window = arrays.whole(sizes[0] if sizes is not None and len(sizes) == 1 else given)
    at = arrays.whole(axis) if axis is not None else 0 if dims is not None and len(dims) == 1 else None
    if array is None or not dims or not window or at is None or not -len(dims) <= at < len(dims):
        return UNTOLD
    length, at = dims[at], at % len(dims)
    positions = max(0, length - window + 1) if isinstance(length, int) else UNTOLD
    return Array((*dims[:at], positions, *dims[at + 1 :], window), array.dtype)


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
    if called_name(arguments) == "swapaxes":
        order[one], order[other] = order[other], order[one]
    elif called_name(arguments) == "moveaxis":
        order.insert(other % len(dims), order.pop(one % len(dims)))
    else:
        return UNTOLD
    return arrays.transpose(array, order)

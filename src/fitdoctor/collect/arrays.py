"""In-memory data: NumPy, pandas, tensors, sparse matrices, Python lists, and structures of them."""

from __future__ import annotations

import sys
from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import Any

from fitdoctor.collect.budget import Deadline
from fitdoctor.collect.statistics import columns_of_array, columns_of_frame, columns_of_series, statistics_of
from fitdoctor.facts import ArrayFacts, Code, Column, Shape, Statistics, Unknown
from fitdoctor.records import dataclass

MOST_COMPONENTS = 64


@dataclass(frozen=True)
class Leaf:
    """An abstract tensor of a batch, as the trial passes it to the model."""

    shape: Shape | None
    """None if the rank is unknown."""
    dtype: str
    sparse: bool = False
    ragged: bool = False


@dataclass(frozen=True)
class Batch:
    """The structures of x, y and sample_weight as fit passes them, with a `Leaf` per tensor."""

    x: Any = None
    y: Any = None
    sample_weight: Any = None


@dataclass(frozen=True)
class Component:
    """One array of a structure, with its position."""

    path: str
    key: str
    value: Any


def type_name(value: Any) -> str:
    """Return the common name of a type: `numpy.ndarray`, `pandas.DataFrame`, `tensorflow.Tensor`, `list`."""
    kind = type(value)
    root = kind.__module__.split(".")[0]
    if root in ("tensorflow", "tensorflow_core"):
        return "tensorflow.Tensor" if kind.__name__.endswith("EagerTensor") else f"tensorflow.{kind.__name__}"
    if root == "builtins":
        return kind.__name__
    return f"{root}.{kind.__name__}"


def is_array(value: Any) -> bool:
    """Whether Keras accepts the object as one array."""
    if isinstance(value, (str, bytes, int, float, complex, bool, list, tuple, dict, set)) or value is None:
        return False
    return hasattr(value, "shape") and (hasattr(value, "dtype") or hasattr(value, "dtypes"))


def structure_of(value: Any) -> str:
    """Return `none`, `single`, `list`, `tuple` or `dict`."""
    if value is None:
        return "none"
    if isinstance(value, dict):
        return "dict"
    if isinstance(value, list):
        return "list"
    return "tuple" if isinstance(value, tuple) else "single"


def ordered_keys(value: Any) -> tuple[str, ...]:
    """Return the keys of an `OrderedDict` as Keras flattens it: in their own order, not sorted as in a dict."""
    tree = getattr(sys.modules.get("keras"), "tree", None)
    if tree is None or not isinstance(value, OrderedDict):
        return ()
    return tuple(map(str, tree.flatten(OrderedDict((key, key) for key in value))))


def components(value: Any, path: str) -> Iterator[Component]:
    """Return the arrays of a structure in the user's order; a list of numbers is one component."""
    if value is None:
        return
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _below(item, f"{path}[{key!r}]", str(key))
    elif isinstance(value, (list, tuple)) and holds_arrays(value):
        for index, item in enumerate(value):
            if index >= MOST_COMPONENTS:
                return
            yield from _below(item, f"{path}[{index}]", str(index))
    else:
        yield Component(path, "", value)


def _below(item: Any, path: str, key: str) -> Iterator[Component]:
    if isinstance(item, dict) or isinstance(item, (list, tuple)) and holds_arrays(item):
        for component in components(item, path):
            inner = f"{key}/{component.key}" if component.key else key
            yield Component(component.path, inner, component.value)
    elif item is not None:
        yield Component(path, key, item)


def holds_arrays(value: Any) -> bool:
    """Whether a list or tuple contains arrays, not numbers, strings or lists of them."""
    return bool(value) and any(
        is_array(item)
        and not _is_numpy_number(item)
        or isinstance(item, dict)
        or item is None
        or isinstance(item, (list, tuple))
        and holds_arrays(item)
        for item in value[:MOST_COMPONENTS]
    )


def _is_numpy_number(value: Any) -> bool:
    """Whether a value is a NumPy scalar, such as `np.float32(0.5)`."""
    return type(value).__module__ == "numpy" and type(value).__name__ != "ndarray" and value.shape == ()


def map_leaves(function: Callable[[Any], Any], value: Any) -> Any:
    """Return the structure with `function` applied to each array; None stays None."""
    if value is None:
        return None
    if isinstance(value, dict):
        return {key: map_leaves(function, item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        items = [map_leaves(function, item) for item in value]
        return tuple(items) if isinstance(value, tuple) else items
    return function(value)


def rows_of(value: Any) -> int | None:
    """Return the length of the first axis of an array."""
    shape = getattr(value, "shape", None)
    try:
        return int(shape[0]) if shape is not None and len(shape) else None
    except (TypeError, ValueError):
        return None


def first_rows(value: Any, rows: int = 1) -> Any:
    """Return the first rows of an array as the same type."""
    if hasattr(value, "iloc"):
        return value.iloc[:rows]
    if type(value).__module__.startswith("scipy"):
        return value.tocsr()[:rows] if hasattr(value, "tocsr") else value
    if type(value).__name__ == "SparseTensor" or not len(value.shape):
        return value
    return value[:rows]


def array_facts(
    component: Component, deadline: Deadline, labels: bool, use: Code | Unknown, code: Code | Unknown
) -> ArrayFacts:
    """Return shape, dtype and statistics of one array."""
    value = component.value
    shape, dtype = _shape_and_dtype(value)
    statistics: Statistics | Unknown
    columns: tuple[Column, ...] = ()
    try:
        statistics, columns = _statistics(value, deadline, labels)
    # One unreadable array must not prevent reading the others.
    except Exception as error:
        statistics = Unknown(f"reading it raised {type(error).__name__}")
    return ArrayFacts(
        path=component.path,
        key=component.key,
        container=type_name(value),
        shape=shape,
        dtype=dtype,
        statistics=statistics,
        columns=columns,
        code=code,
        use=use,
        device=_device(value),
        written_numbers=dtype in ("str", "object") and _written_numbers(value),
    )


def _device(value: Any) -> str:
    """Return the device of a tensor; NumPy arrays have none, or `cpu`."""
    device = getattr(value, "device", "")
    return device.rpartition("device:")[2] if isinstance(device, str) and "device:" in device else ""


def _written_numbers(value: Any) -> bool:
    """Whether the first strings of an array are all numbers as text."""
    import numpy as np

    try:
        head = np.asarray(first_rows(value, 50), dtype=object).reshape(-1)[:500]
        return bool(head.size) and all(isinstance(item, str) and float(item) == float(item) for item in head)
    except (TypeError, ValueError, AttributeError):
        return False


def _shape_and_dtype(value: Any) -> tuple[Shape | Unknown, str | Unknown]:
    if isinstance(value, (list, tuple)):
        return _shape_of_list(value), _element_type(value)
    shape = getattr(value, "shape", None)
    known: Shape | Unknown = Unknown("it has no shape")
    if shape is not None:
        try:
            known = tuple(None if size is None else int(size) for size in shape)
        except (TypeError, ValueError):
            known = Unknown("its rank is unknown")
    if hasattr(value, "dtypes") and hasattr(value, "columns"):
        kinds = list(dict.fromkeys(str(kind) for kind in value.dtypes))
        return known, kinds[0] if len(kinds) == 1 else _common_type(value)
    dtype = getattr(value, "dtype", None)
    return known, dtype_name(dtype) if dtype is not None else Unknown("it has no dtype")


def _common_type(frame: Any) -> str:
    """Return the dtype of the DataFrame as one array."""
    return str(frame.iloc[:0].to_numpy().dtype)


def dtype_name(dtype: Any) -> str:
    """Return the name of a NumPy, pandas, TensorFlow or torch dtype: `float32`, `int64`, `str`, `object`, …."""
    name = str(getattr(dtype, "name", dtype))
    if getattr(dtype, "kind", "") in ("U", "T") or name.startswith("str"):
        return "str"
    return name.removeprefix("torch.")


def _shape_of_list(value: Any) -> Shape | Unknown:
    """Return the shape of nested lists, Unknown if they are ragged."""
    shape: list[int | None] = []
    level: list[Any] = [value]
    while level and all(isinstance(item, (list, tuple)) for item in level):
        lengths = {len(item) for item in level}
        if len(lengths) > 1:
            return Unknown("its rows differ in length")
        shape.append(lengths.pop())
        level = [inner for item in level for inner in item[:1000]][:10_000]
    if any(isinstance(item, (list, tuple)) for item in level):
        return Unknown("its rows differ in depth")
    return tuple(shape)


def _element_type(value: Any) -> str | Unknown:
    item = value
    while isinstance(item, (list, tuple)):
        if not item:
            return Unknown("it is empty")
        item = item[0]
    return type(item).__name__


def _statistics(
    value: Any, deadline: Deadline, labels: bool
) -> tuple[Statistics | Unknown, tuple[Column, ...]]:
    import numpy as np

    if isinstance(value, (list, tuple)):
        return _statistics_of_list(value, deadline, labels)
    if hasattr(value, "iloc"):
        return _statistics_of_pandas(value, deadline, labels)
    root = type(value).__module__.split(".")[0]
    if root == "scipy":
        return _statistics_of_sparse(value, deadline, labels), ()
    if isinstance(value, np.ndarray):
        array = value
    elif root in ("tensorflow", "tensorflow_core") and hasattr(value, "numpy"):
        if type(value).__name__ in ("RaggedTensor", "SparseTensor"):
            inner = getattr(value, "flat_values", None)
            array = np.asarray(inner if inner is not None else value.values)
        else:
            # `.numpy()` copies; the private method shares the tensor's memory.
            array = value._numpy() if hasattr(value, "_numpy") else value.numpy()
    elif root == "torch":
        array = value.detach().cpu().numpy()
    elif root in ("keras", "tf_keras", "jax", "jaxlib"):
        array = np.asarray(value)
    else:
        return Unknown(f"fitdoctor does not read `{type_name(value)}` objects"), ()
    if not hasattr(array, "dtype"):
        return Unknown(f"fitdoctor does not read `{type_name(value)}` objects"), ()
    found = statistics_of(array, deadline, labels)
    return found, columns_of_array(array, found)


def _statistics_of_pandas(
    value: Any, deadline: Deadline, labels: bool
) -> tuple[Statistics | Unknown, tuple[Column, ...]]:
    is_frame = hasattr(value, "columns")
    columns = columns_of_frame(value, deadline) if is_frame else columns_of_series(value, deadline)
    empty = value.iloc[:0].to_numpy()
    # A DataFrame of mixed columns becomes an object array: expensive, and without numbers.
    if empty.dtype.kind not in "biuf":
        return Unknown(f"fitdoctor computes no statistics for dtype `{dtype_name(empty.dtype)}`"), columns
    return statistics_of(value.to_numpy(), deadline, labels), columns


def _statistics_of_list(
    value: Any, deadline: Deadline, labels: bool
) -> tuple[Statistics | Unknown, tuple[Column, ...]]:
    import numpy as np

    from fitdoctor.collect.statistics import holds_of

    holds = holds_of(list(value[:10_000]))
    column = (Column("", "list", holds),) if holds else ()
    if isinstance(_shape_of_list(value), Unknown):
        return Unknown("it is a list whose rows differ"), column
    array = np.asarray(value[:100_000])
    if array.dtype.kind not in "biuf":
        return Unknown(f"fitdoctor computes no statistics for dtype `{dtype_name(array.dtype)}`"), column
    found = statistics_of(array, deadline, labels)
    return found, column


def _statistics_of_sparse(value: Any, deadline: Deadline, labels: bool) -> Statistics | Unknown:
    from fitdoctor.records import replace

    stored = getattr(value, "data", None)
    if stored is None or not hasattr(stored, "dtype") or stored.dtype.kind not in "biuf":
        return Unknown("fitdoctor does not read this sparse format")
    found = statistics_of(stored, deadline, labels)
    if isinstance(found, Unknown):
        return found
    has_zeros = stored.size < value.shape[0] * value.shape[1]
    return replace(
        found,
        count=int(value.shape[0]),
        minimum=min(found.minimum, 0.0) if has_zeros and found.minimum is not None else found.minimum,
        maximum=max(found.maximum, 0.0) if has_zeros and found.maximum is not None else found.maximum,
        mean=None,
        first_nonfinite=None,
        histogram=None,
        row_sums=None,
        row_filled=None,
        first_maximum=None,
        first_minimum=None,
    )

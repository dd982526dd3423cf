"""Attributes, iteration and truth of abstract values, and what tables and indices are."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from fitdoctor.facts import Unknown
from fitdoctor.records import replace
from fitdoctor.source.data import arrays
from fitdoctor.source.interpreter.joining import join
from fitdoctor.source.interpreter.library import ATTRIBUTES, entry, library_name
from fitdoctor.source.interpreter.values import (
    UNTOLD,
    Arguments,
    Array,
    Class,
    Dataset,
    DictRecord,
    Function,
    Generated,
    InstanceRecord,
    Items,
    LayerRecord,
    ListRecord,
    Made,
    Mapping,
    Method,
    ModelRecord,
    Named,
    Numbers,
    Plain,
    Ref,
    Symbolic,
    Value,
    attribute_of,
    with_attribute,
)
from fitdoctor.source.models.layer_settings import product
from fitdoctor.source.models.refusals import open_shape

if TYPE_CHECKING:
    from fitdoctor.source.interpreter.interpret import Interpreter

_MOST_ROWS = 64


def join_values(one: Value, other: Value) -> Value:
    """What is true of both."""
    return join(one, other)


def truth(run: Interpreter, value: Value) -> bool | None:
    """Return the truth value; None if unknown."""
    if isinstance(value, Plain):
        return bool(value.value)
    if isinstance(value, Items):
        return bool(value.items)
    if isinstance(value, Numbers):
        return len(value.values) > 0
    if isinstance(value, (Function, Class)):
        return True
    if isinstance(value, Ref):
        record = run.record(value)
        if isinstance(record, (ListRecord, DictRecord)) and record.items is not None:
            return bool(record.items)
    return None


def pairs_of(run: Interpreter, value: Value | None) -> tuple[tuple[Any, Value], ...] | None:
    """Return the items of a dict; None if unknown."""
    if isinstance(value, Mapping):
        return value.items
    if isinstance(value, Ref):
        record = run.record(value)
        return record.items if isinstance(record, DictRecord) else None
    return None


def iterated(run: Interpreter, value: Value) -> tuple[Value, ...] | None:
    """Return the elements that a loop over the value visits; None if unknown."""
    items = run.sequence(value)
    if items is not None:
        return items
    pairs = pairs_of(run, value)
    if pairs is not None:
        return tuple(Plain(key) for key, _ in pairs)
    if isinstance(value, Plain) and isinstance(value.value, str):
        return tuple(Plain(letter) for letter in value.value)
    if isinstance(value, Array) and value.container == "numpy.ndarray":
        dims = arrays.known_dims(value)
        if dims and isinstance(dims[0], int) and dims[0] <= _MOST_ROWS:
            from fitdoctor.source.interpreter import indexing

            return tuple(run.settled(indexing.index(value, Plain(at))) for at in range(dims[0]))
    return None


def element_of(run: Interpreter, value: Value) -> Value:
    """Return what holds for every element that a loop visits."""
    if isinstance(value, Array) and value.container != "pandas.DataFrame":
        dims = arrays.known_dims(value)
        if dims:
            container = "numpy.ndarray" if value.container.startswith("pandas") else value.container
            return Array(dims[1:], value.dtype, container, buffer=value.buffer)
        return UNTOLD
    if isinstance(value, Dataset):
        return value.element
    if isinstance(value, Generated):
        from fitdoctor.source.interpreter.generated import yielded

        return yielded(run, value)
    items = run.sequence(value)
    if items:
        merged = items[0]
        for item in items[1:]:
            merged = join(merged, item)
        return merged
    record = run.record(value) if isinstance(value, Ref) else None
    return record.element or UNTOLD if isinstance(record, ListRecord) else UNTOLD


# --- functions and classes --------------------------------------------------------------------------------------------


def remember_defaults(run: Interpreter, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> None:
    """Defaults are evaluated where the function is defined."""
    positional = tuple(run.evaluate(default) for default in node.args.defaults)
    named = tuple(
        (parameter.arg, run.evaluate(default))
        for parameter, default in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)
        if default is not None
    )
    run.defaults[node] = (positional, named)


_HARMLESS_DECORATORS = (
    "tensorflow.function",
    "keras.saving.register_keras_serializable",
    "keras.utils.register_keras_serializable",
    "staticmethod",
    "classmethod",
    "property",
    "functools.lru_cache",
    "functools.cache",
    "functools.cached_property",
    "functools.wraps",
    "dataclasses.dataclass",
    "abc.abstractmethod",
    "typing.no_type_check",
    "typing.final",
)


def harmless_decorator(run: Interpreter, decorator: ast.expr) -> bool:
    """Whether a decorator does not affect the shapes of a call's result."""
    node = decorator.func if isinstance(decorator, ast.Call) else decorator
    return run.resolve(node) in _HARMLESS_DECORATORS


def is_decorated(node: ast.AST, *names: str) -> bool:
    """Whether a function has one of these decorators, by their last name."""
    if not isinstance(node, ast.FunctionDef):
        return False
    for decorator in node.decorator_list:
        last = decorator.attr if isinstance(decorator, ast.Attribute) else getattr(decorator, "id", "")
        if last in names:
            return True
    return False


def method_of(run: Interpreter, owner: Class, name: str) -> Function | None:
    """Return a method of a user's class, its own or inherited within the project."""
    from fitdoctor.source.interpreter.other_files import frame_of

    info = run.class_info(owner.node)
    found = run.module.method(info, name)
    if found is None:
        return None
    node = found.node
    plain = isinstance(node, ast.FunctionDef) and all(
        harmless_decorator(run, decorator) for decorator in node.decorator_list
    )
    frame = owner.frame if found.module is info.module else frame_of(run, found.module)
    return Function(node, frame, plain=plain)


def has_foreign_base(run: Interpreter, owner: Class) -> bool:
    """Whether a base of the class is neither of the project nor `object`."""
    for ancestor in run.ancestry(owner.node):
        named = {one.name for one in run.module.ancestry(ancestor)}
        if any(base not in named and base not in ("object", "abc.ABC") for base in ancestor.bases):
            return True
    return False


# --- attributes -------------------------------------------------------------------------------------------------------


def get_attribute(run: Interpreter, receiver: Value, name: str) -> Value:
    """`receiver.name`, read or about to be called."""
    if isinstance(receiver, Named):
        return Named(library_name(f"{receiver.name}.{name}"))
    if isinstance(receiver, Array):
        return _array_attribute(receiver, name)
    if isinstance(receiver, Symbolic):
        return _symbolic_attribute(run, receiver, name)
    if isinstance(receiver, Ref):
        return _object_attribute(run, receiver, name)
    if name == "__name__" and isinstance(receiver, (Function, Class)):
        return Plain(getattr(receiver.node, "name", "<lambda>"))
    if isinstance(receiver, Class):
        return _class_attribute(run, receiver, name)
    if isinstance(receiver, Unknown):
        return UNTOLD
    if isinstance(receiver, Method) and receiver.name == "cat" and name == "codes":
        from fitdoctor.source.data.tables import category_codes

        return category_codes(receiver.receiver)
    if isinstance(receiver, Made):
        read = entry(ATTRIBUTES, receiver.name)
        found = None if read is None else read(run, receiver, name)
        if found is not None:
            return found
    return Method(receiver, name)


def _array_attribute(array: Array, name: str) -> Value:
    dims = arrays.known_dims(array)
    if name == "shape":
        return arrays.shape_value(array)
    if name == "T":
        return arrays.transpose(array, None)
    if name == "ndim":
        return UNTOLD if dims is None else Plain(len(dims))
    if name == "size":
        return UNTOLD if dims is None else arrays.value_of(product(dims))
    if name == "values" and array.container.startswith("pandas"):
        return replace(array, container="numpy.ndarray", columns=None)
    if name == "dtype":
        return UNTOLD if isinstance(array.dtype, Unknown) else Plain(array.dtype)
    if name == "columns":
        if array.columns is None:
            return UNTOLD
        return Items(tuple(Plain(column) for column, _ in array.columns))
    if array.container == "pandas.DataFrame" and array.columns is not None:
        for column, inside in array.columns:
            if column == name:
                return inside
    return Method(array, name)


def _symbolic_attribute(run: Interpreter, tensor: Symbolic, name: str) -> Value:
    if name == "shape":
        return open_shape(run, tensor)
    if name == "dtype":
        return Plain(tensor.dtype)
    if name == "ndim" and not isinstance(tensor.dims, Unknown):
        return Plain(len(tensor.dims))
    return Method(tensor, name)


def _object_attribute(run: Interpreter, receiver: Ref, name: str) -> Value:
    record = run.record(receiver)
    if isinstance(record, (InstanceRecord, LayerRecord, ModelRecord)):
        known = attribute_of(record, name)
        if known is not None:
            return known
        owner = record.owner
        if owner is not None:
            found = _owned_attribute(run, receiver, owner, name)
            if found is not None:
                return found
    if isinstance(record, InstanceRecord):
        return UNTOLD
    if isinstance(record, ModelRecord):
        from fitdoctor.source.models.static_models import model_attribute

        found = model_attribute(run, receiver, record, name)
        if found is not None:
            return found
    if isinstance(record, LayerRecord) and name == "output" and record.outputs and not record.open:
        return UNTOLD
    return Method(receiver, name)


def _owned_attribute(run: Interpreter, receiver: Value, owner: Class, name: str) -> Value | None:
    from fitdoctor.source.interpreter.other_files import frame_of

    method = method_of(run, owner, name)
    if method is not None:
        if is_decorated(method.node, "property", "cached_property"):
            nothing = ast.Call(ast.Name(name, ast.Load()), [], [])
            return run.call(method, Arguments((receiver,), (), nothing))
        return Method(receiver, name)
    for ancestor in run.ancestry(owner.node):
        frame_of(run, ancestor.module)
        values = run.class_values.get(ancestor.node, {})
        if name in values:
            return values[name]
    return None


def _class_attribute(run: Interpreter, receiver: Class, name: str) -> Value:
    values = run.class_values.get(receiver.node, {})
    if name in values:
        return values[name]
    method = method_of(run, receiver, name)
    if method is None:
        return UNTOLD
    return Method(receiver, name) if is_decorated(method.node, "classmethod") else method


def set_attribute(run: Interpreter, receiver: Value, name: str, value: Value) -> None:
    """`receiver.name = value`."""
    if isinstance(receiver, Array):
        run.state.written.update(
            (receiver.buffer, -receiver.buffer) if name == "shape" else (receiver.buffer,)
        )
        return
    if not isinstance(receiver, Ref):
        if not isinstance(receiver, Named):
            run.state.touch(value)
        return
    record = run.record(receiver)
    if isinstance(record, (LayerRecord, ModelRecord)) and name == "trainable":
        set_trainable(run, receiver, truth(run, value))
    elif isinstance(record, (InstanceRecord, LayerRecord, ModelRecord)):
        run.update(receiver, replace(record, attributes=with_attribute(record.attributes, name, value)))
    else:
        run.state.touch(receiver)


def set_trainable(run: Interpreter, receiver: Ref, trainable: bool | None) -> None:
    """`thing.trainable = …`: a model passes it on to its layers."""
    value: bool | Unknown = UNTOLD if trainable is None else trainable
    pending, seen = [receiver], set()
    while pending:
        ref = pending.pop()
        if ref in seen:
            continue
        seen.add(ref)
        record = run.record(ref)
        if isinstance(record, LayerRecord):
            run.update(ref, replace(record, trainable=value))
            if record.model is not None:
                pending.append(record.model)
        elif isinstance(record, ModelRecord):
            from fitdoctor.source.models.static_models import layers_of

            run.update(ref, replace(record, trainable=value))
            pending.extend(layers_of(run, record) or ())


# --- contexts ---------------------------------------------------------------------------------------------------------


def strategy_of(value: Value) -> str:
    """The distribution strategy whose scope a value is; "" for anything else."""
    if (
        isinstance(value, Made)
        and value.name.startswith("tensorflow.distribute.")
        and value.name.endswith(".scope")
    ):
        return value.name.removesuffix(".scope").rpartition(".")[2]
    return ""


def entered(value: Value) -> Value:
    """What `with value as name` binds."""
    if isinstance(value, Made) and value.name.startswith(("tensorflow.", "keras.")):
        return value
    return UNTOLD


def is_dataclass(node: ast.ClassDef) -> bool:
    """Whether a class is decorated with `dataclass`."""
    for decorator in node.decorator_list:
        inner = decorator.func if isinstance(decorator, ast.Call) else decorator
        last = inner.attr if isinstance(inner, ast.Attribute) else getattr(inner, "id", "")
        if last == "dataclass":
            return True
    return False

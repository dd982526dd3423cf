"""Python's own functions, and the methods of its strings, lists and dicts."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from fitdoctor.records import replace
from fitdoctor.source.data import arrays
from fitdoctor.source.data.array_arguments import frozen
from fitdoctor.source.interpreter import objects, row_history
from fitdoctor.source.interpreter.joining import every_item, join_elements
from fitdoctor.source.interpreter.library import handles
from fitdoctor.source.interpreter.values import (
    NONE,
    UNTOLD,
    Arguments,
    Array,
    Dataset,
    DictRecord,
    Items,
    ListRecord,
    Mapping,
    Named,
    Numbers,
    Plain,
    Ref,
    Symbolic,
    Value,
)

if TYPE_CHECKING:
    from fitdoctor.source.interpreter.interpret import Interpreter

_TEXT_METHODS = frozenset(
    "lower upper strip lstrip rstrip replace startswith endswith title capitalize split splitlines join format "
    "count find zfill removeprefix removesuffix is_integer bit_length index".split()
)


def plain(values: Any) -> list[Any] | None:
    """Return the Python values of plain values; None if one is unknown."""
    found = []
    for value in values:
        if not isinstance(value, Plain):
            return None
        found.append(value.value)
    return found


def as_value(run: Interpreter, value: Any) -> Value:
    """A Python value as an abstract one."""
    if isinstance(value, list):
        return run.new_list(as_value(run, item) for item in value)
    if isinstance(value, tuple):
        return Items(tuple(as_value(run, item) for item in value))
    if value is None or isinstance(value, (bool, int, float, str, bytes)):
        return Plain(value)
    return UNTOLD


def computed(run: Interpreter, function: Callable[..., Any], arguments: Arguments) -> Value:
    """Call a harmless function on plain values."""
    values = plain(arguments.positional)
    named = plain(value for _, value in arguments.keywords)
    if values is None or named is None or not arguments.complete:
        return UNTOLD
    if any(isinstance(value, int) and value.bit_length() > 256 for value in values):
        return UNTOLD
    try:
        return as_value(run, function(*values, **dict(zip(arguments.names(), named, strict=True))))
    except (ArithmeticError, TypeError, ValueError, LookupError, AttributeError):
        return UNTOLD


def _computing(function: Callable[..., Any]) -> Callable[[Interpreter, Arguments], Value]:
    return lambda run, arguments: computed(run, function, arguments)


for _name in (
    "abs",
    "round",
    "int",
    "float",
    "str",
    "bool",
    "divmod",
    "pow",
    "ord",
    "chr",
    "repr",
    "bin",
    "hex",
):
    handles(_name)(_computing(getattr(__import__("builtins"), _name)))
for _name in (
    "sqrt",
    "ceil",
    "floor",
    "log",
    "log2",
    "log10",
    "exp",
    "gcd",
    "trunc",
    "sin",
    "cos",
    "fabs",
    "isqrt",
):
    handles(f"math.{_name}")(_computing(getattr(math, _name)))


def _number(function: Callable[..., Any]) -> Callable[[Interpreter, Arguments], Value]:
    """Convert with `int` or `float`, which accept NumPy numbers too."""

    def handler(run: Interpreter, arguments: Arguments) -> Value:
        value = arguments.positional[0] if arguments.positional else None
        if isinstance(value, Array) and value.dims == () and value.numbers is not None:
            return computed(run, function, replace(arguments, positional=(Plain(value.numbers[0]),)))
        return computed(run, function, arguments)

    return handler


def _drawn(run: Interpreter, arguments: Arguments) -> Value:
    return Array((), "float64", "float")


for _name in ("random", "uniform", "gauss", "normalvariate", "triangular", "betavariate", "expovariate"):
    handles(f"random.{_name}")(_drawn)


handles("int")(_number(int))
handles("float")(_number(float))


@handles("len")
def _len(run: Interpreter, arguments: Arguments) -> Value:
    value = arguments.get("obj", 0)
    if isinstance(value, Array):
        dims = arrays.known_dims(value)
        return arrays.value_of(dims[0]) if dims else UNTOLD
    if isinstance(value, Plain) and isinstance(value.value, (str, bytes)):
        return Plain(len(value.value))
    if isinstance(value, Numbers):
        return Plain(len(value.values))
    pairs = objects.pairs_of(run, value)
    items = run.sequence(value) if pairs is None else pairs
    return UNTOLD if items is None else Plain(len(items))


@handles("range")
def _range(run: Interpreter, arguments: Arguments) -> Value:
    values = plain(arguments.positional)
    if values is None or not all(isinstance(value, int) for value in values) or not 1 <= len(values) <= 3:
        return UNTOLD
    if len(values) == 3 and values[2] == 0:
        return UNTOLD
    return Numbers(range(*values))


@handles("list")
def _list(run: Interpreter, arguments: Arguments) -> Value:
    if not arguments.positional:
        return run.new_list(())
    value = arguments.positional[0]
    record = run.record(value) if isinstance(value, Ref) else None
    if isinstance(record, ListRecord):
        return run.allocate(replace(record, node=arguments.node))
    rows = objects.iterated(run, value)
    if isinstance(value, Array) and rows is None:
        # longer ones are represented only as a list of rows
        return run.allocate(ListRecord(None, arguments.node, objects.element_of(run, value), grows=True))
    return run.allocate(ListRecord(rows))


@handles("tuple")
def _tuple(run: Interpreter, arguments: Arguments) -> Value:
    items = objects.iterated(run, arguments.positional[0]) if arguments.positional else ()
    return UNTOLD if items is None else Items(items)


@handles("dict")
def _dict(run: Interpreter, arguments: Arguments) -> Value:
    if not arguments.complete or len(arguments.positional) > 1:
        return run.allocate(DictRecord(None))
    start: tuple[tuple[Any, Value], ...] | None = ()
    if arguments.positional:
        start = objects.pairs_of(run, arguments.positional[0])
        if start is None:
            start = _pairs_from(run, arguments.positional[0])
    if start is None:
        return run.allocate(DictRecord(None))
    return run.allocate(DictRecord(tuple({**dict(start), **dict(arguments.keywords)}.items())))


def _pairs_from(run: Interpreter, value: Value) -> tuple[tuple[Any, Value], ...] | None:
    pairs = []
    for item in run.sequence(value) or (UNTOLD,):
        inside = run.sequence(item)
        if inside is None or len(inside) != 2 or not isinstance(inside[0], Plain):
            return None
        pairs.append((inside[0].value, inside[1]))
    return tuple(pairs)


@handles("sorted")
def _sorted(run: Interpreter, arguments: Arguments) -> Value:
    items = objects.iterated(run, arguments.positional[0]) if arguments.positional else None
    values = None if items is None else plain(items)
    if values is None or arguments.keywords:
        count = None if items is None else tuple(UNTOLD for _ in items)
        return run.allocate(ListRecord(count))
    try:
        return as_value(run, sorted(values))
    except TypeError:
        return UNTOLD


def _folded(function: Callable[..., Any]) -> Callable[[Interpreter, Arguments], Value]:
    def handler(run: Interpreter, arguments: Arguments) -> Value:
        if len(arguments.positional) == 1 and not arguments.keywords:
            items = objects.iterated(run, arguments.positional[0])
            values = None if items is None else plain(items)
            if values is None:
                return UNTOLD
            try:
                return as_value(run, function(values))
            except (TypeError, ValueError):
                return UNTOLD
        return computed(run, function, arguments) if function is not sum else UNTOLD

    return handler


for _name, _function in (
    ("min", min),
    ("max", max),
    ("sum", sum),
    ("any", any),
    ("all", all),
    ("math.prod", math.prod),
):
    handles(_name)(_folded(_function))


_CONTAINERS = frozenset({"tuple", "list", "dict"})


@handles("isinstance")
def _isinstance(run: Interpreter, arguments: Arguments) -> Value:
    """Evaluate `isinstance` checks for Python containers, if the answer is certain."""
    if len(arguments.positional) != 2:
        return UNTOLD
    value, kinds = arguments.positional
    asked = kinds.items if isinstance(kinds, Items) else (kinds,)
    names = {kind.name for kind in asked if isinstance(kind, Named)}
    kind = _container(run, value)
    if kind is None or len(names) != len(asked):
        return UNTOLD
    if kind in names:
        return Plain(True)
    # A list that no longer changes is represented as a tuple here.
    return Plain(False) if names <= _CONTAINERS and kind != "tuple" else UNTOLD


def _container(run: Interpreter, value: Value) -> str | None:
    """Return `tuple`, `list` or `dict`; "" if certainly none of them, None if unknown."""
    if isinstance(value, (Array, Symbolic, Dataset)):
        return ""
    if isinstance(value, Items):
        return "tuple"
    record = run.record(value) if isinstance(value, Ref) else None
    if isinstance(record, ListRecord):
        return "list"
    return "dict" if isinstance(value, Mapping) or isinstance(record, DictRecord) else None


@handles("print", "input", "open", "id", "hash", "type", "hasattr", "callable", "exit", "quit", "sys.exit")
def _quiet(run: Interpreter, arguments: Arguments) -> Value:
    return UNTOLD


@handles("getattr")
def _getattr(run: Interpreter, arguments: Arguments) -> Value:
    if len(arguments.positional) == 2 and isinstance(arguments.positional[1], Plain):
        name = arguments.positional[1].value
        if isinstance(name, str):
            return objects.get_attribute(run, arguments.positional[0], name)
    return UNTOLD


@handles("setattr")
def _setattr(run: Interpreter, arguments: Arguments) -> Value:
    if len(arguments.positional) == 3:
        receiver, name, value = arguments.positional
        if isinstance(name, Plain) and isinstance(name.value, str):
            objects.set_attribute(run, receiver, name.value, value)
            return NONE
    run.touch(arguments)
    return UNTOLD


@handles("copy.copy", "copy.deepcopy")
def _taken(run: Interpreter, arguments: Arguments) -> Value:
    run.touch(arguments)
    return UNTOLD


@handles("random.shuffle", "heapq.heapify", "heapq.heappush", "heapq.heappop", "bisect.insort")
def _disordered(run: Interpreter, arguments: Arguments) -> Value:
    value = arguments.get("x", 0)
    if isinstance(value, Ref):
        items = run.sequence(value)
        merged = objects.element_of(run, value)
        history = record.history if isinstance(record := run.record(value), ListRecord) else None
        run.update(value, ListRecord(None if items is None else (merged,) * len(items), history=history))
    return NONE


# --- methods ----------------------------------------------------------------------------------------------------------


def call_plain_method(run: Interpreter, receiver: Plain | Items, name: str, arguments: Arguments) -> Value:
    """A method of a number, string or tuple."""
    if isinstance(receiver, Items):
        if name in ("as_list",):
            return run.new_list(receiver.items)
        values = plain(receiver.items)
        if values is not None and name in ("count", "index"):
            return computed(run, getattr(tuple(values), name), arguments)
        return UNTOLD
    if name not in _TEXT_METHODS or not hasattr(receiver.value, name):
        run.touch(arguments)
        return UNTOLD
    if name == "join" and arguments.positional:
        parts = run.sequence(arguments.positional[0])
        words = None if parts is None else plain(parts)
        if words is None or not all(isinstance(word, str) for word in words):
            return UNTOLD
        return Plain(str(receiver.value).join(words))
    return computed(run, getattr(receiver.value, name), arguments)


def call_on_list(run: Interpreter, ref: Ref, record: ListRecord, name: str, arguments: Arguments) -> Value:
    """A method of a list."""
    items = record.items
    given = arguments.positional
    if name == "append" and len(given) == 1:
        run.update(ref, grown(run, ref, record, (given[0],)))
        return NONE
    if name == "extend" and len(given) == 1:
        run.update(ref, grown(run, ref, record, objects.iterated(run, given[0])))
        return NONE
    if name == "insert" and len(given) == 2:
        at = arrays.whole(given[0])
        changed = None
        if items is not None and at is not None:
            rows = list(items)
            rows.insert(at, given[1])
            changed = tuple(rows)
        run.update(ref, ListRecord(changed, record.node))
        return NONE
    if name == "pop":
        return _popped(run, ref, record, arguments)
    if name == "copy":
        return run.allocate(replace(record))
    if name in ("index", "count"):
        values = None if items is None else plain(items)
        return UNTOLD if values is None else computed(run, getattr(values, name), arguments)
    if name == "reverse":
        run.update(ref, replace(record, items=None if items is None else items[::-1]))
        return NONE
    run.state.touch(ref)
    return UNTOLD


def grown(run: Interpreter, ref: Ref, record: ListRecord, more: tuple[Value, ...] | None) -> ListRecord:
    """Return the list with appended items; None stands for unknown items."""
    # A list created in every iteration does not grow with the loop.
    grows = record.grows or (bool(run.loops) and ref.id <= run.loops[-1])
    record = replace(record, history=row_history.made(run))
    if record.items is not None and more is not None:
        return replace(record, items=(*record.items, *more), grows=grows)
    whole = None if more is None else tuple(frozen(run, item) for item in more)
    return replace(record, items=None, element=join_elements(every_item(record), whole), grows=grows)


def _popped(run: Interpreter, ref: Ref, record: ListRecord, arguments: Arguments) -> Value:
    items = record.items
    at = arrays.whole(arguments.positional[0]) if arguments.positional else -1
    if not items or at is None or not -len(items) <= at < len(items):
        run.update(ref, replace(record, items=None, element=join_elements(every_item(record))))
        return UNTOLD
    rest = list(items)
    value = rest.pop(at)
    run.update(ref, replace(record, items=tuple(rest)))
    return value


def call_on_dict(run: Interpreter, ref: Ref, record: DictRecord, name: str, arguments: Arguments) -> Value:
    """A method of a dict."""
    items = record.items
    if name in ("items", "keys", "values"):
        if items is None:
            return UNTOLD
        rows: dict[str, list[Value]] = {
            "items": [Items((Plain(key), value)) for key, value in items],
            "keys": [Plain(key) for key, _ in items],
            "values": [value for _, value in items],
        }
        return Items(tuple(rows[name]))
    if name == "get" and arguments.positional:
        key = arguments.positional[0]
        if items is None or not isinstance(key, Plain):
            return UNTOLD
        default = arguments.positional[1] if len(arguments.positional) > 1 else NONE
        return next((value for known, value in items if known == key.value), default)
    if name == "copy":
        return run.allocate(replace(record))
    if name == "update":
        more = objects.pairs_of(run, arguments.positional[0]) if arguments.positional else ()
        told = items is not None and more is not None and arguments.complete
        merged = {**dict(items or ()), **dict(more or ()), **dict(arguments.keywords)}
        run.update(ref, replace(record, items=tuple(merged.items()) if told else None))
        return NONE
    run.state.touch(ref)
    run.touch(arguments)
    return UNTOLD

"""Evaluating expressions to abstract values."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from fitdoctor.facts import Unknown
from fitdoctor.source.data import arrays
from fitdoctor.source.data.array_arguments import frozen
from fitdoctor.source.interpreter import objects, operators, row_history
from fitdoctor.source.interpreter.binding import bind
from fitdoctor.source.interpreter.handed_functions import forget_changed_by
from fitdoctor.source.interpreter.joining import join_elements
from fitdoctor.source.interpreter.other_files import imported_value
from fitdoctor.source.interpreter.values import (
    NONE,
    UNTOLD,
    Arguments,
    Array,
    Class,
    DictRecord,
    Function,
    Items,
    LayerCall,
    ListRecord,
    Made,
    Mapping,
    Method,
    Named,
    Plain,
    Ref,
    Span,
    Symbolic,
    Value,
)
from fitdoctor.source.models.layer_settings import Dims

if TYPE_CHECKING:
    from fitdoctor.source.interpreter.interpret import Interpreter


def evaluate(run: Interpreter, node: ast.expr) -> Value:
    """Return the value of an expression."""
    run.tick()
    handler = _EXPRESSIONS.get(type(node))
    if handler is None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                run.state.touch(evaluate(run, child))
        return UNTOLD
    return run.settled(handler(run, node))


# --- names and literals -----------------------------------------------------------------------------------------------


def _name(run: Interpreter, node: ast.expr) -> Value:
    assert isinstance(node, ast.Name)
    value = run.lookup(node.id)
    if value is not None:
        return value
    if node.id == "__name__":
        return Plain("__main__" if run.module is run.home else run.module.path)
    name = run.resolve(node)
    return (imported_value(run, node, name) or Named(name)) if name else UNTOLD


def _constant(run: Interpreter, node: ast.expr) -> Value:
    assert isinstance(node, ast.Constant)
    return Plain(node.value)


def _tuple(run: Interpreter, node: ast.expr) -> Value:
    assert isinstance(node, ast.Tuple)
    items = _items(run, node.elts)
    return UNTOLD if items is None else Items(items)


def _list(run: Interpreter, node: ast.expr) -> Value:
    assert isinstance(node, ast.List)
    return run.allocate(ListRecord(_items(run, node.elts), node))


def _items(run: Interpreter, elements: list[ast.expr]) -> tuple[Value, ...] | None:
    items: list[Value] = []
    told = True
    for element in elements:
        if isinstance(element, ast.Starred):
            inside = run.sequence(evaluate(run, element.value))
            told = told and inside is not None
            items.extend(inside or ())
        else:
            items.append(evaluate(run, element))
    return tuple(items) if told else None


def _dict(run: Interpreter, node: ast.expr) -> Value:
    assert isinstance(node, ast.Dict)
    pairs: dict[Any, Value] = {}
    told = True
    for key, value in zip(node.keys, node.values, strict=True):
        inside = evaluate(run, value)
        if key is None:
            merged = objects.pairs_of(run, inside)
            told = told and merged is not None
            pairs.update(merged or ())
            continue
        name = evaluate(run, key)
        if isinstance(name, Plain):
            pairs[name.value] = inside
        else:
            told = False
    return run.allocate(DictRecord(tuple(pairs.items()) if told else None, node))


def _set(run: Interpreter, node: ast.expr) -> Value:
    assert isinstance(node, ast.Set)
    _items(run, node.elts)
    return UNTOLD


def _joined_string(run: Interpreter, node: ast.expr) -> Value:
    assert isinstance(node, ast.JoinedStr)
    parts: list[str] = []
    for part in node.values:
        text = _formatted(run, part) if isinstance(part, ast.FormattedValue) else evaluate(run, part)
        if not isinstance(text, Plain):
            return UNTOLD
        parts.append(str(text.value))
    return Plain("".join(parts))


def _formatted(run: Interpreter, part: ast.FormattedValue) -> Value:
    value = evaluate(run, part.value)
    style = Plain("") if part.format_spec is None else evaluate(run, part.format_spec)
    if not isinstance(value, Plain) or not isinstance(style, Plain) or part.conversion != -1:
        return UNTOLD
    if len(style.value) > 8:
        return UNTOLD
    try:
        return Plain(format(value.value, style.value))
    except (TypeError, ValueError):
        return UNTOLD


def _lambda(run: Interpreter, node: ast.expr) -> Value:
    assert isinstance(node, ast.Lambda)
    objects.remember_defaults(run, node)
    return Function(node, run.frame)


def _slice(run: Interpreter, node: ast.expr) -> Value:
    assert isinstance(node, ast.Slice)
    start, stop, step = (
        NONE if part is None else evaluate(run, part) for part in (node.lower, node.upper, node.step)
    )
    told = all(isinstance(part, Plain) for part in (start, stop))
    if told or node.step is not None:
        return Span(start, stop, step)
    from fitdoctor.source.interpreter.windows import window_length

    return Span(start, stop, step, window_length(run, node))


def _conditional(run: Interpreter, node: ast.expr) -> Value:
    assert isinstance(node, ast.IfExp)
    truth = objects.truth(run, evaluate(run, node.test))
    if truth is not None:
        return evaluate(run, node.body if truth else node.orelse)
    return objects.join_values(evaluate(run, node.body), evaluate(run, node.orelse))


def _named(run: Interpreter, node: ast.expr) -> Value:
    assert isinstance(node, ast.NamedExpr)
    value = evaluate(run, node.value)
    run.assign(node.target.id, value)
    return value


# --- attributes, subscripts, calls ------------------------------------------------------------------------------------


def _attribute(run: Interpreter, node: ast.expr) -> Value:
    assert isinstance(node, ast.Attribute)
    name = run.resolve(node)
    if name:
        return imported_value(run, node, name) or _library_constant(name)
    receiver = evaluate(run, node.value)
    made = operators.made_here(objects.get_attribute(run, receiver, node.attr), node)
    return row_history.after_attribute(run, receiver, made)


def _library_constant(name: str) -> Value:
    known = {
        "numpy.newaxis": Plain(None),
        "tensorflow.newaxis": Plain(None),
        "numpy.pi": Plain(3.141592653589793),
        "math.pi": Plain(3.141592653589793),
        "numpy.nan": Plain(float("nan")),
        "numpy.inf": Plain(float("inf")),
    }
    return known.get(name, Named(name))


def _subscript(run: Interpreter, node: ast.expr) -> Value:
    assert isinstance(node, ast.Subscript)
    receiver, key = evaluate(run, node.value), evaluate(run, node.slice)
    made = operators.made_here(subscript(run, receiver, key, node), node)
    return row_history.after_index(run, receiver, key, node, made)


_TEXT_TABLES = ("numpy.loadtxt", "numpy.genfromtxt")


def subscript(run: Interpreter, receiver: Value, key: Value, node: ast.expr) -> Value:
    """`receiver[key]`."""
    from fitdoctor.source.data import tables
    from fitdoctor.source.interpreter import indexing

    if isinstance(receiver, Array):
        if receiver.container.startswith("pandas"):
            return tables.table_item(run, receiver, key)
        return indexing.index(receiver, tables.as_index(run, key))
    if isinstance(receiver, Symbolic):
        walked = None if isinstance(receiver.dims, Unknown) else indexing.index_dims(receiver.dims, key)
        dims: Dims | Unknown = UNTOLD if walked is None else walked[0]
        return Symbolic(dims, receiver.dtype, LayerCall(None, (receiver,), run.fresh(), node))
    if isinstance(receiver, Mapping) or (
        isinstance(receiver, Ref) and isinstance(run.record(receiver), DictRecord)
    ):
        pairs = objects.pairs_of(run, receiver)
        if pairs is None or not isinstance(key, Plain):
            return UNTOLD
        return next((value for name, value in pairs if name == key.value), UNTOLD)
    if isinstance(receiver, Plain) and isinstance(receiver.value, str):
        return _text_item(receiver.value, key)
    if isinstance(receiver, Method) and receiver.name in ("iloc", "loc"):
        return tables.table_rows(run, receiver, key)
    if isinstance(receiver, Made) and receiver.name in _TEXT_TABLES and isinstance(key, Items):
        # A table may have one axis, but indexing rows and columns implies two.
        return indexing.index(Array((UNTOLD, UNTOLD), "float64"), tables.as_index(run, key))
    items = run.sequence(receiver)
    if items is None:
        return _of_grown(run, receiver, key)
    at = arrays.whole(key)
    if at is not None:
        return items[at] if -len(items) <= at < len(items) else UNTOLD
    ends = _ends(key)
    if ends is None:
        return UNTOLD
    part = items[ends]
    return Items(part) if isinstance(receiver, Items) else run.new_list(part, node)


def _of_grown(run: Interpreter, receiver: Value, key: Value) -> Value:
    """An item, or a part, of a list that a loop has filled."""
    record = run.record(receiver) if isinstance(receiver, Ref) else None
    if not isinstance(record, ListRecord) or not record.grows:
        return UNTOLD
    if isinstance(key, Span):
        return run.allocate(record)
    return UNTOLD if record.element is None or arrays.whole(key) is None else record.element


def _ends(key: Value) -> slice | None:
    if not isinstance(key, Span):
        return None
    ends = [end.value for end in (key.start, key.stop, key.step) if isinstance(end, Plain)]
    if len(ends) != 3 or any(not (end is None or isinstance(end, int)) for end in ends) or ends[2] == 0:
        return None
    return slice(*ends)


def _text_item(text: str, key: Value) -> Value:
    at = arrays.whole(key)
    if at is not None and -len(text) <= at < len(text):
        return Plain(text[at])
    ends = _ends(key)
    return UNTOLD if ends is None else Plain(text[ends])


def _call(run: Interpreter, node: ast.expr) -> Value:
    assert isinstance(node, ast.Call)
    callee = _callee(run, node)
    arguments = call_arguments(run, node)
    value = run.call(callee, arguments)
    of_the_user = isinstance(callee, (Function, Class)) or (
        isinstance(callee, Method) and not isinstance(callee.receiver, (Array, Made))
    )
    if of_the_user:
        return value
    return row_history.after_call(run, callee, arguments, operators.made_here(value, node))


def _callee(run: Interpreter, node: ast.Call) -> Value:
    func = node.func
    if isinstance(func, ast.Name) and func.id == "super" and run.lookup("super") is None and not node.args:
        return Named("super")
    if isinstance(func, ast.Attribute):
        name = run.resolve(func)
        if name:
            return imported_value(run, func, name) or Named(name)
        return objects.get_attribute(run, evaluate(run, func.value), func.attr)
    return evaluate(run, func)


def call_arguments(run: Interpreter, node: ast.Call) -> Arguments:
    """The arguments of a call, evaluated."""
    positional = _items(run, node.args)
    # `model.compile(...)` in a text leaves the arguments to the reader.
    open_ended = any(isinstance(each, ast.Constant) and each.value is ... for each in node.args)
    complete = positional is not None and not open_ended
    if positional is None:
        # arguments before the first star keep their positions
        plain = []
        for argument in node.args:
            if isinstance(argument, ast.Starred):
                break
            plain.append(evaluate(run, argument))
        positional = tuple(plain)
    keywords: dict[str, Value] = {}
    for keyword in node.keywords:
        value = evaluate(run, keyword.value)
        if keyword.arg is not None:
            keywords[keyword.arg] = value
            continue
        pairs = objects.pairs_of(run, value)
        if pairs is None or not all(isinstance(name, str) for name, _ in pairs):
            complete = False
        else:
            keywords.update(pairs)
    return Arguments(positional, tuple(keywords.items()), node, complete)


# --- comprehensions ---------------------------------------------------------------------------------------------------


def _comprehension(run: Interpreter, node: ast.expr) -> Value:
    assert isinstance(node, (ast.ListComp, ast.GeneratorExp, ast.SetComp))
    one: list[Value] = []
    items = _comprehended(run, node.generators, node.elt, one)
    if isinstance(node, ast.SetComp):
        return UNTOLD
    if isinstance(node, ast.GeneratorExp):
        return UNTOLD if items is None else Items(tuple(items))
    if items is None:
        element = join_elements(tuple(frozen(run, value) for value in one))
        return run.allocate(ListRecord(None, node, element, grows=bool(one)))
    return run.allocate(ListRecord(tuple(items), node))


def _dict_comprehension(run: Interpreter, node: ast.expr) -> Value:
    assert isinstance(node, ast.DictComp)
    pair = ast.copy_location(ast.Tuple([node.key, node.value], ast.Load()), node)
    items = _comprehended(run, node.generators, pair, [])
    pairs: dict[Any, Value] | None = {}
    for item in items or ():
        if pairs is not None and isinstance(item, Items) and isinstance(item.items[0], Plain):
            pairs[item.items[0].value] = item.items[1]
        else:
            pairs = None
    told = items is not None and pairs is not None
    return run.allocate(DictRecord(tuple((pairs or {}).items()) if told else None, node))


def _comprehended(
    run: Interpreter, generators: list[ast.comprehension], element: ast.expr, one: list[Value]
) -> list[Value] | None:
    """Return the items; None if their number is unknown, with a representative item in `one`."""
    outer = run.frame
    run.frame = run.new_frame(outer)
    try:
        return _comprehended_from(run, generators, element, one)
    finally:
        if not _keeps_frame(element):
            run.state.frames.pop(run.frame, None)
        run.frame = outer


def _keeps_frame(element: ast.expr) -> bool:
    return any(isinstance(part, ast.Lambda) for part in ast.walk(element))


def _comprehended_from(
    run: Interpreter, generators: list[ast.comprehension], element: ast.expr, one: list[Value]
) -> list[Value] | None:
    if not generators:
        return [evaluate(run, element)]
    first = generators[0]
    over = evaluate(run, first.iter)
    items = objects.iterated(run, over)
    if items is None:
        bind(run, first.target, objects.element_of(run, over), None)
        one.extend(_comprehended_from(run, generators[1:], element, one) or ())
        forget_changed_by(run, element, run.frame)
        return None
    found: list[Value] = []
    told = True
    before = run.ticks
    with run.unrolling():
        for count, item in enumerate(items, 1):
            bind(run, first.target, item, None)
            truths = [objects.truth(run, evaluate(run, test)) for test in first.ifs]
            told = told and None not in truths
            if all(truth is not False for truth in truths):
                inside = _comprehended_from(run, generators[1:], element, one)
                told = told and inside is not None
                found.extend(inside or ())
            if not told or not run.may_unroll(before, count, len(items)):
                one.clear()
                return None
    return found


def _yield(run: Interpreter, node: ast.expr) -> Value:
    assert isinstance(node, ast.Yield)
    run.control[-1].yields.append(NONE if node.value is None else evaluate(run, node.value))
    return UNTOLD


def _yield_from(run: Interpreter, node: ast.expr) -> Value:
    assert isinstance(node, ast.YieldFrom)
    evaluate(run, node.value)
    run.control[-1].yields.append(UNTOLD)
    return UNTOLD


_EXPRESSIONS: dict[type[ast.expr], Callable[[Interpreter, ast.expr], Value]] = {
    ast.Attribute: _attribute,
    ast.BinOp: operators.binary,
    ast.BoolOp: operators.boolean,
    ast.Call: _call,
    ast.Compare: operators.compare,
    ast.Constant: _constant,
    ast.Dict: _dict,
    ast.DictComp: _dict_comprehension,
    ast.GeneratorExp: _comprehension,
    ast.IfExp: _conditional,
    ast.JoinedStr: _joined_string,
    ast.Lambda: _lambda,
    ast.List: _list,
    ast.ListComp: _comprehension,
    ast.Name: _name,
    ast.NamedExpr: _named,
    ast.Set: _set,
    ast.SetComp: _comprehension,
    ast.Slice: _slice,
    ast.Subscript: _subscript,
    ast.Tuple: _tuple,
    ast.UnaryOp: operators.unary,
    ast.Yield: _yield,
    ast.YieldFrom: _yield_from,
}

"""Evaluating expressions to abstract values."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from fitdoctor.facts import Unknown
from fitdoctor.source import arrays, objects
from fitdoctor.source.layer_settings import Dims
from fitdoctor.source.values import (
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

if TYPE_CHECKING:
    from fitdoctor.source.interpret import Interpreter

MOST_UNROLLED_TICKS = 60_000
"""A loop that would take more than this to follow step by step is followed once, for all steps together."""
_LONGEST = 4096
"""The longest string or sequence that arithmetic may make."""

_OPERATORS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.BitOr: operator.or_,
    ast.BitAnd: operator.and_,
    ast.BitXor: operator.xor,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
}
_COMPARISONS: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}


def evaluate(run: Interpreter, node: ast.expr) -> Value:
    """What an expression gives."""
    run.tick()
    handler = _EXPRESSIONS.get(type(node))
    if handler is None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                run.state.touch(evaluate(run, child))
        return UNTOLD
    return run.settled(handler(run, node))


def _made_here(value: Value, node: ast.expr) -> Value:
    """An array remembers the expression that made it."""
    return replace(value, node=node) if isinstance(value, Array) else value


# --- names and literals -----------------------------------------------------------------------------------------------


def _name(run: Interpreter, node: ast.expr) -> Value:
    assert isinstance(node, ast.Name)
    value = run.lookup(node.id)
    if value is not None:
        return value
    if node.id == "__name__":
        return Plain("__main__")
    name = run.resolve(node)
    return Named(name) if name else UNTOLD


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
        inner = part.value if isinstance(part, ast.FormattedValue) else part
        value = evaluate(run, inner)
        if not isinstance(value, Plain) or (
            isinstance(part, ast.FormattedValue) and (part.format_spec or part.conversion != -1)
        ):
            return UNTOLD
        parts.append(str(value.value))
    return Plain("".join(parts))


def _lambda(run: Interpreter, node: ast.expr) -> Value:
    assert isinstance(node, ast.Lambda)
    objects.remember_defaults(run, node)
    return Function(node, run.frame)


def _slice(run: Interpreter, node: ast.expr) -> Value:
    assert isinstance(node, ast.Slice)
    start, stop, step = (NONE if part is None else evaluate(run, part) for part in (node.lower, node.upper, node.step))
    return Span(start, stop, step)


# --- operators --------------------------------------------------------------------------------------------------------


def _binary(run: Interpreter, node: ast.expr) -> Value:
    assert isinstance(node, ast.BinOp)
    left, right = evaluate(run, node.left), evaluate(run, node.right)
    if isinstance(left, Plain) and isinstance(right, Plain):
        return _plain_binary(node.op, left.value, right.value)
    if isinstance(left, Symbolic) or isinstance(right, Symbolic):
        return symbolic_operation(run, (left, right), node)
    if isinstance(left, Array) or isinstance(right, Array):
        return _made_here(array_operation(left, right, node.op), node)
    return _sequence_binary(run, node, left, right)


def _plain_binary(op: ast.operator, left: Any, right: Any) -> Value:
    function = _OPERATORS.get(type(op))
    if function is None or _too_large(op, left, right):
        return UNTOLD
    try:
        value = function(left, right)
    except (ArithmeticError, TypeError, ValueError):
        return UNTOLD
    return Plain(value) if isinstance(value, (bool, int, float, str, bytes)) else UNTOLD


def _too_large(op: ast.operator, left: Any, right: Any) -> bool:
    if isinstance(op, (ast.Pow, ast.LShift)):
        return not (isinstance(right, (int, float)) and abs(right) <= 64 and isinstance(left, (int, float)))
    if isinstance(op, ast.Mult) and (isinstance(left, (str, bytes)) or isinstance(right, (str, bytes))):
        return True
    return any(isinstance(side, int) and side.bit_length() > 256 for side in (left, right))


def _sequence_binary(run: Interpreter, node: ast.BinOp, left: Value, right: Value) -> Value:
    one, other = run.sequence(left), run.sequence(right)
    if isinstance(node.op, ast.Add) and one is not None and other is not None:
        joined = (*one, *other)
        return Items(joined) if isinstance(left, Items) else run.new_list(joined, node)
    if isinstance(node.op, ast.Mult):
        items, times = (one, arrays.whole(right)) if one is not None else (other, arrays.whole(left))
        if items is not None and times is not None and 0 <= times * len(items) <= _LONGEST:
            source = left if one is not None else right
            return Items(items * times) if isinstance(source, Items) else run.new_list(items * times, node)
    if isinstance(node.op, ast.BitOr):
        first, second = objects.pairs_of(run, left), objects.pairs_of(run, right)
        if first is not None and second is not None:
            return run.allocate(DictRecord(tuple({**dict(first), **dict(second)}.items()), node))
    return UNTOLD


def array_operation(left: Value, right: Value, op: ast.operator) -> Value:
    """Elementwise arithmetic where at least one side is an array."""
    if isinstance(op, ast.MatMult):
        return _matrix_product(left, right)
    one, other = _as_array(left), _as_array(right)
    if one is None or other is None:
        return UNTOLD
    dims = arrays.broadcast(one.dims, other.dims)
    dtype = _result_dtype(left, right, op)
    name = type(op).__name__
    bounds = None
    if isinstance(left, Array) and isinstance(right, Plain) and isinstance(right.value, (int, float)):
        bounds = arrays.scaled(left, name, right.value, False)
    elif isinstance(right, Array) and isinstance(left, Plain) and isinstance(left.value, (int, float)):
        bounds = arrays.scaled(right, name, left.value, True)
    return Array(dims, dtype, container=_container(left, right), bounds=bounds)


def _container(left: Value, right: Value) -> str:
    containers = {side.container for side in (left, right) if isinstance(side, Array)}
    for container in ("tensorflow.Tensor", "pandas.DataFrame", "pandas.Series"):
        if container in containers:
            return container
    return "numpy.ndarray" if containers == {"numpy.ndarray"} else ""


def _as_array(value: Value) -> Array | None:
    if isinstance(value, Array):
        return value
    if isinstance(value, Plain) and isinstance(value.value, (bool, int, float)):
        return Array((), UNTOLD)
    return None


def _result_dtype(left: Value, right: Value, op: ast.operator) -> str | Unknown:
    kinds = [side.dtype for side in (left, right) if isinstance(side, Array)]
    dtype = arrays.common_dtype(kinds)
    if isinstance(dtype, Unknown):
        return dtype
    number = next((side.value for side in (left, right) if isinstance(side, Plain)), None)
    if dtype in arrays.FLOATS:
        return dtype
    if isinstance(op, ast.Div) or isinstance(number, float):
        return "float64" if dtype in ("int64", "int32", "bool") else UNTOLD
    if isinstance(op, ast.Pow) or dtype == "bool":
        return dtype if isinstance(op, (ast.BitAnd, ast.BitOr, ast.BitXor)) else UNTOLD
    return dtype


def _matrix_product(left: Value, right: Value) -> Value:
    if not isinstance(left, Array) or not isinstance(right, Array):
        return UNTOLD
    dims = matrix_dims(left.dims, right.dims)
    return Array(dims, arrays.common_dtype((left.dtype, right.dtype)), container=_container(left, right))


def matrix_dims(left: Dims | Unknown, right: Dims | Unknown) -> Dims | Unknown:
    """The shape of `left @ right`; Unknown where it would raise."""
    if isinstance(left, Unknown) or isinstance(right, Unknown) or not left or not right:
        return UNTOLD
    inner = right[-2] if len(right) > 1 else right[0]
    if isinstance(left[-1], int) and isinstance(inner, int) and left[-1] != inner:
        return UNTOLD
    if len(left) > 2 or len(right) > 2:
        if len(left) != len(right):
            return UNTOLD if len(right) > 2 else (*left[:-1], *right[1:])
        batch = arrays.broadcast(left[:-2], right[:-2])
        return batch if isinstance(batch, Unknown) else (*batch, left[-2], right[-1])
    return (*left[:-1], *right[1:])


def symbolic_operation(run: Interpreter, operands: tuple[Value, ...], node: ast.expr) -> Value:
    """Arithmetic on symbolic tensors: the shapes are broadcast, the history goes on."""
    dims: Dims | Unknown = ()
    for operand in operands:
        if isinstance(operand, (Symbolic, Array)):
            dims = arrays.broadcast(dims, operand.dims)
        elif not (isinstance(operand, Plain) and isinstance(operand.value, (bool, int, float))):
            return UNTOLD
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
        shapes = [operand.dims for operand in operands if isinstance(operand, (Symbolic, Array))]
        dims = matrix_dims(*shapes) if len(shapes) == 2 else UNTOLD
    symbolic = tuple(operand for operand in operands if isinstance(operand, Symbolic))
    dtype = symbolic[0].dtype if len({one.dtype for one in symbolic}) == 1 else "float32"
    return Symbolic(dims, dtype, LayerCall(None, symbolic, run.fresh(), node))


def _unary(run: Interpreter, node: ast.expr) -> Value:
    assert isinstance(node, ast.UnaryOp)
    value = evaluate(run, node.operand)
    if isinstance(node.op, ast.Not):
        truth = objects.truth(run, value)
        return UNTOLD if truth is None else Plain(not truth)
    if isinstance(value, Plain) and isinstance(value.value, (bool, int, float)):
        if isinstance(node.op, ast.USub):
            return Plain(-value.value)
        if isinstance(node.op, ast.Invert) and isinstance(value.value, int):
            return Plain(~value.value)
        return Plain(+value.value)
    if isinstance(value, Array):
        bounds = arrays.scaled(value, "Mult", -1, False) if isinstance(node.op, ast.USub) else None
        return Array(value.dims, value.dtype, value.container, bounds=bounds, node=node)
    if isinstance(value, Symbolic):
        return symbolic_operation(run, (value,), node)
    return UNTOLD


def _boolean(run: Interpreter, node: ast.expr) -> Value:
    assert isinstance(node, ast.BoolOp)
    decisive = isinstance(node.op, ast.Or)
    sure = True
    value: Value = UNTOLD
    for part in node.values:
        value = evaluate(run, part)
        truth = objects.truth(run, value)
        if truth is decisive and sure:
            return value
        if truth is None:
            sure = False
    return value if sure else UNTOLD


def _compare(run: Interpreter, node: ast.expr) -> Value:
    assert isinstance(node, ast.Compare)
    values = [evaluate(run, node.left), *(evaluate(run, part) for part in node.comparators)]
    if len(values) != 2:
        return _chained(node, values)
    return _compared(run, node.ops[0], values[0], values[1], node)


def _chained(node: ast.Compare, values: list[Value]) -> Value:
    for op, left, right in zip(node.ops, values, values[1:], strict=False):
        function = _COMPARISONS.get(type(op))
        if function is None or not isinstance(left, Plain) or not isinstance(right, Plain):
            return UNTOLD
        try:
            if not function(left.value, right.value):
                return Plain(False)
        except TypeError:
            return UNTOLD
    return Plain(True)


def _compared(run: Interpreter, op: ast.cmpop, left: Value, right: Value, node: ast.expr) -> Value:
    if isinstance(op, (ast.Is, ast.IsNot)):
        same = _identical(left, right)
        return UNTOLD if same is None else Plain(same is isinstance(op, ast.Is))
    if isinstance(op, (ast.In, ast.NotIn)):
        inside = _contained(run, left, right)
        return UNTOLD if inside is None else Plain(inside is isinstance(op, ast.In))
    if isinstance(left, Array) or isinstance(right, Array):
        one, other = _as_array(left), _as_array(right)
        if one is None or other is None:
            text = isinstance(right, Plain) and isinstance(right.value, str)
            return Array(left.dims, "bool", left.container, node=node) if text and isinstance(left, Array) else UNTOLD
        return Array(arrays.broadcast(one.dims, other.dims), "bool", _container(left, right), node=node)
    if isinstance(left, Symbolic) or isinstance(right, Symbolic):
        made = symbolic_operation(run, (left, right), node)
        return replace(made, dtype="bool") if isinstance(made, Symbolic) else made
    function = _COMPARISONS.get(type(op))
    if function is not None and _comparable(left) and _comparable(right):
        try:
            return Plain(bool(function(_python(left), _python(right))))
        except TypeError:
            return UNTOLD
    return UNTOLD


def _comparable(value: Value) -> bool:
    if isinstance(value, Items):
        return all(_comparable(item) for item in value.items)
    return isinstance(value, Plain)


def _python(value: Value) -> Any:
    if isinstance(value, Items):
        return tuple(_python(item) for item in value.items)
    return value.value if isinstance(value, Plain) else None


def _identical(left: Value, right: Value) -> bool | None:
    for one, other in ((left, right), (right, left)):
        if isinstance(other, Plain) and other.value is None:
            if isinstance(one, Plain):
                return one.value is None
            return None if isinstance(one, (Unknown, Named, Made)) else False
    if isinstance(left, Plain) and isinstance(right, Plain):
        return left.value is right.value if isinstance(left.value, bool) else None
    return None


def _contained(run: Interpreter, left: Value, right: Value) -> bool | None:
    if not isinstance(left, Plain):
        return None
    if isinstance(right, Plain) and isinstance(right.value, str) and isinstance(left.value, str):
        return left.value in right.value
    pairs = objects.pairs_of(run, right)
    if pairs is not None:
        return any(left.value == key for key, _ in pairs)
    items = run.sequence(right)
    if items is None or not all(isinstance(item, Plain) for item in items):
        return None
    return any(isinstance(item, Plain) and item.value == left.value for item in items)


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
        return _library_constant(name)
    return _made_here(objects.get_attribute(run, evaluate(run, node.value), node.attr), node)


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
    return _made_here(subscript(run, receiver, key, node), node)


def subscript(run: Interpreter, receiver: Value, key: Value, node: ast.expr) -> Value:
    """`receiver[key]`."""
    if isinstance(receiver, Array):
        if receiver.container.startswith("pandas"):
            return objects.table_item(run, receiver, key)
        return arrays.index(receiver, objects.as_index(run, key))
    if isinstance(receiver, Symbolic):
        walked = None if isinstance(receiver.dims, Unknown) else arrays.index_dims(receiver.dims, key)
        dims: Dims | Unknown = UNTOLD if walked is None else walked[0]
        return Symbolic(dims, receiver.dtype, LayerCall(None, (receiver,), run.fresh(), node))
    if isinstance(receiver, Mapping) or (isinstance(receiver, Ref) and isinstance(run.record(receiver), DictRecord)):
        pairs = objects.pairs_of(run, receiver)
        if pairs is None or not isinstance(key, Plain):
            return UNTOLD
        return next((value for name, value in pairs if name == key.value), UNTOLD)
    if isinstance(receiver, Plain) and isinstance(receiver.value, str):
        return _text_item(receiver.value, key)
    if isinstance(receiver, Method) and receiver.name in ("iloc", "loc"):
        return objects.table_rows(run, receiver, key)
    items = run.sequence(receiver)
    if items is None:
        return UNTOLD
    at = arrays.whole(key)
    if at is not None:
        return items[at] if -len(items) <= at < len(items) else UNTOLD
    ends = _ends(key)
    if ends is None:
        return UNTOLD
    part = items[ends]
    return Items(part) if isinstance(receiver, Items) else run.new_list(part, node)


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
    return value if of_the_user else _made_here(value, node)


def _callee(run: Interpreter, node: ast.Call) -> Value:
    func = node.func
    if isinstance(func, ast.Name) and func.id == "super" and run.lookup("super") is None and not node.args:
        return Named("super")
    if isinstance(func, ast.Attribute):
        name = run.resolve(func)
        if name:
            return Named(name)
        return objects.get_attribute(run, evaluate(run, func.value), func.attr)
    return evaluate(run, func)


def call_arguments(run: Interpreter, node: ast.Call) -> Arguments:
    """The arguments of a call, evaluated."""
    positional = _items(run, node.args)
    complete = positional is not None
    if positional is None:
        # what stands before the first star is still in its place
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
    items = _comprehended(run, node.generators, node.elt)
    if isinstance(node, ast.SetComp):
        return UNTOLD
    if isinstance(node, ast.GeneratorExp):
        return UNTOLD if items is None else Items(tuple(items))
    return run.allocate(ListRecord(None if items is None else tuple(items), node))


def _dict_comprehension(run: Interpreter, node: ast.expr) -> Value:
    assert isinstance(node, ast.DictComp)
    pair = ast.copy_location(ast.Tuple([node.key, node.value], ast.Load()), node)
    items = _comprehended(run, node.generators, pair)
    pairs: dict[Any, Value] | None = {}
    for item in items or ():
        if pairs is not None and isinstance(item, Items) and isinstance(item.items[0], Plain):
            pairs[item.items[0].value] = item.items[1]
        else:
            pairs = None
    told = items is not None and pairs is not None
    return run.allocate(DictRecord(tuple((pairs or {}).items()) if told else None, node))


def _comprehended(run: Interpreter, generators: list[ast.comprehension], element: ast.expr) -> list[Value] | None:
    outer = run.frame
    run.frame = run.new_frame(outer)
    try:
        return _comprehended_from(run, generators, element)
    finally:
        if not _keeps_frame(element):
            run.state.frames.pop(run.frame, None)
        run.frame = outer


def _keeps_frame(element: ast.expr) -> bool:
    return any(isinstance(part, ast.Lambda) for part in ast.walk(element))


def _comprehended_from(
    run: Interpreter, generators: list[ast.comprehension], element: ast.expr
) -> list[Value] | None:
    from fitdoctor.source.statements import bind

    if not generators:
        return [evaluate(run, element)]
    first = generators[0]
    over = evaluate(run, first.iter)
    items = objects.iterated(run, over)
    if items is None:
        bind(run, first.target, objects.element_of(run, over), None)
        run.trial += 1
        _comprehended_from(run, generators[1:], element)
        run.trial -= 1
        return None
    found: list[Value] = []
    told = True
    before = run.ticks
    for count, item in enumerate(items, 1):
        bind(run, first.target, item, None)
        truths = [objects.truth(run, evaluate(run, test)) for test in first.ifs]
        told = told and None not in truths
        if all(truth is not False for truth in truths):
            inside = _comprehended_from(run, generators[1:], element)
            told = told and inside is not None
            found.extend(inside or ())
        if not told or (run.ticks - before) / count * len(items) > MOST_UNROLLED_TICKS:
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
    ast.BinOp: _binary,
    ast.BoolOp: _boolean,
    ast.Call: _call,
    ast.Compare: _compare,
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
    ast.UnaryOp: _unary,
    ast.Yield: _yield,
    ast.YieldFrom: _yield_from,
}

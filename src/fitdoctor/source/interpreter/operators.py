"""Arithmetic, comparisons and logic on abstract values."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from fitdoctor.facts import Unknown
from fitdoctor.records import replace
from fitdoctor.source.data import arrays
from fitdoctor.source.data.array_arguments import to_array
from fitdoctor.source.interpreter import objects, row_history
from fitdoctor.source.interpreter.values import (
    UNTOLD,
    Array,
    DictRecord,
    Items,
    LayerCall,
    Made,
    Named,
    Plain,
    Symbolic,
    Value,
)
from fitdoctor.source.models.layer_settings import Dims

if TYPE_CHECKING:
    from fitdoctor.source.interpreter.interpret import Interpreter

_LONGEST = 4096
"""Maximum length of a string or sequence created by arithmetic."""

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


def binary(run: Interpreter, node: ast.expr) -> Value:
    """`left + right` and the like."""
    assert isinstance(node, ast.BinOp)
    left, right = run.evaluate(node.left), run.evaluate(node.right)
    if isinstance(left, Plain) and isinstance(right, Plain):
        return _plain_binary(node.op, left.value, right.value)
    if isinstance(left, Symbolic) or isinstance(right, Symbolic):
        if run.tapes and run.reporting and isinstance(node.op, ast.Sub):
            _tell_spread(run, node, left, right)
        return symbolic_operation(run, (left, right), node)
    if isinstance(left, Array) or isinstance(right, Array):
        if isinstance(node.op, ast.MatMult):
            left, right = (side if isinstance(side, Array) else to_array(run, side) for side in (left, right))
        made = made_here(array_operation(left, right, node.op), node)
        matrix = isinstance(node.op, ast.MatMult)
        return row_history.combined(run, (left,) if matrix else (left, right), made, node)
    return _sequence_binary(run, node, left, right)


def _tell_spread(run: Interpreter, node: ast.BinOp, left: Value, right: Value) -> None:
    """Report a tensor and data of which one is a row and the other a column of the same length."""
    first = isinstance(left, Symbolic)
    tensor, data = (left, right) if first else (right, left)
    if not isinstance(tensor, Symbolic) or not isinstance(data, Array):
        return
    if isinstance(tensor.dims, Unknown) or isinstance(data.dims, Unknown):
        return
    flat, column = sorted((tensor.dims, data.dims), key=len)
    known = flat[:1] == column[:1] and not isinstance(flat[0] if flat else UNTOLD, Unknown)
    if known and len(flat) == 1 and len(column) == 2 and column[1] == 1 and flat[0] != 1:
        around = run.owner(node).parent(node)
        if isinstance(around, ast.Call) and len(around.args) == 1 and not around.keywords:
            if getattr(around.func, "attr", "") in ("mean", "reduce_mean"):
                return  # The mean of all differences is the difference of the means.
        run.listener.spread(run, node, tensor, (node.right if first else node.left, data))


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
    return Array(
        dims, dtype, _container(left, right), bounds=bounds, fractions=_stay_fractions(one, other, op)
    )


def _stay_fractions(left: Array, right: Array, op: ast.operator) -> bool:
    """Whether arithmetic on fractional values still gives fractions."""
    if not isinstance(op, (ast.Add, ast.Sub, ast.Mult, ast.Div)):
        return False
    return (
        left.fractions
        and (left.rank or 0) >= (right.rank or 0)
        or right.fractions
        and (right.rank or 0) >= (left.rank or 0)
    )


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
    dtype = arrays.common_dtype((left.dtype, right.dtype))
    return Array(dims, dtype, _container(left, right), fractions=left.fractions or right.fractions)


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
    """Broadcast the shapes of symbolic tensors and record their history."""
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


def unary(run: Interpreter, node: ast.expr) -> Value:
    """`-x`, `not x` and the like."""
    assert isinstance(node, ast.UnaryOp)
    value = run.evaluate(node.operand)
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
        return Array(
            value.dims,
            value.dtype,
            value.container,
            bounds=bounds,
            fractions=value.fractions,
            node=node,
            history=value.history,
        )
    if isinstance(value, Symbolic):
        return symbolic_operation(run, (value,), node)
    return UNTOLD


def boolean(run: Interpreter, node: ast.expr) -> Value:
    """`a and b`, `a or b`."""
    assert isinstance(node, ast.BoolOp)
    decisive = isinstance(node.op, ast.Or)
    sure = True
    value: Value = UNTOLD
    for part in node.values:
        value = run.evaluate(part)
        truth = objects.truth(run, value)
        if truth is decisive and sure:
            return value
        if truth is None:
            sure = False
    return value if sure else UNTOLD


def compare(run: Interpreter, node: ast.expr) -> Value:
    """`a < b`, `a in b`, `a is b`."""
    assert isinstance(node, ast.Compare)
    values = [run.evaluate(node.left), *(run.evaluate(part) for part in node.comparators)]
    if len(values) != 2:
        return _chained(node, values)
    return row_history.combined(run, values, _compared(run, node.ops[0], values[0], values[1], node), node)


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
            return (
                Array(left.dims, "bool", left.container, node=node)
                if text and isinstance(left, Array)
                else UNTOLD
            )
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
            unsure = isinstance(one, (Unknown, Named)) or (isinstance(one, Made) and not one.identity)
            return None if unsure else False
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


def made_here(value: Value, node: ast.expr) -> Value:
    """An array remembers the expression that made it."""
    return replace(value, node=node) if isinstance(value, Array) else value

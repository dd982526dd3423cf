"""Count the batches of one pass of a Python generator from its source and live values.

The loops are read from the source and their lengths from the locals of the suspended generator; no user code is run.
"""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Mapping
from types import GeneratorType
from typing import Any

from fitdoctor.collect.sites import module_with
from fitdoctor.facts import Unknown
from fitdoctor.source.endless_loops import never_ends
from fitdoctor.source.module import Module

NOT_TOLD = Unknown("a generator has no known length")
_OWN_SCOPE = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
_LEAVES = (ast.Break, ast.Continue, ast.Return, ast.Raise, ast.YieldFrom, ast.While, ast.Try)
_OPERATIONS: dict[type[ast.operator], Any] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Div: operator.truediv,
    ast.Mod: operator.mod,
}
_NUMBERS = {"int": int, "min": min, "max": max, "ceil": math.ceil, "floor": math.floor, "round": round}


class _NotKnown(Exception):
    """A value or length that is unknown without running code."""


def batches_of_pass(generator: Any, drawn: int) -> int | Unknown:
    """Return the total number of batches, including those already drawn.

    Args:
        generator: a generator that was started and has not ended.
        drawn: the number of batches it has yielded.
    """
    if type(generator) is not GeneratorType or generator.gi_frame is None:
        return NOT_TOLD
    code = generator.gi_code
    module, starts = module_with(code)
    if module is None:
        return NOT_TOLD
    values = {**generator.gi_frame.f_globals, **generator.gi_frame.f_locals}
    try:
        if code.co_name == "<genexpr>":
            return _of_expression(module, starts, values, drawn)
        return _of_function(module, code.co_name, starts, values)
    except _NotKnown:
        return NOT_TOLD


def _of_expression(module: Module, line: int, values: Mapping[str, Any], drawn: int) -> int:
    found = [node for node in module.nodes(ast.GeneratorExp) if node.lineno == line]
    if len(found) != 1 or len(found[0].generators) != 1 or found[0].generators[0].ifs:
        raise _NotKnown
    iterator = values.get(".0")
    # Iterators of lists, tuples and ranges know their remaining length; others only estimate it.
    if type(iterator).__name__ not in ("list_iterator", "tuple_iterator", "range_iterator"):
        raise _NotKnown
    return drawn + operator.length_hint(iterator)


def _of_function(module: Module, name: str, line: int, values: Mapping[str, Any]) -> int:
    node = _definition(module, name, line)
    if node is None:
        raise _NotKnown
    return _yields(node.body, values, frozenset())


def _definition(module: Module, name: str, line: int) -> ast.FunctionDef | None:
    for node in module.nodes(ast.FunctionDef):
        first = min((decorator.lineno for decorator in node.decorator_list), default=node.lineno)
        if node.name == name and line in (first, node.lineno):
            return node
    return None


def goes_on_for_ever(generator: Any) -> bool:
    """Whether the code of a generator certainly never ends."""
    if type(generator) is not GeneratorType:
        return False
    module, starts = module_with(generator.gi_code)
    if module is None:
        return False
    node = _definition(module, generator.gi_code.co_name, starts)
    return node is not None and never_ends(module, node)


def _yields(statements: list[ast.stmt], values: Mapping[str, Any], turning: frozenset[str]) -> int:
    """Return how often some statements yield; `turning` are names that change in each iteration."""
    count = 0
    for statement in statements:
        inside = list(_own(statement))
        if not any(isinstance(node, (ast.Yield, ast.YieldFrom)) for node in inside):
            if turning and any(isinstance(node, _LEAVES) for node in inside):
                raise _NotKnown
            if any(isinstance(node, (ast.Return, ast.Raise)) for node in inside):
                raise _NotKnown
            continue
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Yield):
            count += 1
        elif isinstance(statement, ast.For) and not statement.orelse:
            stored = _stored(inside)
            if any(isinstance(node, ast.Name) and node.id in stored for node in ast.walk(statement.iter)):
                raise _NotKnown
            length = _length(statement.iter, values, turning)
            count += length * _yields(statement.body, values, turning | stored)
        elif isinstance(statement, ast.With):
            count += _yields(statement.body, values, turning)
        else:
            raise _NotKnown
    return count


def _own(statement: ast.stmt) -> list[ast.AST]:
    found: list[ast.AST] = []
    pending: list[ast.AST] = [statement]
    while pending:
        node = pending.pop()
        if not isinstance(node, _OWN_SCOPE):
            found.append(node)
            pending.extend(ast.iter_child_nodes(node))
    return found


def _stored(nodes: list[ast.AST]) -> frozenset[str]:
    return frozenset(
        node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    ) | {"<turn>"}


def _length(node: ast.expr, values: Mapping[str, Any], turning: frozenset[str]) -> int:
    """Return the length of the iterable of a loop."""
    if any(isinstance(inner, ast.Name) and inner.id in turning for inner in ast.walk(node)):
        raise _NotKnown
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id not in values:
        if node.func.id in ("enumerate", "reversed", "sorted", "list", "tuple") and node.args:
            return _length(node.args[0], values, turning)
        if node.func.id == "zip" and node.args and not node.keywords:
            return min(_length(part, values, turning) for part in node.args)
    if isinstance(node, (ast.List, ast.Tuple)) and not any(isinstance(e, ast.Starred) for e in node.elts):
        return len(node.elts)
    return _size(_value(node, values))


def _size(value: Any) -> int:
    if isinstance(value, (list, tuple, range, dict, set, frozenset, str)):
        return len(value)
    if type(value).__module__.split(".")[0] in ("numpy", "pandas") and getattr(value, "shape", None):
        return int(value.shape[0])
    raise _NotKnown


def _value(node: ast.expr, values: Mapping[str, Any]) -> Any:
    """Return a value without running user code: names, plain attributes, numbers, `len`, `range`."""
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.Name) and node.id in values:
        return values[node.id]
    if isinstance(node, ast.Attribute):
        return _attribute(_value(node.value, values), node.attr)
    if isinstance(node, ast.Subscript):
        owner, key = _value(node.value, values), _value(node.slice, values)
        try:
            if isinstance(owner, dict) and isinstance(key, (int, str)):
                return owner[key]
            if isinstance(owner, (tuple, list)) and isinstance(key, int):
                return owner[key]
        except LookupError:
            raise _NotKnown from None
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATIONS:
        return _calculated(_OPERATIONS[type(node.op)], _value(node.left, values), _value(node.right, values))
    if isinstance(node, ast.Call) and not node.keywords:
        return _called(node, values)
    raise _NotKnown


def _attribute(owner: Any, name: str) -> Any:
    root = type(owner).__module__.split(".")[0]
    if root in ("numpy", "pandas") and name in ("shape", "size"):
        return getattr(owner, name)
    attributes = getattr(owner, "__dict__", None)
    if isinstance(attributes, dict) and name in attributes:
        return attributes[name]
    raise _NotKnown


def _calculated(operation: Any, *operands: Any) -> Any:
    if not all(isinstance(operand, (int, float)) for operand in operands):
        raise _NotKnown
    try:
        return operation(*operands)
    except (ArithmeticError, ValueError):
        raise _NotKnown from None


def _called(node: ast.Call, values: Mapping[str, Any]) -> Any:
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    if isinstance(node.func, ast.Name) and node.func.id in values:
        raise _NotKnown
    given = [_value(part, values) for part in node.args]
    if name == "len" and len(given) == 1:
        return _size(given[0])
    if name in ("range", "arange") and given and all(isinstance(part, int) for part in given):
        return _calculated(range, *given)
    if name in _NUMBERS and given:
        return _calculated(_NUMBERS[name], *given)
    raise _NotKnown

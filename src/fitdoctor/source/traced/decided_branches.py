"""Branches on parameters of Python's that come out alike in every traced call: `loudness(audio, use_tf=True)`."""

from __future__ import annotations

import ast

from fitdoctor.source.callees import argument_for, callers_of
from fitdoctor.source.index import parameters_of
from fitdoctor.source.module import FunctionInfo


class _Untold(Exception):
    """A value that is not written in the source."""


def holds_in_every_call(info: FunctionInfo, test: ast.expr) -> bool | None:
    """Whether a test of a helper's own flags holds in all of its traced calls; None where that is not evident."""
    if info.traced is None or info.traced.direct:
        return None  # Keras calls it too, with what it likes
    asked = {node.id for node in ast.walk(test) if isinstance(node, ast.Name)}
    bindings = info.module.index.scopes[info.node].bindings
    if not asked or any(name not in info.parameters or len(bindings.get(name, ())) != 1 for name in asked):
        return None
    outcomes = set()
    for module, call in callers_of(info):
        caller = module.function_of(call)
        if caller is None or caller.traced is None or caller.node is info.node:
            continue
        try:
            given = {name: _given(info, call, name) for name in asked}
            outcomes.add(bool(_computed(test, given)))
        except (_Untold, TypeError):
            return None
    return outcomes.pop() if len(outcomes) == 1 else None


def _given(info: FunctionInfo, call: ast.Call, name: str) -> object:
    """The constant that a call gives for a parameter, or its default."""
    argument = argument_for(info, call, name)
    if argument is None:
        spread = any(isinstance(one, ast.Starred) for one in call.args)
        if spread or any(keyword.arg is None for keyword in call.keywords):
            raise _Untold
        argument = _default(info, name)
    if not isinstance(argument, ast.Constant):
        raise _Untold
    return argument.value


def _default(info: FunctionInfo, name: str) -> ast.expr | None:
    signature = info.node.args
    positional = [*signature.posonlyargs, *signature.args]
    defaults = dict(
        zip(reversed([one.arg for one in positional]), reversed(signature.defaults), strict=False)
    )
    for one, value in zip(signature.kwonlyargs, signature.kw_defaults, strict=True):
        if value is not None:
            defaults[one.arg] = value
    assert any(one.arg == name for one in parameters_of(signature))
    return defaults.get(name)


def _computed(test: ast.expr, given: dict[str, object]) -> object:
    match test:
        case ast.Constant(value=value):
            return value
        case ast.Name(id=name):
            return given[name]
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return not _computed(operand, given)
        case ast.BoolOp(op=operator, values=values):
            truths = [bool(_computed(value, given)) for value in values]
            return all(truths) if isinstance(operator, ast.And) else any(truths)
        case ast.Compare(left=left, ops=[ast.Eq() | ast.Is()], comparators=[right]):
            return _computed(left, given) == _computed(right, given)
        case ast.Compare(left=left, ops=[ast.NotEq() | ast.IsNot()], comparators=[right]):
            return _computed(left, given) != _computed(right, given)
    raise _Untold

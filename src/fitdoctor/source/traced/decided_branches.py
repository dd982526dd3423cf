"""Branches on Python flags that have the same value in every trace."""

from __future__ import annotations

import ast
from collections.abc import Callable

from fitdoctor.source.callees import argument_for, callee, callers_of, is_self
from fitdoctor.source.module import FunctionInfo, Module

_OF_KERAS = ("training", "mask")
"""Arguments of `call` that Keras passes automatically."""
_IN_A_GRAPH = {
    "tensorflow.executing_eagerly": False,
    "tensorflow.compat.v1.executing_eagerly": False,
    "tensorflow.inside_function": True,
}
_METHODS_OF_MODELS = frozenset("fit evaluate predict compile summary save load_weights".split())
_FOR_EAGER = ("debug", "eager")
_ENDS = (ast.Return, ast.Raise, ast.Continue, ast.Break)


class _Untold(Exception):
    """A value that is not written in the source."""


def holds_wherever_traced(info: FunctionInfo, test: ast.expr) -> bool | None:
    """Whether a test of flags holds in all traced calls of a function; None where that is not evident."""
    if info.traced is None:
        return None
    asked = {
        node.id
        for node in ast.walk(test)
        if isinstance(node, ast.Name) and node.id in info.parameters and not is_self(info.module, node)
    }
    try:
        outcomes = {bool(_computed(info, test, given)) for given in _calls(info, sorted(asked))}
    except (_Untold, TypeError):
        return None
    return outcomes.pop() if len(outcomes) == 1 else None


def never_runs(info: FunctionInfo, node: ast.AST) -> bool:
    """Whether a node is in a branch that no traced call takes, or after one that always returns."""
    return _is_passed_by(info, node, lambda test: holds_wherever_traced(info, test))


def rests_on_a_flag(info: FunctionInfo, node: ast.AST) -> bool:
    """Whether a node is in a branch of a setting of unknown value: `if self.options.debug:`.

    Whoever turns on such a setting may also turn off tracing.
    """
    child, parent = node, info.module.parent(node)
    while parent is not None and child is not info.node:
        if isinstance(parent, ast.If) and child is not parent.test and _is_setting(info, parent.test):
            return holds_wherever_traced(info, parent.test) is None
        child, parent = parent, info.module.parent(parent)
    return False


def _is_setting(info: FunctionInfo, test: ast.expr) -> bool:
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return _is_setting(info, operand)
        case ast.BoolOp(values=values):
            return any(_is_setting(info, value) for value in values)
        case ast.Compare(left=left, ops=[ast.Eq() | ast.NotEq()], comparators=[ast.Constant(value=str())]):
            return _is_setting(info, left)
        case ast.Attribute() | ast.Name():
            known = info.module.flow(info.node).values.get(test)
            return (known is None or not known.kind) and getattr(test, "id", "") not in _OF_KERAS
    return False


def runs_eagerly_alone(info: FunctionInfo, node: ast.AST) -> bool:
    """Whether only eager calls reach a node: under `if tf.executing_eagerly():`, after `if in_graph(): return`."""
    return _is_passed_by(info, node, lambda test: holds_in_a_graph(info.module, test))


def _is_passed_by(info: FunctionInfo, node: ast.AST, holds: Callable[[ast.expr], bool | None]) -> bool:
    child, parent = node, info.module.parent(node)
    while parent is not None and child is not info.node:
        if isinstance(parent, (ast.If, ast.IfExp)) and child is not parent.test:
            taken = holds(parent.test)
            body = parent.body if isinstance(parent.body, list) else [parent.body]
            if taken is not None and taken != any(child is one for one in body):
                return True
        if isinstance(child, ast.stmt) and _stands_behind_an_end(parent, child, holds):
            return True
        child, parent = parent, info.module.parent(parent)
    return False


def _stands_behind_an_end(parent: ast.AST, child: ast.stmt, holds: Callable[[ast.expr], bool | None]) -> bool:
    """`if use_tf: return …`, and this comes after it."""
    for block in (getattr(parent, "body", None), getattr(parent, "orelse", None)):
        if not isinstance(block, list) or child not in block:
            continue
        for before in block[: block.index(child)]:
            if isinstance(before, ast.If):
                taken = holds(before.test)
                way = before.body if taken else before.orelse
                if taken is not None and way and isinstance(way[-1], _ENDS):
                    return True
    return False


def holds_in_a_graph(module: Module, test: ast.expr, steps: int = 3) -> bool | None:
    """What a question for eager execution comes to in a graph, asked there or in a function of the user's.

    Symbolic tensors have no `numpy`, and Keras builds a layer before it calls it.
    """
    match test:
        case ast.Call(func=ast.Name(id="hasattr"), args=[_, ast.Constant(value="numpy")]):
            return False
        case ast.Attribute(value=owner, attr="built") if is_self(module, owner):
            return True
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            held = holds_in_a_graph(module, operand, steps)
            return None if held is None else not held
        case ast.BoolOp(op=operator, values=values):
            every = isinstance(operator, ast.And)
            held_each = [holds_in_a_graph(module, value, steps) for value in values]
            if (not every) in held_each:
                return not every
            return None if None in held_each else every
        case ast.Call() if steps:
            name = module.resolve(test.func)
            if name:
                return _IN_A_GRAPH.get(name)
            found = callee(module, test)
            body = getattr(found.node, "body", None) if found is not None else None
            last = body[-1] if isinstance(body, list) and body else None
            if found is not None and isinstance(last, ast.Return) and last.value is not None:
                return holds_in_a_graph(found.module, last.value, steps - 1)
    return None


# --- the calls and what they give -----------------------------------------------------------------------------------


def _calls(info: FunctionInfo, asked: list[str]) -> list[dict[str, object]]:
    """What each traced call gives for these parameters."""
    assert info.traced is not None
    if not asked:
        return [{}]
    bindings = info.module.index.scopes[info.node].bindings
    if any(len(bindings.get(name, ())) != 1 for name in asked):
        raise _Untold
    if info.traced.direct and info.traced.how != "tf.function":
        return [{name: _left_to_keras(info, name) for name in asked}]
    found = []
    for module, call in callers_of(info):
        caller = module.function_of(call)
        traced = caller is not None and caller.traced is not None and caller.node is not info.node
        if traced or info.traced.direct:
            found.append({name: _given(info, call, name) for name in asked})
    if not found:
        raise _Untold
    return found


def _left_to_keras(info: FunctionInfo, name: str) -> object:
    """The default of a parameter that Keras does not give, where nothing in the program does either."""
    compares = info.how in ("loss", "metric")
    first = [one for one in info.parameters if one != "self"][: 2 if compares else 1]
    if name in (*_OF_KERAS, *first):
        raise _Untold
    project = info.module.project
    for module in project.modules if project is not None else [info.module]:
        if any(keyword.arg == name and _may_reach(module, keyword) for keyword in module.nodes(ast.keyword)):
            raise _Untold
    value = _constant(_default(info, name))
    if value is None:
        raise _Untold  # something that callers may well bring, in its place among the arguments
    return value


def _may_reach(module: Module, keyword: ast.keyword) -> bool:
    """Whether an argument of that name may be meant for the user's function: those of `fit(verbose=0)` are not."""
    call = module.parent(keyword)
    if not isinstance(call, ast.Call):
        return False
    if isinstance(call.func, ast.Attribute) and call.func.attr in _METHODS_OF_MODELS:
        return False
    return not module.resolve(call.func).startswith(("keras.", "tensorflow.", "numpy."))


def _given(info: FunctionInfo, call: ast.Call, name: str) -> object:
    """The constant that a call gives for a parameter, or its default."""
    argument = argument_for(info, call, name)
    if argument is not None:
        return _constant(argument)
    spread = any(isinstance(one, ast.Starred) for one in call.args)
    if spread or any(keyword.arg is None for keyword in call.keywords):
        raise _Untold
    return _constant(_default(info, name))


def _constant(value: ast.expr | None) -> object:
    if not isinstance(value, ast.Constant):
        raise _Untold
    return value.value


def _default(info: FunctionInfo, name: str) -> ast.expr | None:
    signature = info.node.args
    positional = [one.arg for one in (*signature.posonlyargs, *signature.args)]
    defaults = dict(zip(reversed(positional), reversed(signature.defaults), strict=False))
    for one, value in zip(signature.kwonlyargs, signature.kw_defaults, strict=True):
        if value is not None:
            defaults[one.arg] = value
    return defaults.get(name)


# --- the test -------------------------------------------------------------------------------------------------------


def _computed(info: FunctionInfo, test: ast.expr, given: dict[str, object]) -> object:
    match test:
        case ast.Constant(value=value):
            return value
        case ast.Call():
            held = holds_in_a_graph(info.module, test)
            if held is not None:
                return held
        case ast.Name() | ast.Attribute():
            return _flag(info, test, given)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return not _computed(info, operand, given)
        case ast.BoolOp(op=operator, values=values):
            return _joined(info, isinstance(operator, ast.And), values, given)
        case ast.Compare(left=left, ops=[ast.Eq() | ast.Is()], comparators=[right]):
            return _computed(info, left, given) == _computed(info, right, given)
        case ast.Compare(left=left, ops=[ast.NotEq() | ast.IsNot()], comparators=[right]):
            return _computed(info, left, given) != _computed(info, right, given)
    raise _Untold


def _flag(info: FunctionInfo, flag: ast.Name | ast.Attribute, given: dict[str, object]) -> object:
    """The value of a flag; one for debugging whose value is not written is off in a graph: people debug eagerly."""
    name = flag.id if isinstance(flag, ast.Name) else flag.attr
    try:
        if isinstance(flag, ast.Name):
            return given[name] if name in given else _global(info.module, flag)
        if is_self(info.module, flag.value):
            return _attribute(info, name)
    except _Untold:
        pass
    if any(word in name.lower() for word in _FOR_EAGER):
        return False
    raise _Untold


def _joined(info: FunctionInfo, every: bool, values: list[ast.expr], given: dict[str, object]) -> bool:
    """`a and b` is false as soon as one of them is known to be false."""
    untold = False
    for value in values:
        try:
            if bool(_computed(info, value, given)) != every:
                return not every
        except _Untold:
            untold = True
    if untold:
        raise _Untold
    return every


def _global(module: Module, name: ast.Name) -> object:
    """A number or text of the file that is set once, and nowhere else."""
    scope = module.index.lookup(name.id, module.scope(name))
    if scope is None or scope.node is not module.tree or len(scope.bindings[name.id]) != 1:
        raise _Untold
    if any(name.id in one.names for one in module.nodes(ast.Global)):
        raise _Untold
    statement = module.parent(scope.bindings[name.id][0])
    return _constant(statement.value if isinstance(statement, ast.Assign) else None)


def _attribute(info: FunctionInfo, attribute: str) -> object:
    """What `__init__` sets once, and nothing changes: a constant, or a parameter that every call leaves alike."""
    owner = info.module.class_of(info.node)
    if owner is None or len(info.module.ancestry(owner)) != 1:
        raise _Untold
    stores = info.module.attribute_stores(owner.node).get(attribute, [])
    init = owner.methods.get("__init__")
    if len(stores) != 1 or init is None or info.module.function_of(stores[0]) != init:
        raise _Untold
    project = info.module.project
    for module in project.modules if project is not None else [info.module]:
        for other in module.nodes(ast.Attribute):
            if other.attr == attribute and isinstance(other.ctx, ast.Store) and other is not stores[0]:
                if not is_self(module, other.value) or module.class_of(other) == owner:
                    raise _Untold
    value = _stored(info.module, stores[0])
    if isinstance(value, ast.Name) and value.id in init.parameters:
        calls = (project.calls_of if project is not None else info.module.calls_of).get(init.node, [])
        found = {_given(init, call, value.id) for _module, call in calls}
        if len(found) == 1:
            return found.pop()
    return _constant(value)


def _stored(module: Module, target: ast.AST) -> ast.expr | None:
    """What an assignment gives a target, also one of several: `self.mode, self.log = mode, log`."""
    parent = module.parent(target)
    if isinstance(parent, ast.Assign):
        return parent.value
    statement = module.parent(parent) if isinstance(parent, ast.Tuple) else None
    if not isinstance(statement, ast.Assign) or not isinstance(statement.value, ast.Tuple):
        return None
    assert isinstance(parent, ast.Tuple)
    pairs = zip(parent.elts, statement.value.elts, strict=False)
    return next((value for one, value in pairs if one is target), None)

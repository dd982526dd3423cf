"""Evaluates calls: the file's functions and classes, methods, and library functions."""

from __future__ import annotations

import ast
from collections.abc import Collection
from functools import lru_cache
from typing import TYPE_CHECKING

from fitdoctor.facts import Unknown
from fitdoctor.records import replace
from fitdoctor.source.fits import own_loops
from fitdoctor.source.index import children, walk
from fitdoctor.source.interpreter import objects, python_functions
from fitdoctor.source.interpreter.handed_functions import forget_changed, forget_changed_by
from fitdoctor.source.interpreter.joining import join
from fitdoctor.source.interpreter.library import FUNCTIONS, METHODS, entry, is_known_library
from fitdoctor.source.interpreter.other_files import frame_of
from fitdoctor.source.interpreter.state import Control, State, join_states
from fitdoctor.source.interpreter.values import (
    NONE,
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
    Method,
    ModelRecord,
    Named,
    Plain,
    Ref,
    Super,
    Symbolic,
    Value,
    with_attribute,
)
from fitdoctor.source.models import static_models
from fitdoctor.source.models.refusals import open_shape, refuse_open_size

if TYPE_CHECKING:
    from fitdoctor.source.interpreter.interpret import Interpreter

MOST_DEPTH = 14


def call(run: Interpreter, callee: Value, arguments: Arguments) -> Value:
    """Return the result of a call; what functions among its arguments change is forgotten."""
    if isinstance(callee, (Function, Class)):
        return _call(run, callee, arguments)
    value = _call(run, callee, arguments)
    for given in (*arguments.positional, *(given for _, given in arguments.keywords)):
        if isinstance(given, (Function, Method)):
            forget_changed(run, given)
    return value


def _call(run: Interpreter, callee: Value, arguments: Arguments) -> Value:
    if isinstance(callee, (Made, Named)):
        own_loops.tell_loss(run, callee, arguments)
    if isinstance(callee, Named):
        return call_named(run, callee.name, arguments)
    if isinstance(callee, Function):
        return call_function(run, callee, arguments)
    if isinstance(callee, Class):
        return instantiate(run, callee, arguments)
    if isinstance(callee, Method):
        return call_method(run, callee, arguments)
    if isinstance(callee, Ref):
        return call_object(run, callee, arguments)
    if isinstance(callee, Made) and callee.name == "functools.partial" and callee.positional:
        return call(run, callee.positional[0], _with_partial(callee, arguments))
    run.touch(arguments)
    return UNTOLD


def _with_partial(partial: Made, arguments: Arguments) -> Arguments:
    return replace(
        arguments,
        positional=(*partial.positional[1:], *arguments.positional),
        keywords=tuple({**dict(partial.keywords), **dict(arguments.keywords)}.items()),
        complete=partial.complete and arguments.complete,
    )


def call_named(run: Interpreter, name: str, arguments: Arguments) -> Value:
    """Call something of a library."""
    if name == "super":
        return _super(run)
    refuse_open_size(run, name, arguments)
    handler = entry(FUNCTIONS, name)
    if handler is not None:
        return handler(run, arguments)
    made = static_models.call_keras(run, name, arguments)
    if made is not None:
        return made
    if not is_known_library(name):
        run.touch(arguments)
        return UNTOLD
    return Made(name, arguments.positional, arguments.keywords, arguments.node, arguments.complete)


def call_method(run: Interpreter, method: Method, arguments: Arguments) -> Value:
    """Call a method."""
    receiver = method.receiver
    if isinstance(receiver, Array):
        from fitdoctor.source.data import array_methods

        return array_methods.call(run, receiver, method.name, arguments)
    if isinstance(receiver, Symbolic):
        if method.name == "get_shape":
            return open_shape(run, receiver)
        run.touch(arguments)
        return UNTOLD
    if isinstance(receiver, Dataset):
        from fitdoctor.source.data import pipelines

        return pipelines.call(run, receiver, method.name, arguments)
    if isinstance(receiver, (Plain, Items)):
        return python_functions.call_plain_method(run, receiver, method.name, arguments)
    if isinstance(receiver, Ref):
        return _call_on_object(run, receiver, method.name, arguments)
    if isinstance(receiver, Made):
        return _call_on_made(run, receiver, method.name, arguments)
    if isinstance(receiver, Super):
        return _call_on_super(run, receiver, method.name, arguments)
    if isinstance(receiver, Class):
        found = objects.method_of(run, receiver, method.name)
        if found is not None:
            return _call_bound(run, found, None, receiver, arguments)
    run.touch(arguments)
    return UNTOLD


def _call_bound(
    run: Interpreter, found: Function, receiver: Ref | None, owner: Class, arguments: Arguments
) -> Value:
    """Call a method on an object, or on its class (`Net.forward(net, x)` passes its own receiver)."""
    first: tuple[Value, ...] = ()
    if objects.is_decorated(found.node, "classmethod"):
        first = (owner,)
    elif receiver is not None and not objects.is_decorated(found.node, "staticmethod"):
        first = (receiver,)
    return call_function(run, found, replace(arguments, positional=(*first, *arguments.positional)))


def _call_on_made(run: Interpreter, receiver: Made, name: str, arguments: Arguments) -> Value:
    handler = entry(METHODS, f"{receiver.name}.{name}")
    if handler is not None:
        return handler(run, replace(arguments, positional=(receiver, *arguments.positional)))
    if not is_known_library(receiver.name):
        run.touch(arguments)
        return UNTOLD
    return Made(f"{receiver.name}.{name}", arguments.positional, arguments.keywords, arguments.node)


def _call_on_object(run: Interpreter, receiver: Ref, name: str, arguments: Arguments) -> Value:
    record = run.record(receiver)
    if isinstance(record, (InstanceRecord, LayerRecord, ModelRecord)) and record.owner is not None:
        found = objects.method_of(run, record.owner, name)
        if found is not None:
            return _call_bound(run, found, receiver, record.owner, arguments)
    if isinstance(record, ModelRecord):
        return static_models.call_on_model(run, receiver, name, arguments)
    if isinstance(record, LayerRecord):
        return static_models.call_on_layer(run, receiver, name, arguments)
    if isinstance(record, ListRecord):
        return python_functions.call_on_list(run, receiver, record, name, arguments)
    if isinstance(record, DictRecord):
        return python_functions.call_on_dict(run, receiver, record, name, arguments)
    run.state.touch(receiver)
    run.touch(arguments)
    return UNTOLD


def call_object(run: Interpreter, receiver: Ref, arguments: Arguments) -> Value:
    """Call an object: a layer or model on tensors, or a user-defined `__call__`."""
    record = run.record(receiver)
    if isinstance(record, (LayerRecord, ModelRecord)):
        from fitdoctor.source.models.models_as_layers import call_as_layer

        return call_as_layer(run, receiver, arguments)
    if isinstance(record, InstanceRecord):
        found = objects.method_of(run, record.owner, "__call__")
        if found is not None:
            return call_function(run, found, replace(arguments, positional=(receiver, *arguments.positional)))
    run.state.touch(receiver)
    run.touch(arguments)
    return UNTOLD


# --- functions of the file --------------------------------------------------------------------------------------------


def call_function(run: Interpreter, function: Function, arguments: Arguments) -> Value:
    """Follow a function of the file with these arguments."""
    node = function.node
    bound = bind_parameters(run, node, arguments)
    too_deep = len(run.active) >= MOST_DEPTH or run.active.count(node) >= 2
    if bound is None or too_deep or not function.plain or isinstance(node, ast.AsyncFunctionDef):
        run.touch(arguments)
        forget_changed_by(run, node, function.frame)
        if not function.plain and node not in run.active:
            call_with_unknowns(run, function)
        return UNTOLD
    if not isinstance(node, ast.Lambda) and is_generator(node):
        return Generated(function, tuple(bound.items()))
    value, _ = follow_function(run, function, bound)
    return value


def follow_function(
    run: Interpreter, function: Function, bound: dict[str, Value]
) -> tuple[Value, list[Value]]:
    """Follow a body with bound parameters; return its results and yielded values."""
    node = function.node
    outer, module = run.frame, run.module
    run.module = run.owner(node)
    frame_of(run, run.module)
    run.frame = frame = run.new_frame(function.frame)
    run.state.names(frame).update({name: run.settled(value) for name, value in bound.items()})
    run.active.append(node)
    run.entered.add(node)
    run.control.append(Control())
    try:
        if isinstance(node, ast.Lambda):
            returns: list[tuple[Value, State]] = [(run.evaluate(node.body), run.state)]
        else:
            falls = run.execute(node.body)
            returns = run.control[-1].returns
            if falls:
                returns = [*returns, (NONE, run.state)]
        yields = run.control[-1].yields
    finally:
        run.control.pop()
        run.active.pop()
        run.frame, run.module = outer, module
    if not returns:
        return UNTOLD, yields
    value, state = returns[0]
    for other, other_state in returns[1:]:
        value, state = join(value, other), join_states(state, other_state)
    run.state = state
    if not _defines_functions(node):
        run.state.frames.pop(frame, None)
    return value, yields


@lru_cache(maxsize=4096)
def _defines_functions(node: ast.AST) -> bool:
    inside = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
    return any(isinstance(part, inside) and part is not node for part in walk(node))


@lru_cache(maxsize=4096)
def is_generator(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether the function yields."""
    pending: list[ast.AST] = list(node.body)
    while pending:
        part = pending.pop()
        if isinstance(part, (ast.Yield, ast.YieldFrom)):
            return True
        if not isinstance(part, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
            pending += children(part)
    return False


def bind_parameters(
    run: Interpreter, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda, arguments: Arguments
) -> dict[str, Value] | None:
    """Return the parameters by name; None if the call does not match the signature."""
    signature = node.args
    names = [parameter.arg for parameter in (*signature.posonlyargs, *signature.args)]
    positional, keyword_defaults = run.defaults.get(node, ((), ()))
    bound: dict[str, Value] = {}
    if not arguments.complete:
        # `*` or `**` may hide any of them
        for name in (*names, *(one.arg for one in signature.kwonlyargs)):
            bound[name] = UNTOLD
    elif positional:
        bound.update(zip(names[-len(positional) :], positional, strict=False))
    if arguments.complete:
        bound.update(keyword_defaults)
    extra = arguments.positional[len(names) :]
    if extra and signature.vararg is None:
        return None
    bound.update(zip(names, arguments.positional, strict=False))
    if signature.vararg is not None:
        bound[signature.vararg.arg] = Items(tuple(extra)) if arguments.complete else UNTOLD
    known = {*names, *(parameter.arg for parameter in signature.kwonlyargs)}
    rest = {name: value for name, value in arguments.keywords if name not in known}
    if rest and signature.kwarg is None:
        return None
    bound.update({name: value for name, value in arguments.keywords if name in known})
    if signature.kwarg is not None:
        items = tuple(rest.items()) if arguments.complete else None
        bound[signature.kwarg.arg] = run.allocate(DictRecord(items))
    return bound if known <= set(bound) else None


def call_with_unknowns(run: Interpreter, function: Function) -> None:
    """Follow a function that the file never calls, with unknown parameters."""
    node = function.node
    if isinstance(node, ast.Lambda):
        return
    follow_function(run, function, unknown_parameters(node))


def unknown_parameters(node: ast.FunctionDef | ast.AsyncFunctionDef) -> dict[str, Value]:
    """Every parameter as Unknown."""
    signature = node.args
    parameters = [*signature.posonlyargs, *signature.args, *signature.kwonlyargs]
    parameters += [one for one in (signature.vararg, signature.kwarg) if one is not None]
    return {parameter.arg: UNTOLD for parameter in parameters}


# --- classes of the file ----------------------------------------------------------------------------------------------


def instantiate(run: Interpreter, owner: Class, arguments: Arguments) -> Value:
    """An instance of a class of the file."""
    info = run.class_info(owner.node)
    receiver = _new_object(run, owner, arguments.node)
    if receiver is None:
        run.touch(arguments)
        return UNTOLD
    init = objects.method_of(run, owner, "__init__")
    if init is not None:
        call_function(run, init, replace(arguments, positional=(receiver, *arguments.positional)))
    elif objects.is_dataclass(owner.node):
        _set_fields(run, receiver, owner, arguments)
    elif info.kind in ("Model", "Layer"):
        static_models.base_init(run, receiver, arguments)
    elif arguments.positional or arguments.keywords:
        run.touch(arguments)
        run.state.touch(receiver)
    return receiver


def _new_object(run: Interpreter, owner: Class, node: ast.Call) -> Ref | None:
    info = run.class_info(owner.node)
    if info.kind in ("Model", "Layer"):
        return static_models.new_of_the_user(run, owner, info.kind, node)
    if info.kind or objects.method_of(run, owner, "__new__") is not None:
        # a custom loss, metric or callback is described by its class
        return run.allocate(InstanceRecord(owner, open=True))
    return run.allocate(InstanceRecord(owner, open=objects.has_foreign_base(run, owner)))


def _set_fields(run: Interpreter, receiver: Ref, owner: Class, arguments: Arguments) -> None:
    """Emulate the constructor of a dataclass."""
    record = run.record(receiver)
    fields = [
        part.target.id
        for part in owner.node.body
        if isinstance(part, ast.AnnAssign) and isinstance(part.target, ast.Name)
    ]
    if not isinstance(record, InstanceRecord) or not arguments.complete:
        run.state.touch(receiver)
        return
    attributes = record.attributes
    for name, value in (*zip(fields, arguments.positional, strict=False), *arguments.keywords):
        attributes = with_attribute(attributes, name, value)
    run.update(receiver, replace(record, attributes=attributes))
    _follow_init(run, objects.method_of(run, owner, "__post_init__"), receiver)


def _follow_init(run: Interpreter, init: Function | None, receiver: Ref) -> None:
    """Follow what sets up an object, with unknown parameters."""
    if init is not None and isinstance(init.node, ast.FunctionDef):
        follow_function(run, init, {**unknown_parameters(init.node), _first(init.node): receiver})


def follow_class(run: Interpreter, owner: Class, concerned: Collection[ast.AST]) -> None:
    """Follow the relevant methods of a class that nothing in the file calls."""
    methods = [
        part
        for part in owner.node.body
        if isinstance(part, ast.FunctionDef)
        and part not in run.entered
        and part.name not in ("__init__", "__post_init__")
    ]
    if not methods:
        return
    receiver = _new_object(run, owner, ast.Call(ast.Name(owner.node.name, ast.Load()), [], []))
    if receiver is None:
        return
    for name in ("__init__", "__post_init__"):
        _follow_init(run, objects.method_of(run, owner, name), receiver)
    _forget_reassigned(run, receiver, owner)
    for method in methods:
        if method not in concerned:
            continue
        before = run.state.copy()
        bound = unknown_parameters(method)
        if objects.is_decorated(method, "classmethod"):
            bound[_first(method)] = owner
        elif not objects.is_decorated(method, "staticmethod"):
            bound[_first(method)] = receiver
        follow_function(run, Function(method, owner.frame), bound)
        run.state = before


def _first(node: ast.FunctionDef) -> str:
    parameters = [*node.args.posonlyargs, *node.args.args]
    return parameters[0].arg if parameters else "self"


def _forget_reassigned(run: Interpreter, receiver: Ref, owner: Class) -> None:
    """Forget attributes that another method sets or passes on before this method runs."""
    record = run.record(receiver)
    assert isinstance(record, (InstanceRecord, LayerRecord, ModelRecord))
    attributes = record.attributes
    for attribute, stored in _own_attributes(owner.node):
        if stored:
            attributes = with_attribute(attributes, attribute, UNTOLD)
        else:
            # another method may compile or extend it first
            for name, value in attributes:
                if name == attribute:
                    run.state.touch(value)
    record = run.record(receiver)
    assert isinstance(record, (InstanceRecord, LayerRecord, ModelRecord))
    run.update(receiver, replace(record, attributes=attributes))
    if isinstance(record, ModelRecord) and record.compiled is None:
        unknown = Unknown("the caller may have compiled the model")
        run.update(receiver, replace(record, attributes=attributes, compiled=unknown))


@lru_cache(maxsize=4096)
def _own_attributes(owner: ast.ClassDef) -> tuple[tuple[str, bool], ...]:
    """Return the attributes of `self` that methods other than `__init__` use, and whether they set them."""
    return tuple(
        dict.fromkeys(
            (node.attr, isinstance(node.ctx, ast.Store))
            for part in owner.body
            if isinstance(part, ast.FunctionDef) and part.name != "__init__"
            for node in walk(part)
            if isinstance(node, ast.Attribute)
            and isinstance(node.value, ast.Name)
            and node.value.id == _first(part)
        )
    )


# --- super ------------------------------------------------------------------------------------------------------------


def _super(run: Interpreter) -> Value:
    if not run.active:
        return UNTOLD
    node = run.active[-1]
    info = run.owner(node).class_of(node)
    parameters = getattr(node, "args", None)
    names = [*parameters.posonlyargs, *parameters.args] if parameters is not None else []
    receiver = run.lookup(names[0].arg) if names else None
    if info is None or receiver is None:
        return UNTOLD
    return Super(receiver, info.node)


def _call_on_super(run: Interpreter, receiver: Super, name: str, arguments: Arguments) -> Value:
    ancestors = run.ancestry(receiver.owner)[1:]
    for ancestor in ancestors:
        found = ancestor.methods.get(name)
        if found is not None and isinstance(found.node, ast.FunctionDef):
            first = (receiver.receiver, *arguments.positional)
            return call_function(
                run,
                Function(found.node, frame_of(run, ancestor.module)),
                replace(arguments, positional=first),
            )
    target = receiver.receiver
    if not isinstance(target, Ref):
        run.touch(arguments)
        return UNTOLD
    record = run.record(target)
    if name == "__init__":
        if isinstance(record, (ModelRecord, LayerRecord)):
            static_models.base_init(run, target, arguments)
        elif arguments.positional or arguments.keywords:
            run.touch(arguments)
        return NONE
    if isinstance(record, ModelRecord):
        return static_models.call_on_model(run, target, name, arguments)
    run.touch(arguments)
    return UNTOLD

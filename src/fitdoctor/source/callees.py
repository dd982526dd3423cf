"""Resolves calls to the user's functions, and their parameters to arguments."""

from __future__ import annotations

import ast

from fitdoctor.source.index import Scope
from fitdoctor.source.module import ClassInfo, FunctionInfo, Module

CallGraph = dict[ast.AST, list[tuple[Module, ast.Call]]]
"""Call sites by function node."""


def callee(module: Module, call: ast.Call) -> FunctionInfo | None:
    """Return the user's function that a call runs (`__init__` for a class); None if unclear."""
    known = module.callees
    if call not in known:
        known[call] = _find_callee(module, call)
    return known[call]


def _find_callee(module: Module, call: ast.Call) -> FunctionInfo | None:
    function = call.func
    if isinstance(function, ast.Attribute):
        owner = receiver(module, function.value)
        if owner is not None:
            replaced = is_replaced(module, owner, function)
            return None if replaced else owner.module.method(owner, function.attr)
    found = module.definition(function)
    if isinstance(found, ClassInfo):
        return found.module.method(found, "__init__")
    if found is None and isinstance(function, ast.Name):
        return called_object(module, function)
    return found


def is_replaced(module: Module, owner: ClassInfo, value: ast.Attribute) -> bool:
    """Whether the class assigns what is read here: after `self.encoder = self.encoder()`, it is not a method.

    After `self.step = tf.function(self.step)`, it is still the method.
    """
    if not is_self(module, value.value):
        return False
    stores = [
        (each.module, each.module.statement(store))
        for each in owner.ancestry
        for store in each.module.attribute_stores(each.node).get(value.attr, ())
    ]
    return bool(stores) and not any(
        statement is module.statement(value) or _passes(other, statement, value.attr)
        for other, statement in stores
    )


def _passes(module: Module, statement: ast.stmt, name: str) -> bool:
    """Whether a statement passes an attribute of this name on, rather than call it."""
    return any(
        isinstance(node, ast.Attribute)
        and node.attr == name
        and isinstance(node.ctx, ast.Load)
        and getattr(module.parent(node), "func", None) is not node
        for node in ast.walk(statement)
    )


def receiver(module: Module, value: ast.expr) -> ClassInfo | None:
    """Return the user's class of a receiver: `self`, `super()`, or a local instance."""
    if isinstance(value, ast.Name):
        scope = module.index.lookup(value.id, module.scope(value))
        if scope is None or isinstance(scope.bindings[value.id][0], ast.alias):
            return None
        if _is_first_parameter(module, value.id, scope):
            return module.class_of(value)
        return _class_of_targets(module, scope.bindings[value.id])
    if isinstance(value, ast.Call):
        if isinstance(value.func, ast.Name) and value.func.id == "super" and not value.args:
            return _parent_class(module, value)
        found = module.definition(value.func)
        return found if isinstance(found, ClassInfo) else None
    if isinstance(value, ast.Attribute) and is_self(module, value.value):
        return _class_of_attribute(module, value)
    return None


def called_object(module: Module, name: ast.Name) -> FunctionInfo | None:
    """Return `call` (or `__call__`) of a called instance of a user's class."""
    owner = _class_of_local(module, name)
    if owner is None:
        return None
    return owner.module.method(owner, "call") or owner.module.method(owner, "__call__")


def function_given(module: Module, given: ast.expr) -> FunctionInfo | None:
    """Return the user's function or lambda that is passed as a value."""
    found = module.definition(given)
    if isinstance(found, FunctionInfo):
        return found
    made = module.origin(given)
    return made.module.function(made.node) if isinstance(made.node, ast.Lambda) else None


def is_self(module: Module, value: ast.expr) -> bool:
    """Whether an expression is `self`: the first parameter of the enclosing method, or of an outer one."""
    if not isinstance(value, ast.Name):
        return False
    scope = module.index.lookup(value.id, module.scope(value))
    return scope is not None and _is_first_parameter(module, value.id, scope)


def _is_first_parameter(module: Module, name: str, scope: Scope) -> bool:
    if not isinstance(scope.node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return False
    info = module.function(scope.node)
    if info.owner is None or not info.parameters or info.parameters[0] != name:
        return False
    static = {"staticmethod", "classmethod"}
    return not any(module.resolve(decorator) in static for decorator in scope.node.decorator_list)


def _parent_class(module: Module, value: ast.AST) -> ClassInfo | None:
    own = module.class_of(value)
    lineage = module.ancestry(own) if own else ()
    return lineage[1] if len(lineage) > 1 else None


def _class_of_local(module: Module, name: ast.Name) -> ClassInfo | None:
    """Return the class that a name's only assignment instantiates."""
    scope = module.index.lookup(name.id, module.scope(name))
    bound = scope.bindings[name.id] if scope else []
    return _class_of_targets(module, bound)


def _class_of_attribute(module: Module, attribute: ast.Attribute) -> ClassInfo | None:
    """Return the class that `self.x = Class(…)` instantiates."""
    owner = module.class_of(attribute)
    if owner is None:
        return None
    for ancestor in module.ancestry(owner):
        stores = ancestor.module.attribute_stores(ancestor.node).get(attribute.attr, [])
        if stores:
            return _class_of_targets(ancestor.module, stores)
    return None


def _class_of_targets(module: Module, targets: list[ast.AST]) -> ClassInfo | None:
    known: ClassInfo | None = None
    for target in targets:
        statement = module.parent(target)
        value = statement.value if isinstance(statement, (ast.Assign, ast.AnnAssign)) else None
        found = module.definition(value.func) if isinstance(value, ast.Call) else None
        if not isinstance(found, ClassInfo) or found is not (known or found):
            return None
        known = found
    return known


def argument_for(function: FunctionInfo, call: ast.Call, parameter: str) -> ast.expr | None:
    """Return the argument for a parameter; None if it is omitted or hidden by `*` or `**`."""
    for keyword in call.keywords:
        if keyword.arg == parameter:
            return keyword.value
    positional = _positional(function)
    return _argument_at(call, positional.index(parameter)) if parameter in positional else None


def gathered_argument(
    function: FunctionInfo, call: ast.Call, parameter: str, key: int | str | None
) -> ast.expr | None:
    """Return the argument for one item of the function's `*args` or `**kwargs`."""
    arguments = function.node.args
    if isinstance(key, int) and arguments.vararg is not None and arguments.vararg.arg == parameter:
        return _argument_at(call, len(_positional(function)) + key)
    if isinstance(key, str) and arguments.kwarg is not None and arguments.kwarg.arg == parameter:
        return next((keyword.value for keyword in call.keywords if keyword.arg == key), None)
    return None


def _positional(function: FunctionInfo) -> list[str]:
    arguments = function.node.args
    names = [argument.arg for argument in (*arguments.posonlyargs, *arguments.args)]
    return names[1:] if function.is_method and names and not is_static(function) else names


def _argument_at(call: ast.Call, position: int) -> ast.expr | None:
    given = call.args[: position + 1]
    if len(given) <= position or any(isinstance(value, ast.Starred) for value in given):
        return None
    return given[position]


def is_static(function: FunctionInfo) -> bool:
    """Whether it is a static method, which receives no `self`."""
    node = function.node
    return not isinstance(node, ast.Lambda) and any(
        function.module.resolve(decorator) == "staticmethod" for decorator in node.decorator_list
    )


_TRANSPARENT = frozenset(
    ("staticmethod", "classmethod", "property", "tensorflow.function", "functools.cache")
)


def returned_by(function: FunctionInfo) -> ast.expr | None:
    """Return the only expression that a function returns; None if there is not exactly one, or it is decorated."""
    node, module = function.node, function.module
    if isinstance(node, ast.Lambda):
        return node.body
    if isinstance(node, ast.AsyncFunctionDef) or node in module.generators:
        return None
    for decorator in node.decorator_list:
        called = decorator.func if isinstance(decorator, ast.Call) else decorator
        if module.resolve(called) not in _TRANSPARENT:
            return None
    returns = module.returns.get(node, [])
    return returns[0].value if len(returns) == 1 else None


def callers_of(function: FunctionInfo) -> list[tuple[Module, ast.Call]]:
    """Return every call of a function; empty if the function is also passed around by name."""
    return function.module.callers.get(function.node, [])


def all_calls(modules: list[Module]) -> CallGraph:
    """Return the calls of every user function."""
    graph: CallGraph = {}
    for module in modules:
        for call in module.nodes(ast.Call):
            found = callee(module, call)
            if found is not None:
                graph.setdefault(found.node, []).append((module, call))
    return graph


def called_only(modules: list[Module], calls: CallGraph) -> CallGraph:
    """Return the calls of functions that are never passed around by name; these lists are complete."""
    handed: set[ast.AST] = set()
    for module in modules:
        for call in module.nodes(ast.Call):
            for argument in (*call.args, *(keyword.value for keyword in call.keywords)):
                given = _handed_over(module, argument)
                if given is not None:
                    handed.add(given.node)
    return {node: sites for node, sites in calls.items() if node not in handed}


def _handed_over(module: Module, argument: ast.expr) -> FunctionInfo | None:
    if isinstance(argument, ast.Name):
        found = module.definition(argument)
        return found if isinstance(found, FunctionInfo) else None
    if isinstance(argument, ast.Attribute) and is_self(module, argument.value):
        owner = module.class_of(argument)
        return module.method(owner, argument.attr) if owner else None
    return None

"""Tensors that traced code stores for later: where, in which object, and behind which guard."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator

from fitdoctor.records import dataclass
from fitdoctor.source.callees import callee, is_self
from fitdoctor.source.index import FUNCTIONS, Scope
from fitdoctor.source.module import ClassInfo, FunctionInfo, Module
from fitdoctor.source.traced.symbolic import holds_symbolic, own_nodes, traced_functions

GROWING = frozenset({"append", "extend", "insert", "appendleft", "extendleft"})
ADDING = GROWING | {"add", "update", "setdefault"}
_CONTAINERS = ("list", "dict", "set", "collections.", "queue.Queue")
_CACHES = ("functools.lru_cache", "functools.cache", "functools.cached_property")
_DEPTH = 4


@dataclass(frozen=True, eq=False)
class Kept:
    """A tensor that a traced function stores in an object that outlives the trace."""

    function: FunctionInfo
    node: ast.AST
    """The statement or call that stores it; for a cache, the decorator."""
    value: ast.expr
    """The stored tensor."""
    holder: str
    """`attribute`, `container`, `name` (a global or nonlocal) or `cache`."""
    name: str
    """The name of the attribute or variable."""
    owner: ClassInfo | None = None
    """The class of `self`, if the tensor is stored there."""
    scope: Scope | None = None
    """The scope that binds the variable, if it is not an attribute."""
    grows: bool = False
    """Whether each trace adds a tensor while earlier ones remain."""

    @property
    def module(self) -> Module:
        """The file of the traced function."""
        return self.function.module

    @property
    def place(self) -> str:
        """Return the holder as written in the source: `self.code`, `history`."""
        if self.holder == "cache":
            return f"{self.name}()"
        return f"self.{self.name}" if self.owner is not None else self.name

    def stores(self) -> list[ast.AST]:
        """Return where the class of `self` sets the attribute."""
        known = self.module.attribute_stores(self.owner.node) if self.owner is not None else {}
        return known.get(self.name, [])


def kept_tensors(module: Module, held: Collection[str] = ()) -> list[Kept]:
    """Return all tensors that the traced functions of a file store, in source order.

    Args:
        module: the file.
        held: attributes on which the running program held a tensor, whatever the source shows.
    """
    found: list[Kept | None] = []
    for function in traced_functions(module):
        for node in own_nodes(function):
            match node:
                case ast.Call(func=ast.Attribute(value=base, attr=method), args=[*_, value]):
                    if method in ADDING and holds_symbolic(module, value):
                        found.append(_in_container(function, node, base, value, method in GROWING))
                case (
                    ast.Assign(value=value)
                    | ast.AugAssign(value=value)
                    | ast.AnnAssign(value=ast.expr() as value)
                ):
                    for target in getattr(node, "targets", None) or [node.target]:  # type: ignore[union-attr]
                        for part, stored in _parts(target, value):
                            seen = getattr(part, "attr", None) in held and not isinstance(
                                stored, ast.Constant
                            )
                            if seen or holds_symbolic(module, stored):
                                found.append(_assigned(function, node, part, stored))
        for decorator in (each for name, each in function.decorators.items() if name in _CACHES):
            values = [each.value for each in module.returns.get(function.node, []) if each.value is not None]
            cached = (value for value in values if holds_symbolic(module, value))
            found += [Kept(function, decorator, value, "cache", function.name) for value in cached][:1]
    return [kept for kept in found if kept is not None]


def _parts(target: ast.expr, value: ast.expr) -> Iterator[tuple[ast.expr, ast.expr]]:
    if not isinstance(target, (ast.Tuple, ast.List)):
        yield target, value
        return
    written = value.elts if isinstance(value, (ast.Tuple, ast.List)) else []
    for index, part in enumerate(target.elts):
        yield part, written[index] if len(written) == len(target.elts) else value


def _assigned(function: FunctionInfo, node: ast.AST, target: ast.expr, value: ast.expr) -> Kept | None:
    module = function.module
    match target:
        case ast.Subscript(value=base):
            return _in_container(function, node, base, value)
        case ast.Attribute(attr=name) if module.own_attribute(target):
            owner = module.class_of(target)
            put_back = _is_put_back(module, node, name)
            return None if put_back else Kept(function, node, value, "attribute", name, owner)
        case ast.Attribute(value=ast.Name() as base, attr=name) if _outlives(module, base):
            return Kept(function, node, value, "attribute", name)
        case ast.Name(id=name) if name in module.index.scopes[function.node].outer:
            scope = _outlives(module, target)
            grows = isinstance(node, ast.AugAssign) and isinstance(value, (ast.List, ast.Tuple))
            return Kept(function, node, value, "name", name, None, scope, grows) if scope else None
    return None


def _is_put_back(module: Module, node: ast.AST, name: str) -> bool:
    """Return whether a later statement of the same block, or a `finally` around it, replaces the tensor again."""
    block = module.block(node)
    later = block[block.index(node) + 1 :] if isinstance(node, ast.stmt) and block else []
    inner = node
    for around in module.parents(node):
        if isinstance(around, ast.Try) and inner in around.body:
            later += around.finalbody
        inner = around
    return any(
        isinstance(statement, ast.Assign)
        and not holds_symbolic(module, statement.value)
        and any(module.own_attribute(target) == name for target in statement.targets)
        for statement in later
    )


def _in_container(
    function: FunctionInfo, node: ast.AST, base: ast.expr, value: ast.expr, grows: bool = False
) -> Kept | None:
    module = function.module
    while isinstance(base, ast.Subscript):
        base = base.value
    if isinstance(base, ast.Attribute):
        # `Layer.cache[n] = x`: a class-level container also outlives every trace.
        owner = module.class_of(base) if is_self(module, base.value) else module.definition(base.value)
        if isinstance(owner, ClassInfo) and _attribute_is_container(owner, base.attr):
            return Kept(function, node, value, "container", base.attr, owner, None, grows)
    elif isinstance(base, ast.Name):
        scope = _outlives(module, base)
        if scope is not None and _are_containers(module, scope.bindings.get(base.id, []), every=True):
            return Kept(function, node, value, "container", base.id, None, scope, grows)
    return None


def _outlives(module: Module, name: ast.Name) -> Scope | None:
    """Return the scope that binds a name if it outlives the trace: the module, or a function that is not traced."""
    scope = module.index.lookup(name.id, module.scope(name))
    if scope is not None and isinstance(scope.node, FUNCTIONS):
        return None if module.function(scope.node).traced is not None else scope
    return scope if scope is not None and isinstance(scope.node, ast.Module) else None


def _attribute_is_container(owner: ClassInfo, name: str) -> bool:
    for ancestor in owner.ancestry:
        module = ancestor.module
        in_class = module.index.scopes[ancestor.node].bindings.get(name, [])
        if _are_containers(module, [*module.attribute_stores(ancestor.node).get(name, []), *in_class]):
            return True
    return False


def _are_containers(module: Module, targets: list[ast.AST], every: bool = False) -> bool:
    """Return whether one of the values that are assigned to these targets is a container, or every one."""
    values = []
    for target in targets:
        parent = module.parent(target)
        if isinstance(parent, ast.Tuple) and isinstance(around := module.parent(parent), ast.Assign):
            values += [value for part, value in _parts(parent, around.value) if part is target]
        elif isinstance(parent, (ast.Assign, ast.AnnAssign)) and parent.value is not None:
            values.append(parent.value)
    found = [
        isinstance(value, (ast.List, ast.Dict, ast.Set, ast.ListComp, ast.DictComp, ast.SetComp))
        or module.called(value).startswith(_CONTAINERS)
        for value in values
    ]
    return bool(found) and (all(found) if every else any(found))


# --- who stores it, and when --------------------------------------------------------------------------------------


def guard_of(kept: Kept) -> ast.If | None:
    """Return the `if self.x is None:` or `if key not in cache:` behind which a tensor is stored only once."""
    for around in kept.module.parents(kept.node):
        if isinstance(around, ast.If):
            if kept.holder == "attribute" and kept.owner is not None and _asks_for(kept, around):
                return around
            match around.test:
                case ast.Compare(ops=[ast.NotIn(), *_], comparators=[asked, *_]) if (
                    kept.holder == "container"
                ):
                    if kept.name in (getattr(asked, "attr", ""), getattr(asked, "id", "")):
                        return around
    return None


def _asks_for(kept: Kept, statement: ast.If) -> bool:
    """Return whether an `if` checks that the attribute exists: directly, with `hasattr`, or by a flag set in its body."""
    flags = {kept.name}
    for node in ast.walk(statement):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant):
            flags.add(kept.module.own_attribute(node.targets[0]))
    return any(
        kept.module.own_attribute(node) in flags - {""} or getattr(node, "value", None) == kept.name
        for node in ast.walk(statement.test)
    )


def reached_from(function: FunctionInfo) -> set[ast.AST]:
    """Return the functions that run in the same trace because this function calls them, including itself."""
    found: set[ast.AST] = {function.node}
    waiting = [(function, _DEPTH)]
    while waiting:
        current, left = waiting.pop()
        for node in ast.walk(current.node) if left else ():
            called = callee(current.module, node) if isinstance(node, ast.Call) else None
            if called is not None and called.node not in found and not is_traced_by_itself(called):
                found.add(called.node)
                waiting.append((called, left - 1))
            if isinstance(node, FUNCTIONS):
                found.add(node)
    return found


def is_traced_by_itself(function: FunctionInfo) -> bool:
    """Return whether a function always has its own graph, because it is a `tf.function`."""
    return "tensorflow.function" in function.decorators

"""Tensors that traced code stores for later: where, in which object, and which later reads are out of scope."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator

from fitdoctor.records import dataclass
from fitdoctor.source.callees import callee, is_self
from fitdoctor.source.index import FUNCTIONS, Scope
from fitdoctor.source.module import ClassInfo, FunctionInfo, Module
from fitdoctor.source.traced.symbolic import holds_symbolic, own_nodes, traced_functions

GROWING = frozenset({"append", "extend", "insert", "appendleft", "extendleft"})
_OTHER_ADDING = frozenset({"add", "update", "setdefault"})
_CONTAINERS = frozenset(
    {
        "list",
        "dict",
        "set",
        "collections.deque",
        "collections.defaultdict",
        "collections.OrderedDict",
        "queue.Queue",
    }
)
_CACHES = frozenset({"functools.lru_cache", "functools.cache", "functools.cached_property"})


@dataclass(frozen=True, eq=False)
class Kept:
    """A tensor that a traced function stores in an object that outlives the trace."""

    module: Module
    function: FunctionInfo
    node: ast.AST
    """The statement or call that stores it; for a cache, the decorator."""
    value: ast.expr
    """The stored tensor."""
    holder: str
    """`attribute`, `container`, `name` (a global or nonlocal) or `cache`."""
    name: str
    """The name of the attribute or variable."""
    owner: ClassInfo | None
    """The class of `self`, if the tensor is stored there."""
    scope: Scope | None
    """The scope that binds the variable, if it is not an attribute."""
    grows: bool = False
    """Whether each trace adds a tensor while earlier ones remain."""

    @property
    def place(self) -> str:
        """Return the holder as written in the source: `self.code`, `history`."""
        if self.holder == "cache":
            return f"{self.name}()"
        if self.owner is not None:
            return f"self.{self.name}"
        return self.name


def kept_tensors(module: Module, held: Collection[str] = ()) -> list[Kept]:
    """Return all tensors that the traced functions of a file store, in source order.

    Args:
        module: the file.
        held: attributes on which the running program held a tensor, whatever the source shows.
    """
    found: list[Kept] = []
    for function in traced_functions(module):
        for node in own_nodes(function):
            if isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
                found += _assigned(module, function, node, held)
            elif isinstance(node, ast.Call):
                found += _added(module, function, node)
        found += _cached(module, function)
    return found


def _assigned(
    module: Module,
    function: FunctionInfo,
    node: ast.Assign | ast.AnnAssign | ast.AugAssign,
    held: Collection[str],
) -> Iterator[Kept]:
    if node.value is None:
        return
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    for target in targets:
        for part, value in _parts(target, node.value):
            seen = (
                isinstance(part, ast.Attribute) and part.attr in held and not isinstance(value, ast.Constant)
            )
            if not seen and not holds_symbolic(module, value):
                continue
            if isinstance(part, ast.Attribute):
                kept = _on_attribute(module, function, node, part, value)
            elif isinstance(part, ast.Subscript):
                kept = _in_container(module, function, node, part.value, value)
            elif isinstance(part, ast.Name):
                kept = _in_outer_name(module, function, node, part, value)
            else:
                kept = None
            if kept is not None:
                yield kept


def _parts(target: ast.expr, value: ast.expr) -> Iterator[tuple[ast.expr, ast.expr]]:
    if isinstance(target, (ast.Tuple, ast.List)):
        written = value.elts if isinstance(value, (ast.Tuple, ast.List)) else []
        for index, part in enumerate(target.elts):
            yield part, written[index] if len(written) == len(target.elts) else value
    else:
        yield target, value


def _on_attribute(
    module: Module, function: FunctionInfo, node: ast.AST, target: ast.Attribute, value: ast.expr
) -> Kept | None:
    if is_self(module, target.value):
        owner = module.class_of(target)
        if _is_put_back(module, node, target):
            return None
        return Kept(module, function, node, value, "attribute", target.attr, owner, None)
    if isinstance(target.value, ast.Name) and _outlives(module, target.value) is not None:
        return Kept(module, function, node, value, "attribute", target.attr, None, None)
    return None


def _is_put_back(module: Module, node: ast.AST, target: ast.Attribute) -> bool:
    """Return whether a later statement of the same block, or a `finally` around it, replaces the tensor again."""
    later: list[ast.stmt] = []
    inner, around = node, module.parent(node)
    while around is not None and not isinstance(around, FUNCTIONS):
        if isinstance(around, ast.Try) and inner in around.body:
            later += around.finalbody
        inner, around = around, module.parent(around)
    parent = module.parent(node)
    for block in ("body", "orelse", "finalbody"):
        statements = getattr(parent, block, None)
        if isinstance(statements, list) and node in statements:
            later += statements[statements.index(node) + 1 :]
    return any(
        isinstance(statement, ast.Assign)
        and not holds_symbolic(module, statement.value)
        and any(
            isinstance(each, ast.Attribute) and each.attr == target.attr and is_self(module, each.value)
            for each in statement.targets
        )
        for statement in later
    )


def _in_container(
    module: Module,
    function: FunctionInfo,
    node: ast.AST,
    base: ast.expr,
    value: ast.expr,
    grows: bool = False,
) -> Kept | None:
    while isinstance(base, ast.Subscript):
        base = base.value
    if isinstance(base, ast.Attribute) and is_self(module, base.value):
        owner = module.class_of(base)
        if owner is None or not _attribute_is_container(owner, base.attr):
            return None
        return Kept(module, function, node, value, "container", base.attr, owner, None, grows)
    if isinstance(base, ast.Attribute):
        # `Layer.cache[n] = x`: a class-level container also outlives every trace.
        named = module.definition(base.value)
        if isinstance(named, ClassInfo) and _attribute_is_container(named, base.attr):
            return Kept(module, function, node, value, "container", base.attr, named, None, grows)
        return None
    if isinstance(base, ast.Name):
        scope = _outlives(module, base)
        if scope is None or not _bound_to_container(module, scope, base.id):
            return None
        return Kept(module, function, node, value, "container", base.id, None, scope, grows)
    return None


def _in_outer_name(
    module: Module, function: FunctionInfo, node: ast.AST, target: ast.Name, value: ast.expr
) -> Kept | None:
    own = module.index.scopes[function.node]
    if target.id not in own.outer:
        return None
    scope = _outlives(module, target)
    grows = isinstance(node, ast.AugAssign) and isinstance(value, (ast.List, ast.Tuple))
    return Kept(module, function, node, value, "name", target.id, None, scope, grows) if scope else None


def _added(module: Module, function: FunctionInfo, call: ast.Call) -> Iterator[Kept]:
    if not isinstance(call.func, ast.Attribute) or not call.args:
        return
    attribute = call.func.attr
    if attribute not in GROWING and attribute not in _OTHER_ADDING:
        return
    value = call.args[-1]
    if not holds_symbolic(module, value):
        return
    kept = _in_container(module, function, call, call.func.value, value, attribute in GROWING)
    if kept is not None:
        yield kept


def _cached(module: Module, function: FunctionInfo) -> Iterator[Kept]:
    if isinstance(function.node, ast.Lambda):
        return
    for decorator in function.node.decorator_list:
        called = decorator.func if isinstance(decorator, ast.Call) else decorator
        if module.resolve(called) not in _CACHES:
            continue
        for result in module.returns.get(function.node, []):
            if result.value is not None and holds_symbolic(module, result.value):
                yield Kept(module, function, decorator, result.value, "cache", function.name, None, None)
                break


def _outlives(module: Module, name: ast.Name) -> Scope | None:
    """Return the scope that binds a name if it outlives the trace: the module, or a function that is not traced."""
    scope = module.index.lookup(name.id, module.scope(name))
    if scope is None:
        return None
    if isinstance(scope.node, FUNCTIONS):
        around = module.function(scope.node)
        return None if around.traced is not None else scope
    return scope if isinstance(scope.node, ast.Module) else None


def _bound_to_container(module: Module, scope: Scope, name: str) -> bool:
    values = [_assigned_value(module, node) for node in scope.bindings.get(name, [])]
    known = [value for value in values if value is not None]
    return bool(known) and all(_is_container(module, value) for value in known)


def _attribute_is_container(owner: ClassInfo, name: str) -> bool:
    for ancestor in owner.module.ancestry(owner):
        stores = ancestor.module.attribute_stores(ancestor.node).get(name, [])
        values = [_assigned_value(ancestor.module, store) for store in stores]
        if any(value is not None and _is_container(ancestor.module, value) for value in values):
            return True
        for statement in ancestor.node.body:
            if isinstance(statement, ast.Assign) and any(
                isinstance(target, ast.Name) and target.id == name for target in statement.targets
            ):
                return _is_container(ancestor.module, statement.value)
    return False


def _assigned_value(module: Module, target: ast.AST) -> ast.expr | None:
    parent = module.parent(target)
    if isinstance(parent, ast.Tuple) and isinstance(around := module.parent(parent), ast.Assign):
        return next((value for part, value in _parts(parent, around.value) if part is target), None)
    return parent.value if isinstance(parent, (ast.Assign, ast.AnnAssign)) else None


def _is_container(module: Module, value: ast.expr) -> bool:
    if isinstance(value, (ast.List, ast.Dict, ast.Set, ast.ListComp, ast.DictComp, ast.SetComp)):
        return True
    return isinstance(value, ast.Call) and module.resolve(value.func) in _CONTAINERS


# --- who stores it, and when --------------------------------------------------------------------------------------


def guard_of(kept: Kept) -> ast.If | None:
    """Return the `if self.x is None:` (or similar) that guards a tensor created only once."""
    if kept.holder != "attribute" or kept.owner is None:
        return None
    parent = kept.module.parent(kept.node)
    while parent is not None and parent is not kept.function.node:
        if isinstance(parent, ast.If) and _asks_for(kept, parent):
            return parent
        parent = kept.module.parent(parent)
    return None


def key_guard_of(kept: Kept) -> ast.If | None:
    """Return the `if key not in cache:` that guards a tensor stored only once."""
    parent = kept.module.parent(kept.node) if kept.holder == "container" else None
    while parent is not None and parent is not kept.function.node:
        if isinstance(parent, ast.If) and isinstance(parent.test, ast.Compare):
            asked = parent.test.comparators[0]
            name = asked.attr if isinstance(asked, ast.Attribute) else getattr(asked, "id", "")
            if isinstance(parent.test.ops[0], ast.NotIn) and name == kept.name:
                return parent
        parent = kept.module.parent(parent)
    return None


def _asks_for(kept: Kept, statement: ast.If) -> bool:
    """Return whether an `if` checks that the attribute exists: directly, with `hasattr`, or by a flag set in its body."""
    flags = {kept.name}
    for node in ast.walk(statement):
        if (
            isinstance(node, ast.Assign)
            and isinstance(node.value, ast.Constant)
            and isinstance(node.targets[0], ast.Attribute)
            and is_self(kept.module, node.targets[0].value)
        ):
            flags.add(node.targets[0].attr)
    for node in ast.walk(statement.test):
        if isinstance(node, ast.Attribute) and node.attr in flags and is_self(kept.module, node.value):
            return True
        if isinstance(node, ast.Constant) and node.value == kept.name:
            return True
    return False


def reached_from(function: FunctionInfo, depth: int = 4) -> set[ast.AST]:
    """Return the functions that run in the same trace because this function calls them, including itself."""
    found: set[ast.AST] = {function.node}
    waiting = [(function, depth)]
    while waiting:
        current, left = waiting.pop()
        if not left:
            continue
        for node in ast.walk(current.node):
            called = callee(current.module, node) if isinstance(node, ast.Call) else None
            if called is None or called.node in found or is_traced_by_itself(called):
                continue
            found.add(called.node)
            waiting.append((called, left - 1))
        found.update(inner for inner in ast.walk(current.node) if isinstance(inner, FUNCTIONS))
    return found


def is_traced_by_itself(function: FunctionInfo) -> bool:
    """Return whether a function always has its own graph, because it is a `tf.function`."""
    if isinstance(function.node, ast.Lambda):
        return False
    called = (item.func if isinstance(item, ast.Call) else item for item in function.node.decorator_list)
    return any(function.module.resolve(decorator) == "tensorflow.function" for decorator in called)

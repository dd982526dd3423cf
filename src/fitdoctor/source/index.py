"""One walk over a syntax tree: parents, nodes by type, and which scope binds which name."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TypeAlias

from fitdoctor.records import dataclass, field

FunctionNode: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
ScopeNode: TypeAlias = (
    ast.Module | ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef | ast.ListComp | ast.SetComp
    | ast.DictComp | ast.GeneratorExp
)  # fmt: skip

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)

# Fields without nodes, or with only operators and contexts, which are never needed.
_PLAIN = frozenset(
    "ctx op ops id attr name arg kind asname level module type_comment is_async conversion simple".split()
)


class _Fields(dict[type[ast.AST], tuple[str, ...]]):
    """Child fields by node type, last first, so that a stack yields them in source order."""

    def __missing__(self, kind: type[ast.AST]) -> tuple[str, ...]:
        leaf = kind in (ast.Constant, ast.Global, ast.Nonlocal, ast.Pass, ast.Break, ast.Continue)
        fields = () if leaf else tuple(name for name in reversed(kind._fields) if name not in _PLAIN)
        self[kind] = fields
        return fields


_FIELDS = _Fields()


def children(node: ast.AST) -> list[ast.AST]:
    """Return child nodes in source order; unlike `ast.iter_child_nodes`, without operators and contexts."""
    found: list[ast.AST] = []
    for name in reversed(_FIELDS[type(node)]):
        child = getattr(node, name, None)
        if type(child) is list:
            found += [item for item in child if isinstance(item, ast.AST)]
        elif isinstance(child, ast.AST):
            found.append(child)
    return found


def walk(node: ast.AST) -> Iterator[ast.AST]:
    """Yield a node and its descendants like `ast.walk`, but without operators and contexts and twice as fast."""
    waiting = [node]
    for current in waiting:
        yield current
        waiting += children(current)


def names_in(node: ast.AST) -> set[str]:
    """Every name in a piece of code, read or set."""
    return {inner.id for inner in walk(node) if isinstance(inner, ast.Name)}


@dataclass(eq=False)
class Scope:
    """A region in which names are bound: a module, class, function, lambda or comprehension."""

    node: ScopeNode
    parent: Scope | None
    bindings: dict[str, list[ast.AST]] = field(default_factory=dict)
    """Name to the nodes that bind it, in source order: Name, arg, alias, definitions, handlers."""
    outer: dict[str, str] = field(default_factory=dict)
    """Names declared `global` or `nonlocal` here, and which of the two."""

    def bind(self, name: str, node: ast.AST) -> None:
        """Record that a node binds a name here."""
        self.bindings.setdefault(name, []).append(node)

    def path(self) -> list[str]:
        """The names of this scope and those around it, outermost first."""
        path: list[str] = []
        current: Scope | None = self
        while current is not None:
            node = current.node
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                path.append(node.name)
            elif isinstance(node, ast.Lambda):
                path.append("<lambda>")
            current = current.parent
        return path[::-1]


class Index:
    """What one walk over the tree finds."""

    def __init__(self, tree: ast.Module) -> None:
        self.parents: dict[ast.AST, ast.AST] = {}
        self.nodes: dict[type[ast.AST], list[ast.AST]] = {}
        self.module = Scope(tree, None)
        self.scopes: dict[ast.AST, Scope] = {tree: self.module}
        self._scope_of: dict[ast.AST, Scope] = {}
        waiting: list[tuple[Scope, list[ast.AST]]] = [(self.module, [tree])]
        # A queue, not recursion: code may nest as deep as Python's parser allows.
        for scope, roots in waiting:
            self._walk(scope, roots, waiting)
        self._move_declared()

    def _walk(self, scope: Scope, roots: list[ast.AST], waiting: list[tuple[Scope, list[ast.AST]]]) -> None:
        parents, nodes, fields, scope_of = self.parents, self.nodes, _FIELDS, self._scope_of
        stack = roots[::-1]
        while stack:
            node = stack.pop()
            kind = type(node)
            if kind in nodes:
                nodes[kind].append(node)
            else:
                nodes[kind] = [node]
            if kind is ast.Name:
                scope_of[node] = scope
                if type(node.ctx) is not ast.Load:  # type: ignore[attr-defined]
                    scope.bind(node.id, node)  # type: ignore[attr-defined]
                continue
            if kind is ast.Call or kind is ast.Attribute:
                scope_of[node] = scope
            elif kind in _BINDERS and self._enter(scope, node, stack, waiting):
                continue
            for name in fields[kind]:
                child = getattr(node, name, None)
                if not child:
                    continue
                if type(child) is list:
                    for item in reversed(child):
                        if isinstance(item, ast.AST):
                            parents[item] = node
                            stack.append(item)
                elif isinstance(child, ast.AST):
                    parents[child] = node
                    stack.append(child)

    def _enter(
        self, scope: Scope, node: ast.AST, stack: list[ast.AST], waiting: list[tuple[Scope, list[ast.AST]]]
    ) -> bool:
        """Record the names that a node binds; True if its children are already handled."""
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            self._enter_function(scope, node, stack, waiting)
            return True
        if isinstance(node, ast.ClassDef):
            scope.bind(node.name, node)
            self._later(scope, node, list(node.body), waiting)
            self._now(node, [*node.decorator_list, *node.bases, *node.keywords], stack)
            return True
        if isinstance(node, (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
            self._enter_comprehension(scope, node, waiting)
            return True
        if isinstance(node, ast.alias):
            scope.bind(node.asname or node.name.partition(".")[0], node)
        elif isinstance(node, (ast.Global, ast.Nonlocal)):
            how = "global" if isinstance(node, ast.Global) else "nonlocal"
            scope.outer.update(dict.fromkeys(node.names, how))
        elif isinstance(node, (ast.ExceptHandler, ast.MatchAs, ast.MatchStar)) and node.name:
            scope.bind(node.name, node)
        elif isinstance(node, ast.MatchMapping) and node.rest:
            scope.bind(node.rest, node)
        return False

    def _enter_function(
        self,
        scope: Scope,
        node: FunctionNode,
        stack: list[ast.AST],
        waiting: list[tuple[Scope, list[ast.AST]]],
    ) -> None:
        arguments = node.args
        self.parents[arguments] = node
        outside: list[ast.AST] = []
        body: list[ast.AST]
        if isinstance(node, ast.Lambda):
            body = [node.body]
        else:
            scope.bind(node.name, node)
            body = list(node.body)
            outside += node.decorator_list
            if node.returns:
                outside.append(node.returns)
        inner = self._later(scope, node, body, waiting)
        for argument in parameters_of(arguments):
            inner.bind(argument.arg, argument)
            self.parents[argument] = arguments
            if argument.annotation is not None:
                self._now(argument, [argument.annotation], stack)
        defaults = [default for default in (*arguments.defaults, *arguments.kw_defaults) if default]
        self._now(arguments, list(defaults), stack)
        self._now(node, outside, stack)

    def _enter_comprehension(
        self,
        scope: Scope,
        node: ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp,
        waiting: list[tuple[Scope, list[ast.AST]]],
    ) -> None:
        parts: list[ast.AST] = list(node.generators)
        parts += [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        self._later(scope, node, parts, waiting)

    def _later(
        self, scope: Scope, node: ScopeNode, body: list[ast.AST], waiting: list[tuple[Scope, list[ast.AST]]]
    ) -> Scope:
        inner = Scope(node, scope)
        self.scopes[node] = inner
        for child in body:
            self.parents[child] = node
        waiting.append((inner, body))
        return inner

    def _now(self, parent: ast.AST, children: list[ast.AST], stack: list[ast.AST]) -> None:
        for child in reversed(children):
            self.parents[child] = parent
            stack.append(child)

    def scope_of(self, node: ast.AST) -> Scope:
        """The scope in which a node's names are looked up."""
        known = self._scope_of.get(node)
        if known is None:
            known = self._scope_of[node] = self._find_scope(node)
        return known

    def _find_scope(self, node: ast.AST) -> Scope:
        parents, scopes = self.parents, self.scopes
        child, current = node, parents.get(node)
        while current is not None:
            if current in scopes and _inside(current, child):
                return scopes[current]
            # The `arguments` node is between a function and its parameters and defaults.
            if isinstance(current, ast.arguments) and isinstance(child, ast.arg):
                return scopes[parents[current]]
            child, current = current, parents.get(current)
        return self.module

    def lookup(self, name: str, scope: Scope) -> Scope | None:
        """Return the scope whose binding a name refers to when read in `scope`; None if unbound."""
        current: Scope | None = scope
        while current is not None:
            if name in current.outer:
                return self._declared(name, current)
            if name in current.bindings and (current is scope or not isinstance(current.node, ast.ClassDef)):
                return current
            current = current.parent
        return None

    def _declared(self, name: str, scope: Scope) -> Scope | None:
        """The scope that a `global` or `nonlocal` declaration in `scope` means."""
        if scope.outer[name] == "global":
            return self.module if name in self.module.bindings else None
        current = scope.parent
        while current is not None:
            if name in current.bindings and isinstance(current.node, FUNCTIONS):
                return current
            current = current.parent
        return None

    def _move_declared(self) -> None:
        """Move `global` and `nonlocal` bindings to the scope they belong to."""
        for scope in list(self.scopes.values()):
            for name, how in scope.outer.items():
                bound = scope.bindings.pop(name, [])
                target = self.module if how == "global" else self._declared(name, scope)
                if bound and target is not None:
                    target.bindings.setdefault(name, []).extend(bound)


_BINDERS = frozenset(
    (
        ast.FunctionDef,
        ast.AsyncFunctionDef,
        ast.Lambda,
        ast.ClassDef,
        ast.ListComp,
        ast.SetComp,
        ast.DictComp,
        ast.GeneratorExp,
        ast.alias,
        ast.Global,
        ast.Nonlocal,
        ast.ExceptHandler,
        ast.MatchAs,
        ast.MatchStar,
        ast.MatchMapping,
    )
)


def parameters_of(arguments: ast.arguments) -> list[ast.arg]:
    """All parameters in the order in which they are written."""
    listed = [*arguments.posonlyargs, *arguments.args]
    if arguments.vararg:
        listed.append(arguments.vararg)
    listed += arguments.kwonlyargs
    if arguments.kwarg:
        listed.append(arguments.kwarg)
    return listed


def _inside(scope_node: ast.AST, child: ast.AST) -> bool:
    """Whether a child of a scope's node is evaluated inside that scope."""
    if isinstance(scope_node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return isinstance(child, ast.stmt)
    if isinstance(scope_node, ast.Lambda):
        return child is scope_node.body
    if isinstance(scope_node, ast.ClassDef):
        return isinstance(child, ast.stmt)
    return True

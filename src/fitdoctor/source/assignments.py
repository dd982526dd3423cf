"""The assignments of a name, the one that reaches a use, and in-place changes of its value."""

from __future__ import annotations

import ast
from bisect import bisect_left
from collections.abc import Iterator

from fitdoctor.records import dataclass, replace
from fitdoctor.source.callees import is_self
from fitdoctor.source.index import FUNCTIONS, Scope
from fitdoctor.source.module import ClassInfo, Module
from fitdoctor.source.work_budget import spend

Path = tuple[int | str | None, ...]
"""A part of a value: an index, a key, or None for every element."""

_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_BRANCHES = (ast.If, *_LOOPS, ast.Try, ast.Match, ast.ExceptHandler, ast.match_case)


@dataclass(frozen=True, eq=False)
class Assignment:
    """One assignment of a name."""

    target: ast.AST
    """The bound node: a name, an attribute, a parameter, an import."""
    value: ast.expr | None
    """The assigned expression; None for imports, definitions and parameters."""
    path: Path = ()
    """The part of the value; () for all of it."""
    how: str = "="
    """`=`, `augmented`, `for`, `with`, `parameter`, `import`, `definition`, `except`, `del` or `match`."""


def assignments(module: Module, name: str, scope: ast.AST | None = None) -> tuple[Assignment, ...]:
    """Return the assignments of a name, or of `self.name`, in a scope, in source order."""
    if "." in name:
        owner = _class_around(module, scope)
        stores = module.attribute_stores(owner.node) if owner is not None else {}
        return tuple(assignment_of(module, node) for node in stores.get(name.partition(".")[2], []))
    where = _own_scope(module, scope)
    found = module.index.lookup(name, where)
    bound = found.bindings[name] if found is not None else []
    return tuple(assignment_of(module, node) for node in bound)


def _own_scope(module: Module, node: ast.AST | None) -> Scope:
    if node is None:
        return module.index.module
    return module.index.scopes.get(node) or module.scope(node)


def _class_around(module: Module, node: ast.AST | None) -> ClassInfo | None:
    if isinstance(node, ast.ClassDef):
        return module.class_info(node)
    return None if node is None else module.class_of(node)


def assignment_of(module: Module, target: ast.AST) -> Assignment:
    """Return the value that a binding node gets."""
    if isinstance(target, ast.arg):
        return Assignment(target, None, how="parameter")
    if isinstance(target, ast.alias):
        return Assignment(target, None, how="import")
    if isinstance(target, (*FUNCTIONS, ast.ClassDef)):
        return Assignment(target, None, how="definition")
    if isinstance(target, ast.ExceptHandler):
        return Assignment(target, None, how="except")
    if isinstance(getattr(target, "ctx", None), ast.Del):
        return Assignment(target, None, how="del")
    return _unpacked(module, target)


def _unpacked(module: Module, target: ast.AST) -> Assignment:
    path: Path = ()
    child: ast.AST = target
    parent = module.parent(child)
    while isinstance(parent, (ast.Tuple, ast.List, ast.Starred)):
        if isinstance(parent, ast.Starred):
            return Assignment(target, None, how="match")
        position = parent.elts.index(child)  # type: ignore[arg-type]
        if any(isinstance(other, ast.Starred) for other in parent.elts[:position]):
            position -= len(parent.elts)  # counted from the end, after the star
        path = (position, *path)
        child, parent = parent, module.parent(parent)
    if isinstance(parent, ast.Assign):
        return _taken(Assignment(target, parent.value, path))
    if isinstance(parent, (ast.AnnAssign, ast.NamedExpr)):
        return Assignment(target, parent.value)
    if isinstance(parent, ast.AugAssign):
        return Assignment(target, parent.value, how="augmented")
    if isinstance(parent, (ast.For, ast.AsyncFor, ast.comprehension)):
        return Assignment(target, parent.iter, (None, *path), "for")
    if isinstance(parent, ast.withitem):
        return Assignment(target, parent.context_expr, path, "with")
    return Assignment(target, None, how="match")


def _taken(assignment: Assignment) -> Assignment:
    """Step into literal tuples: `a, b = 1, 2`."""
    value, path = assignment.value, assignment.path
    while path and isinstance(value, (ast.Tuple, ast.List)):
        element = element_of(value, path[0])
        if element is None:
            break
        value, path = element, path[1:]
    return replace(assignment, value=value, path=path)


def element_of(value: ast.expr, key: int | str | None) -> ast.expr | None:
    """Return one part of a literal tuple, list or dict."""
    if isinstance(value, (ast.Tuple, ast.List)) and isinstance(key, int):
        if any(isinstance(element, ast.Starred) for element in value.elts):
            return None
        return value.elts[key] if -len(value.elts) <= key < len(value.elts) else None
    if isinstance(value, ast.Dict) and isinstance(key, (int, str)):
        found = [
            element
            for name, element in zip(value.keys, value.values, strict=True)
            if isinstance(name, ast.Constant) and name.value == key
        ]
        return found[-1] if found and None not in value.keys else None
    if isinstance(value, ast.Call) and isinstance(key, str) and isinstance(value.func, ast.Name):
        if value.func.id == "dict" and all(keyword.arg is not None for keyword in value.keywords):
            return next((keyword.value for keyword in value.keywords if keyword.arg == key), None)
    return None


# --- which assignment holds at a use ------------------------------------------------------------------------------


def last_assignment(module: Module, use: ast.Name) -> tuple[Assignment, bool] | None:
    """Return the assignment that reaches a use, by source order, and whether it is the only possible one.

    None if the name is read before the scope assigns it: it comes from elsewhere, such as `from data import *`.
    """
    known = module.last_assignments
    if use not in known:
        spend()
        known[use] = _last_assignment(module, use)
    return known[use]


def _last_assignment(module: Module, use: ast.Name) -> tuple[Assignment, bool] | None:
    here = module.scope(use)
    scope = module.index.lookup(use.id, here)
    if scope is None:
        return None
    bound = module.stores(scope, use.id)
    if not bound:
        return None
    if _function_scope(here) is not _function_scope(scope):
        # A closure or global: the function runs after the assignments of the enclosing scope.
        return assignment_of(module, bound[-1]), len(bound) == 1
    reaching = _reaching(module, bound, use)
    return None if reaching is None else (assignment_of(module, reaching[0]), reaching[1])


def _function_scope(scope: Scope) -> Scope:
    """Return the scope that runs as one unit: comprehensions belong to the enclosing scope."""
    while scope.parent is not None and not isinstance(scope.node, (*FUNCTIONS, ast.ClassDef, ast.Module)):
        scope = scope.parent
    return scope


def _reaching(module: Module, bound: list[ast.AST], use: ast.AST) -> tuple[ast.AST, bool] | None:
    """Return the binding of a scope that a use most likely sees; None if all come later."""
    around = _ancestors(module, use)
    in_loop = any(isinstance(node, _LOOPS) for node in around)
    if not in_loop:
        # Without a loop, later bindings do not matter: search backwards from the use.
        for index in range(bisect_left(bound, _at(use), key=_at) - 1, -1, -1):
            node = bound[index]
            if _takes_effect_before(module, node, use, around) and not _excluded(module, node, around):
                return node, _always_runs(module, node, around)
    possible = [node for node in bound if not _excluded(module, node, around)]
    before = [node for node in possible if _takes_effect_before(module, node, use, around)]
    later = [node for node in possible if node not in before]
    if not before:
        # Only a later iteration of a loop reads a binding below the use.
        return (later[0], False) if in_loop and later else None
    chosen = before[-1]
    carried = any(_shares_loop(module, node, around) for node in later)
    return chosen, _always_runs(module, chosen, around) and not carried


def _ancestors(module: Module, node: ast.AST) -> dict[ast.AST, ast.AST]:
    """Return the ancestors of a node, each with the child that leads to it."""
    around: dict[ast.AST, ast.AST] = {}
    child, current = node, module.parent(node)
    while current is not None:
        around[current] = child
        child, current = current, module.parent(current)
    return around


def _takes_effect_before(
    module: Module, binding: ast.AST, use: ast.AST, around: dict[ast.AST, ast.AST]
) -> bool:
    if isinstance(binding, (ast.arg, ast.alias)):
        return True
    statement: ast.AST | None = binding
    while statement is not None and not isinstance(
        statement, (ast.stmt, ast.comprehension, ast.ExceptHandler)
    ):
        statement = module.parent(statement)
    if statement is None:
        return False
    if isinstance(statement, (ast.comprehension, ast.ExceptHandler, ast.Match)):
        return True
    if statement in around:
        # Inside the binding statement: the body of a loop or `with` sees the target, an assigned value does not.
        child = around[statement]
        body = getattr(statement, "body", None)
        if isinstance(statement, (ast.For, ast.AsyncFor, ast.With, ast.AsyncWith)):
            return isinstance(body, list) and (child in body or child in getattr(statement, "orelse", []))
        return isinstance(module.parent(binding), (ast.NamedExpr, ast.withitem)) and _at(binding) < _at(use)
    return _at(binding) < _at(use)


def _at(node: ast.AST) -> tuple[int, int]:
    return getattr(node, "lineno", 0), getattr(node, "col_offset", 0)


def _excluded(module: Module, binding: ast.AST, around: dict[ast.AST, ast.AST]) -> bool:
    """Whether binding and use are in different branches of one `if`, so that only one of them runs."""
    child, current = binding, module.parent(binding)
    while current is not None:
        if current in around and isinstance(current, ast.If):
            own, other = child in current.body, around[current] in current.body
            beside = child in current.orelse or around[current] in current.orelse
            if (
                own != other
                and beside
                and _in_branch(current, child)
                and _in_branch(current, around[current])
            ):
                return not _shares_loop(module, current, around)
        child, current = current, module.parent(current)
    return False


def _in_branch(statement: ast.If, child: ast.AST) -> bool:
    return child in statement.body or child in statement.orelse


def _shares_loop(module: Module, node: ast.AST, around: dict[ast.AST, ast.AST]) -> bool:
    current = module.parent(node)
    while current is not None:
        if isinstance(current, _LOOPS) and current in around:
            return True
        current = module.parent(current)
    return False


def _always_runs(module: Module, binding: ast.AST, around: dict[ast.AST, ast.AST]) -> bool:
    """Whether every path to the use passes the binding."""
    child, current = binding, module.parent(binding)
    while current is not None and current not in around:
        if isinstance(current, _BRANCHES) and not isinstance(child, ast.expr):
            return False
        child, current = current, module.parent(current)
    return current is None or not isinstance(current, ast.If) or _same_branch(current, child, around)


def _same_branch(statement: ast.If, child: ast.AST, around: dict[ast.AST, ast.AST]) -> bool:
    return (child in statement.body) == (around[statement] in statement.body)


# --- in-place writes -----------------------------------------------------------------------------------------------

_IN_PLACE_CALLS = frozenset(
    (
        "numpy.random.shuffle",
        "random.shuffle",
        "numpy.copyto",
        "numpy.put",
        "numpy.fill_diagonal",
        "numpy.place",
    )
)


def writes_between(module: Module, name: ast.Name, start: ast.AST | None) -> Iterator[ast.stmt]:
    """Yield statements that change a name's value in place between `start` and the use, latest first."""
    scope = module.index.lookup(name.id, module.scope(name))
    if scope is None:
        return
    floor = _at(start) if start is not None else (0, 0)
    for statement in reversed(module.in_place_writes.get((scope.node, name.id), [])):
        if floor < _at(statement) < _at(module.statement(name)):
            yield statement


def find_writes(module: Module) -> dict[tuple[ast.AST, str], list[ast.stmt]]:
    """Return in-place changes by scope and name, in source order."""
    found: dict[tuple[ast.AST, str], list[ast.stmt]] = {}
    for root, statement in sorted(_find_writes(module), key=lambda write: _at(write[1])):
        scope = module.index.lookup(root.id, module.scope(root))
        if scope is not None:
            found.setdefault((scope.node, root.id), []).append(statement)
    return found


def _find_writes(module: Module) -> Iterator[tuple[ast.Name, ast.stmt]]:
    stored: list[ast.Subscript | ast.Attribute] = [*module.nodes(ast.Subscript), *module.nodes(ast.Attribute)]
    for node in stored:
        root = _root(node) if isinstance(node.ctx, ast.Store) else None
        if root is not None and not is_self(module, root):
            yield root, module.statement(node)
    for site in module.calls:
        call = site.node
        if site.name in _IN_PLACE_CALLS and call.args:
            root = _root(call.args[0])
        elif isinstance(call.func, ast.Attribute) and (
            site.method in ("fill", "sort", "resize") or _says_in_place(call)
        ):
            root = _root(call.func.value)
        else:
            continue
        if root is not None:
            yield root, module.statement(call)


def _says_in_place(call: ast.Call) -> bool:
    return bool(call.keywords) and any(
        keyword.arg == "inplace" and isinstance(keyword.value, ast.Constant) and keyword.value.value is True
        for keyword in call.keywords
    )


def _root(node: ast.expr) -> ast.Name | None:
    current = node
    while isinstance(current, (ast.Subscript, ast.Attribute)):
        current = current.value
    return current if isinstance(current, ast.Name) else None

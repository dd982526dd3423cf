"""Resolves names through imports, star imports, fallbacks and aliases."""

from __future__ import annotations

import ast
import builtins
from bisect import bisect_left
from typing import TYPE_CHECKING

from fitdoctor.source.index import FUNCTIONS, Scope
from fitdoctor.source.names import STAR_NAMES, canonical

if TYPE_CHECKING:
    from fitdoctor.source.module import Module

_BUILTINS = frozenset(dir(builtins))
_ALIAS_STEPS = 8
"""How many `a = b` a name is followed through."""


def dotted(module: Module, node: ast.AST | None, steps: int = _ALIAS_STEPS) -> str:
    """The dotted name of a name or attribute as the imports spell it, "" when it is not known."""
    attributes: list[str] = []
    while isinstance(node, ast.Attribute):
        attributes.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return ""
    base = _dotted_name(module, node, steps)
    if not base:
        return ""
    name = ".".join([base, *reversed(attributes)]) if attributes else base
    return name if module.project is None else module.project.library_name(module, name)


def _dotted_name(module: Module, node: ast.Name, steps: int) -> str:
    scope = module.index.lookup(node.id, module.scope(node))
    if scope is None:
        return _unbound(module, node.id)
    bound = scope.bindings[node.id]
    if len(bound) > 1:
        bound = _in_force(module, node, scope)
    name = _bound_name(module, bound[0], steps)
    # One that differs settles it; and names that are bound to each other must not multiply.
    if name and all(_bound_name(module, binding, steps) == name for binding in bound[1:]):
        return name
    return ""


def _in_force(module: Module, node: ast.Name, scope: Scope) -> list[ast.AST]:
    """Return the bindings that may hold at a use; the first for `try: import a / except: a = None`."""
    known = module.attempts.get((scope, node.id))
    if known is None:
        known = module.attempts[scope, node.id] = _attempts(module, scope.bindings[node.id])
    attempts, places = known
    if not places:
        return attempts
    last = bisect_left(places, _at(node)) if module.scope(node) is scope else 0
    return attempts[last - 1 : last] or attempts[-1:]


def _attempts(module: Module, bound: list[ast.AST]) -> tuple[list[ast.AST], list[tuple[int, int]]]:
    """The bindings that are no fallbacks and, where all of them are imports, their places."""
    attempts = [binding for binding in bound if not _is_fallback(module, binding)] or bound
    if not all(isinstance(binding, ast.alias) for binding in attempts):
        return attempts, []
    attempts = sorted(attempts, key=_at)
    return attempts, [_at(binding) for binding in attempts]


def _at(node: ast.AST) -> tuple[int, int]:
    return getattr(node, "lineno", 0), getattr(node, "col_offset", 0)


def _is_fallback(module: Module, binding: ast.AST) -> bool:
    """Whether a binding is a fallback in `except` or `else` for a failed import."""
    child, current = binding, module.parent(binding)
    while current is not None and not isinstance(current, FUNCTIONS):
        if isinstance(current, ast.ExceptHandler):
            return True
        if isinstance(current, ast.If) and child in current.orelse:
            return True
        child, current = current, module.parent(current)
    return False


def _bound_name(module: Module, binding: ast.AST, steps: int) -> str:
    known = module.bound_names.get(binding)
    if known is not None:
        return known
    if isinstance(binding, ast.alias):
        known = module.bound_names[binding] = imported(module, binding)
    elif not steps or not isinstance(binding, ast.Name):
        return ""
    else:
        value = plain_value(module, binding)
        named = isinstance(value, (ast.Name, ast.Attribute))
        known = module.bound_names[binding] = dotted(module, value, steps - 1) if named else ""
    return known


def plain_value(module: Module, target: ast.Name) -> ast.expr | None:
    """The value of a plain `name = value`."""
    statement = module.parent(target)
    if isinstance(statement, ast.Assign) and target in statement.targets:
        return statement.value
    return statement.value if isinstance(statement, ast.AnnAssign) else None


def imported(module: Module, alias: ast.alias) -> str:
    """The name that an import binds; relative ones keep their dots."""
    statement = module.parent(alias)
    if isinstance(statement, ast.ImportFrom):
        base = "." * statement.level + (statement.module or "")
        joint = "" if base.endswith(".") or not base else "."
        return f"{base}{joint}{alias.name}"
    return alias.name if alias.asname else alias.name.partition(".")[0]


def stars(module: Module) -> tuple[str, ...]:
    """The modules that a file imports everything from."""
    return tuple(
        canonical("." * node.level + (node.module or ""))
        for node in module.nodes(ast.ImportFrom)
        if node.names[0].name == "*"
    )


def _unbound(module: Module, name: str) -> str:
    for star in reversed(module.stars):
        if name in STAR_NAMES.get(star, ()):
            return f"{star}.{name}"
        if module.project is not None:
            found = module.project.exported(module, star, name)
            if found:
                return found
    return name if name in _BUILTINS else ""

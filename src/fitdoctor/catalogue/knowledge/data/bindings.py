"""Find the statement that last assigned the name an expression is based on."""

from __future__ import annotations

import ast

from fitdoctor.catalogue.knowledge.data.generator_sources import expression_of
from fitdoctor.diagnosis import Location
from fitdoctor.facts import Code, Unknown
from fitdoctor.source.module import Module
from fitdoctor.source.project import Project


def binding_of(project: Project, code: Code | Unknown) -> tuple[Module, ast.Assign] | None:
    """Return the assignment of the name behind `x`, `x[rows]` (then `rows`) or `x.drop(…)`."""
    found = expression_of(project, code)
    if found is None:
        return None
    module, expr = found
    root: ast.expr = expr
    while not isinstance(root, ast.Name):
        if root is expr and isinstance(root, ast.Subscript) and isinstance(root.slice, ast.Name):
            root = root.slice
        elif isinstance(root, (ast.Subscript, ast.Attribute)):
            root = root.value
        elif isinstance(root, ast.Call) and isinstance(root.func, ast.Attribute):
            root = root.func.value
        else:
            return None
    stores = [
        node
        for node in module.nodes(ast.Assign)
        if module.scope(node) is module.scope(expr)
        and node.lineno < expr.lineno
        and root.id in bound_names(node)
    ]
    return (module, max(stores, key=lambda node: node.lineno)) if stores else None


def bound_names(statement: ast.Assign) -> set[str]:
    """Return the names that an assignment binds."""
    return {
        node.id
        for target in statement.targets
        for node in ast.walk(target)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }


def binding_line(project: Project, code: Code | Unknown) -> Location | None:
    """Return the location of that assignment."""
    found = binding_of(project, code)
    return None if found is None else found[0].location(found[1])

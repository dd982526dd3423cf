"""Edits of lines of the user's source, and the places that they change."""

from __future__ import annotations

import ast
import re

from fitdoctor.diagnosis import Edit, Location
from fitdoctor.records import replace
from fitdoctor.source.module import Module
from fitdoctor.source.places import comment_behind


def delete_lines(module: Module, statement: ast.stmt) -> Edit:
    """Delete a statement with its lines and trailing comment.

    It becomes `pass` if its block would be empty, or if its lines contain other code.
    """
    place = module.location(statement)
    parent = module.parent(statement)
    blocks = [getattr(parent, name, None) for name in ("body", "orelse", "finalbody")]
    if any(block == [statement] for block in blocks) or _shares_lines(module, statement):
        return Edit(place, "pass")
    return Edit(place.lines, "")


def attribute_name(module: Module, node: ast.Attribute) -> Location:
    """Return the span of the name after the dot."""
    end = module.location(node).end
    return replace(end, column=end.end_column - len(node.attr))


def moved_import(module: Module, node: ast.ImportFrom, target: str) -> Edit:
    """Import the same names from another module."""
    text = re.sub(r"^from\s+[\w.]+", f"from {target}", module.segment(node), count=1)
    return Edit(module.location(node), text)


def indent_of(module: Module, node: ast.AST) -> str:
    """Return the indentation of a node's line, in the user's tabs or spaces."""
    line = module.places.lines[getattr(node, "lineno", 1) - 1]
    return line[: len(line) - len(line.lstrip(" \t\f"))]


def with_comment(module: Module, statement: ast.stmt) -> str:
    """Return the text of a statement with its trailing comment."""
    return module.segment(statement) + comment_behind(module.text, module.places.span(statement)[1])


def put_instead(module: Module, node: ast.expr, text: str) -> Edit:
    """Replace an expression; delete the statement if `x = x` would be left."""
    statement = module.statement(node)
    if isinstance(statement, ast.Assign) and statement.value is node:
        if [module.segment(target) for target in statement.targets] == [text]:
            return delete_lines(module, statement)
    return Edit(module.location(node), text)


def _shares_lines(module: Module, statement: ast.stmt) -> bool:
    start, end = module.places.span(statement)
    line_end = module.text.find("\n", end)
    before = module.text[module.text.rfind("\n", 0, start) + 1 : start]
    behind = module.text[end : len(module.text) if line_end < 0 else line_end].strip()
    return bool(before.strip()) or bool(behind) and not behind.startswith("#")

"""Edits of whole lines of the user's source."""

from __future__ import annotations

import ast

from fitdoctor.diagnosis import Edit
from fitdoctor.source.places import comment_behind

TYPE_CHECKING = False
if TYPE_CHECKING:
    from fitdoctor.source.module import Module


def delete_lines(module: Module, statement: ast.stmt) -> Edit:
    """Take a statement out with its lines and the comment behind it.

    `pass` takes its place where nothing else stands in its block, or something else stands on its lines.
    """
    place = module.location(statement)
    parent = module.parent(statement)
    blocks = [getattr(parent, name, None) for name in ("body", "orelse", "finalbody")]
    if any(block == [statement] for block in blocks) or _shares_lines(module, statement):
        return Edit(place, "pass")
    return Edit(place.lines, "")


def indent_of(module: Module, node: ast.AST) -> str:
    """The white space that the line of a node begins with: as many tabs or spaces as the user writes."""
    line = module.places.lines[getattr(node, "lineno", 1) - 1]
    return line[: len(line) - len(line.lstrip(" \t\f"))]


def with_comment(module: Module, statement: ast.stmt) -> str:
    """The text of a statement with the comment behind it, which moves along."""
    return module.segment(statement) + comment_behind(module.text, module.places.span(statement)[1])


def put_instead(module: Module, node: ast.expr, text: str) -> Edit:
    """Other text in the place of an expression; where `x = x` would be left, the statement goes."""
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

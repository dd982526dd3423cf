"""Edits of whole lines of the user's source."""

from __future__ import annotations

import ast

from fitdoctor.diagnosis import Edit

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


def _shares_lines(module: Module, statement: ast.stmt) -> bool:
    start, end = module.places.span(statement)
    line_end = module.text.find("\n", end)
    before = module.text[module.text.rfind("\n", 0, start) + 1 : start]
    behind = module.text[end : len(module.text) if line_end < 0 else line_end].strip()
    return bool(before.strip()) or bool(behind) and not behind.startswith("#")

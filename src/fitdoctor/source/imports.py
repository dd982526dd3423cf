"""Import statements of a file."""

from __future__ import annotations

import ast

from fitdoctor.source.module import Module


def first_import(module: Module, packages: tuple[str, ...]) -> ast.stmt | None:
    """Return the first import of one of the packages, or from them, at module level."""
    found: list[ast.stmt] = [
        plain
        for plain in module.nodes(ast.Import)
        if any(alias.name.partition(".")[0] in packages for alias in plain.names)
    ]
    found += [
        chosen
        for chosen in module.nodes(ast.ImportFrom)
        if not chosen.level and (chosen.module or "").partition(".")[0] in packages
    ]
    top = [node for node in found if module.function_of(node) is None]
    return min(top, key=lambda node: node.lineno) if top else None

"""Whether a piece of code runs only where a condition holds, or where something else has failed."""

from __future__ import annotations

import ast

TYPE_CHECKING = False
if TYPE_CHECKING:
    from fitdoctor.source.module import Module

_CONDITIONS = (ast.If, ast.IfExp, ast.BoolOp, ast.Try, ast.Lambda)


def is_conditional(module: Module, node: ast.AST, within: ast.AST | None = None) -> bool:
    """Whether a node stands behind an `if`, in a `try` or the like: up to `within`, or in the whole file."""
    parent = module.parent(node)
    while parent is not None and parent is not within:
        if isinstance(parent, _CONDITIONS) and not _is_main(parent):
            return True
        parent = module.parent(parent)
    return False


def _is_main(node: ast.AST) -> bool:
    """`if __name__ == "__main__":` holds for every program that is run."""
    return isinstance(node, ast.If) and any(
        isinstance(part, ast.Name) and part.id == "__name__" for part in ast.walk(node.test)
    )

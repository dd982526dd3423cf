"""Arrays that were made one: the list of those that it was joined from."""

from __future__ import annotations

import ast

from fitdoctor.facts import ArrayFacts, Unknown

JOINS = (
    "numpy.hstack",
    "numpy.concatenate",
    "numpy.column_stack",
    "numpy.array",
    "numpy.asarray",
    "numpy.stack",
)


def joined_parts(array: ArrayFacts, inputs: int) -> str | None:
    """The list of arrays that one array was joined from, where it is written out."""
    code = array.code
    if isinstance(code, Unknown) or code.name not in JOINS or not code.arguments:
        return None
    try:
        parts = ast.parse(code.arguments[0].text, mode="eval").body
    except SyntaxError:
        return None
    if not isinstance(parts, (ast.List, ast.Tuple)) or len(parts.elts) != inputs:
        return None
    return f"[{', '.join(ast.unparse(part) for part in parts.elts)}]"

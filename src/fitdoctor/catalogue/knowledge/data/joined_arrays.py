"""Find the arrays that one array was joined from."""

from __future__ import annotations

import ast

from fitdoctor.catalogue.knowledge.data.shapes import fits
from fitdoctor.facts import ArrayFacts, Code, Spec, Unknown

JOINS = (
    "numpy.hstack",
    "numpy.concatenate",
    "numpy.column_stack",
    "numpy.array",
    "numpy.asarray",
    "numpy.stack",
)


def joined_parts(array: ArrayFacts, inputs: int) -> str | None:
    """Return the literal list of arrays that one array was joined from."""
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


def stacked_parts(array: ArrayFacts, inputs: tuple[Spec, ...]) -> str:
    """Return `[pairs[:, 0], pairs[:, 1]]` for an array whose second axis stacks the model inputs, else ""."""
    shape, use = array.shape, array.use
    if not isinstance(shape, tuple) or len(shape) < 3 or shape[1] != len(inputs) or not isinstance(use, Code):
        return ""
    wanted = [spec.shape[1:] for spec in inputs if isinstance(spec.shape, tuple)]
    goes = len(wanted) == len(inputs) and all(fits(shape[2:], each) for each in wanted)
    if not goes or not use.text.isidentifier():
        return ""
    return f"[{', '.join(f'{use.text}[:, {index}]' for index in range(len(inputs)))}]"

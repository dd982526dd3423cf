"""Find the arrays that one array was joined from."""

from __future__ import annotations

import ast
import itertools
import re

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


_COLUMNS = re.compile(r"([A-Za-z_][\w.]*)(?:\[:, *(\d*):\d*\])?")
"""A table name, or some of its columns: `ratings[:, 1:3]`."""


def column_parts(inputs: tuple[Spec, ...], array: ArrayFacts, text: str) -> str:
    """Return the columns of a table per input, if their number matches."""
    said = _COLUMNS.fullmatch(text)
    if said is None:
        return ""
    name, first = said[1], int(said[2] or 0)
    widths = [spec.shape[1] for spec in inputs if isinstance(spec.shape, tuple) and len(spec.shape) == 2]
    if len(widths) != len(inputs) or None in widths or not isinstance(array.shape, tuple):
        return ""
    if len(array.shape) != 2 or array.shape[1] != sum(width or 0 for width in widths):
        return ""
    starts = [first + sum(width or 0 for width in widths[:index]) for index in range(len(widths) + 1)]
    slices = [f"{name}[:, {low}:{high}]" for low, high in itertools.pairwise(starts)]
    return f"[{', '.join(slices)}]"

"""Notebooks with cells that are not valid Python: reads the other cells and treats those names as unknown."""

from __future__ import annotations

import ast
import builtins
import keyword
import re

from fitdoctor.facts import SourceFacts
from fitdoctor.records import replace
from fitdoctor.source.read import SourceError, parse

_NAME = re.compile(r"(?<![\w.])[^\W\d]\w*")
_SWITCHES = ("eagerly", "compat.v1", "set_global_policy", "set_floatx", "set_image_data_format", "environ")
"""Words that change how the whole program runs; after a broken cell with one, nothing is judged."""


def without_broken_cells(facts: SourceFacts) -> tuple[SourceFacts | None, list[SourceError]]:
    """Return the facts with broken cells blanked, and the errors; None if nothing is left to judge."""
    if facts.cells is None:
        return None, []
    errors: list[SourceError] = []
    trees: dict[int, ast.Module] = {}
    for number, cell in enumerate(facts.cells, start=1):
        try:
            trees[number] = parse(SourceFacts(facts.path, cell))
        except SourceError as error:
            errors.append(SourceError(error.message, facts.path, error.line, number))
    broken = {error.cell for error in errors}
    told = [cell for number, cell in enumerate(facts.cells, start=1) if number in broken]
    if not errors or any(word in cell for cell in told for word in _SWITCHES):
        return None, errors
    imported = {name for tree in trees.values() for name in _imported(tree)}
    cells = tuple(
        _unknown(cell, imported) if number in broken else cell
        for number, cell in enumerate(facts.cells, start=1)
    )
    return replace(facts, text="\n".join(cells), cells=cells), errors


def _imported(tree: ast.Module) -> list[str]:
    """Return the names that a cell imports, which mean the same everywhere."""
    return [
        (alias.asname or alias.name).partition(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, (ast.Import, ast.ImportFrom))
        for alias in node.names
    ]


def _unknown(cell: str, imported: set[str]) -> str:
    """Replace a cell by as many lines that bind each of its names to an unknown value."""
    names = dict.fromkeys(_NAME.findall(cell))
    bound = [
        name
        for name in names  # `½` is a word, but not a name
        if name.isidentifier()
        and not keyword.iskeyword(name)
        and not hasattr(builtins, name)
        and name not in imported
    ]
    return "".join(f"{name} = " for name in bound) + "get_ipython()" + "\n" * cell.count("\n")

"""Lists of a table's columns that an expression works on, as the program writes them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable

from fitdoctor.diagnosis import Edit
from fitdoctor.facts import ArrayFacts, Code
from fitdoctor.records import dataclass
from fitdoctor.source.index import FUNCTIONS
from fitdoctor.source.module import Module

_QUOTED = re.compile(r"""["'](\w[\w .-]*)["']""")


@dataclass(frozen=True, eq=False)
class ColumnList:
    """A literal list of columns."""

    module: Module
    node: ast.List | ast.Tuple

    def without(self, columns: Iterable[str]) -> tuple[Edit, ...]:
        """Remove columns from the list; nothing if none would stay."""
        left = [each for each in self.node.elts if each.value not in columns]  # type: ignore[attr-defined]
        if not left or len(left) == len(self.node.elts):
            return ()
        text = ", ".join(self.module.segment(each) for each in left)
        ends = "[]" if isinstance(self.node, ast.List) else "()"
        comma = "," * (len(left) == 1 and ends == "()")
        return (Edit(self.module.location(self.node), f"{ends[0]}{text}{comma}{ends[1]}"),)


def column_list(module: Module, node: ast.AST, columns: Iterable[str]) -> ColumnList | None:
    """Return the list with any of these columns that an expression names, or that a name in it stands for."""
    for each in (*ast.walk(node), *loops_over(module, node)):
        if isinstance(each, (ast.Name, ast.Attribute, ast.List, ast.Tuple)):
            end = module.origin(each) if not isinstance(each, (ast.List, ast.Tuple)) else None
            if end is not None and (not end.certain or end.path or end.writes):
                continue
            place, found = (end.module, end.node) if end is not None else (module, each)
            if isinstance(found, (ast.List, ast.Tuple)) and _names(found) & {*columns}:
                return ColumnList(place, found)
    return None


def loops_over(module: Module, node: ast.AST) -> list[ast.expr]:
    """Return what the loops run over whose variables an expression reads: `columns` of `for c in columns`."""
    names = {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
    found: list[ast.expr] = []
    around = module.parent(node)
    while around is not None and not isinstance(around, (*FUNCTIONS, ast.ClassDef)):
        if isinstance(around, (ast.For, ast.AsyncFor)) and getattr(around.target, "id", "") in names:
            found.append(around.iter)
        around = module.parent(around)
    return found


def columns_behind(array: ArrayFacts) -> set[str]:
    """Return the names that an array may have as columns of a table: its key, and what is quoted where it is made."""
    texts = [code.text for code in (array.code, array.use) if isinstance(code, Code)]
    return {name for text in (array.path, *texts) for name in _QUOTED.findall(text)}


def _names(node: ast.List | ast.Tuple) -> set[str]:
    """Return the texts of a list that has nothing else."""
    names = [each.value for each in node.elts if isinstance(each, ast.Constant)]
    whole = len(names) == len(node.elts) and all(isinstance(name, str) for name in names)
    return {str(name) for name in names} if whole else set()

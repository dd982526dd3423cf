"""The notebook that this process runs: the cells that IPython has run so far, as one program."""

from __future__ import annotations

import ast
import sys

from fitdoctor.diagnosis import NOTEBOOK
from fitdoctor.facts import SourceFacts
from fitdoctor.patterns import pattern
from fitdoctor.records import replace
from fitdoctor.source.read import cell_starts, parse, source_from_cells

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeGuard

_TIMED = ("<timed exec>", "<timed eval>")
"""What `%%time` and `%time` run has no number of its own: it is the cell under way."""
_CELL_MAGIC = pattern(r"^\s*%%")
_LINE_MAGIC = pattern(r"^\s*%time\b")


def shell() -> Any:
    """IPython's shell where one runs in this process, else None."""
    module = sys.modules.get("IPython")
    return getattr(module, "get_ipython", lambda: None)() if module is not None else None


def cells_run() -> list[str]:
    """The cells as they were typed, in the order in which they ran: the first is `In[1]`."""
    history: Any = getattr(getattr(shell(), "history_manager", None), "input_hist_raw", None)
    return [str(cell) for cell in history[1:]] if isinstance(history, list) else []


def place_in_cell(path: str, line: int) -> tuple[int, int] | None:
    """The number of a cell by the name of its file, and the line in it; None where it is none that ran here."""
    running = shell()
    if running is None:
        return None
    if path in _TIMED:
        return _timed(int(getattr(running, "execution_count", 0)), line)
    names: Any = getattr(getattr(running, "compile", None), "_filename_map", None)
    number = names.get(path) if isinstance(names, dict) else None
    return (number, line) if isinstance(number, int) and number > 0 else None


def _timed(number: int, line: int) -> tuple[int, int] | None:
    cells = cells_run()
    if not 1 <= number <= len(cells):
        return None
    lines = cells[number - 1].split("\n")
    head = next((index for index, text in enumerate(lines, 1) if text.strip()), 1)
    if _CELL_MAGIC.match(lines[head - 1]):
        return number, head + line
    single = [index for index, text in enumerate(lines, 1) if _LINE_MAGIC.match(text)]
    return (number, single[0]) if len(single) == 1 else None


def joined_line(path: str, line: int) -> int | None:
    """The line of the joined program that a line of a cell is; None where it is no cell that ran here."""
    place = place_in_cell(path, line)
    cells = cells_run()
    if place is None or place[0] > len(cells):
        return None
    return cell_starts(tuple(cells[: place[0]]))[-1] + place[1] - 1


def notebook_source(keras: int = 3) -> SourceFacts | None:
    """The cells that were run, as one source in which a cell that failed to parse, or was run again, is left blank."""
    cells = cells_run()
    if not cells:
        return None
    facts = source_from_cells(cells, NOTEBOOK, keras)
    assert facts.cells is not None
    trees = [_tree(cell) for cell in facts.cells]
    texts = [
        _blank(cell) if tree is None else _without_redefined(cell, tree, trees[index + 1 :])
        for index, (cell, tree) in enumerate(zip(facts.cells, trees, strict=True))
    ]
    return replace(facts, text="\n".join(texts))


def _tree(cell: str) -> ast.Module | None:
    from fitdoctor.source.read import SourceError

    try:
        return parse(SourceFacts("", cell))
    except SourceError:
        return None


def _blank(cell: str) -> str:
    return "\n" * cell.count("\n")


def _without_redefined(cell: str, tree: ast.Module, later: list[ast.Module | None]) -> str:
    """The cell without the classes and functions that a later one defines again: what is mended and run once more."""
    again = {node.name for other in later if other is not None for node in other.body if _is_definition(node)}
    lines = cell.split("\n")
    for node in tree.body:
        if _is_definition(node) and node.name in again and isinstance(node.end_lineno, int):
            first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
            lines[first - 1 : node.end_lineno] = [""] * (node.end_lineno - first + 1)
    return "\n".join(lines)


def _is_definition(node: ast.stmt) -> TypeGuard[ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef]:
    return isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))

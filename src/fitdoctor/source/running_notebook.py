"""The notebook running in this process: the cells executed so far, as one program."""

from __future__ import annotations

import ast
import os
import re
import sys
from typing import Any, TypeGuard

from fitdoctor.diagnosis import NOTEBOOK
from fitdoctor.facts import SourceFacts
from fitdoctor.records import replace
from fitdoctor.source.read import cell_starts, columns_before_python, display_path, parse, source_from_cells

_TIMED = ("<timed exec>", "<timed eval>")
"""Pseudo-files of `%%time` and `%time`, which belong to the current cell."""
_CELL_MAGIC = re.compile(r"^\s*%%")
_TIMED_CELL = re.compile(r"^\s*%%time\b")
_LINE_MAGIC = re.compile(r"^\s*%time\b")


_file = ""
_stand_in: Any = None


def run_from_file(path: str = "", shell: Any = None) -> None:
    """Register the notebook file that is run as a program.

    Args:
        path: the file.
        shell: the runner of the cells, if it is not IPython.
    """
    global _file, _stand_in
    _file = os.path.abspath(path) if path else _file
    _stand_in = shell


def notebook_path() -> str:
    """The path of the notebook that runs as its locations show it: of its file where that is known."""
    return display_path(_file) if _file else NOTEBOOK


def shell() -> Any:
    """IPython's shell where one runs in this process, else None."""
    if _stand_in is not None:
        return _stand_in
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
        return _timed(line)
    names: Any = getattr(getattr(running, "compile", None), "_filename_map", None)
    number = names.get(path) if isinstance(names, dict) else None
    if not isinstance(number, int) or number < 1:
        return None
    return _under_cell_magic(path, number, line) or (number, _blank_before(number) + line)


def named_by_cell(path: str, line: int) -> tuple[str, int]:
    """A place, with a cell named by its number alone (`<cell 3>`): the same in a second run of the notebook."""
    place = place_in_cell(path, line)
    return (path, line) if place is None else (f"<cell {place[0]}>", place[1])


def _blank_before(number: int) -> int:
    """How many blank lines a cell begins with: IPython leaves them out."""
    cells = cells_run()
    return _first_line(cells[number - 1].split("\n")) if number <= len(cells) else 0


def _first_line(lines: list[str], start: int = 0) -> int:
    """The index of the first line that is not blank."""
    return next((index for index in range(start, len(lines)) if lines[index].strip()), start)


def _under_cell_magic(path: str, number: int, line: int) -> tuple[int, int] | None:
    """The place in its cell of a line that `%%capture` and the like run as a cell of its own, which has no number."""
    import linecache

    cells = cells_run()
    lines = cells[min(number, len(cells)) - 1].split("\n") if cells else [""]
    head = _first_line(lines)
    code = linecache.getlines(path)
    if not _CELL_MAGIC.match(lines[head]) or _is_call_of_magic(code):
        return None
    first = _first_line(lines, head + 1)
    body = "\n".join(lines[first:]).rstrip("\n").count("\n")
    same = "".join(code).rstrip("\n").count("\n") == body
    return (min(number, len(cells)), first + line) if same else None


def _is_call_of_magic(code: list[str]) -> bool:
    """Whether it is what IPython makes of a whole cell that begins with `%%`."""
    return any(text.startswith("get_ipython().run_cell_magic(") for text in code[:1])


def _timed(line: int) -> tuple[int, int] | None:
    """The place of a line that `%%time` or `%time` runs: in the last cell that has such a magic."""
    for number, cell in reversed(list(enumerate(cells_run(), 1))):
        lines = cell.split("\n")
        head = _first_line(lines)
        if _TIMED_CELL.match(lines[head]):
            return number, _first_line(lines, head + 1) + line
        single = [index for index, text in enumerate(lines, 1) if _LINE_MAGIC.match(text)]
        if single:
            return (number, single[0]) if len(single) == 1 else None
    return None


def is_timed(path: str) -> bool:
    """Whether a file stands for what `%%time` or `%time` runs."""
    return path in _TIMED


def lines_timed() -> dict[str, list[str]]:
    """The source of the pseudo-files that `%%time` and `%time` run, which IPython itself does not keep."""
    place = _timed(1)
    if place is None:
        return {}
    lines = cells_run()[place[0] - 1].split("\n")[place[1] - 1 :]
    lines[0] = lines[0][columns_before_python(lines[0]) :]
    return {name: [f"{line}\n" for line in lines] for name in _TIMED}


def columns_before(path: str) -> int:
    """How many columns stand before the code that a magic such as `%time` runs on its line."""
    place = _timed(1) if path in _TIMED else None
    line = cells_run()[place[0] - 1].split("\n")[place[1] - 1 :] if place is not None else []
    return columns_before_python(line[0]) if line else 0


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
    facts = source_from_cells(cells, notebook_path(), keras)
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
    """Return the cell without classes and functions that a later cell redefines."""
    again = {node.name for other in later if other is not None for node in other.body if _is_definition(node)}
    lines = cell.split("\n")
    for node in tree.body:
        if _is_definition(node) and node.name in again and isinstance(node.end_lineno, int):
            first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
            lines[first - 1 : node.end_lineno] = [""] * (node.end_lineno - first + 1)
    return "\n".join(lines)


def _is_definition(node: ast.stmt) -> TypeGuard[ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef]:
    return isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))


# --- cells that were run more than once ---------------------------------------------------------------------------


def changed_again(number: int, line: int) -> tuple[int, str] | None:
    """The earlier run of the same cell, and the variable that a statement of the cell changed in both runs.

    None if the cell ran once, or if the variable was assigned anew between the two runs.
    """
    cells = cells_run()
    facts = source_from_cells(cells, notebook_path()) if number <= len(cells) else None
    if facts is None or facts.cells is None:
        return None
    trees = [_tree(cell) for cell in facts.cells[:number]]
    name = _changed_by(trees[-1], line)
    for earlier in range(number - 1, 0, -1):
        if cells[earlier - 1].strip() == cells[number - 1].strip():
            return (earlier, name) if name else None
        if name in _assigned_in(trees[earlier - 1]):
            return None
    return None


def seems_replaced(number: int, line: int) -> bool:
    """Whether a later cell looks like this one, edited, or assigns what the statement on a line assigns."""
    from difflib import SequenceMatcher

    cells = cells_run()
    facts = source_from_cells(cells, notebook_path()) if number <= len(cells) else None
    if facts is None or facts.cells is None:
        return True
    tree = _tree(facts.cells[number - 1])
    around = [each for each in tree.body if each.lineno <= line] if tree is not None else []
    assigned = _assigned_in(around[-1]) if around else set()
    matcher = SequenceMatcher(None, b=cells[number - 1], autojunk=False)
    for later, text in zip(facts.cells[number:], cells[number:], strict=True):
        matcher.set_seq1(text)
        if assigned & _assigned_in(_tree(later)) or matcher.quick_ratio() > _ALIKE < matcher.ratio():
            return True
    return False


_ALIKE = 0.7
"""The similarity from which on a cell counts as an earlier one that was edited; two that differ have about 0.4."""


def _changed_by(tree: ast.Module | None, line: int) -> str:
    """The variable that the statement on a line changes: `x = x / 255`, `x /= 255`, `model.add(layer)`."""
    for statement in tree.body if tree is not None else ():
        if not statement.lineno <= line <= (statement.end_lineno or statement.lineno):
            continue
        names = [node for node in ast.walk(statement) if isinstance(node, ast.Name)]
        stored = {node.id for node in names if isinstance(node.ctx, ast.Store)}
        read = {node.id for node in names if isinstance(node.ctx, ast.Load)}
        if isinstance(statement, ast.AugAssign):
            return next(iter(stored), "")
        if isinstance(statement, ast.Assign):
            return min(stored & read, default="")
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
            owner = getattr(statement.value.func, "value", None)
            return owner.id if isinstance(owner, ast.Name) else ""
    return ""


def _assigned_in(tree: ast.AST | None) -> set[str]:
    nodes = ast.walk(tree) if tree is not None else ()
    return {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}

"""Edits in the code cells of a notebook, keeping its JSON elsewhere, and its cells as one script."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

from fitdoctor.diagnosis import Edit
from fitdoctor.edits import apply_edits
from fitdoctor.records import dataclass
from fitdoctor.source.read import cell_starts, without_magics

PRELUDE = "display = print"
"""What a notebook has and a script lacks; it is on its own line before the first cell."""

_SPACE = re.compile(r"[ \t\r\n]*")
_decoder = json.JSONDecoder()


@dataclass(frozen=True)
class CellScript:
    """The code cells of a notebook as one program."""

    text: str
    starts: tuple[int, ...]
    """The line of the script on which each cell starts."""

    def place(self, line: int) -> tuple[int, int]:
        """Return the cell (from 1) and the line in it for a line of the script."""
        cell = max((number for number, start in enumerate(self.starts, 1) if start <= line), default=1)
        first = self.starts[cell - 1] if self.starts else 1
        return cell, max(line - first + 1, 1)


@dataclass(frozen=True)
class _Source:
    """The source of a code cell: its text, and the span of its value in the notebook's JSON."""

    text: str
    start: int
    end: int


def script_of(notebook: str) -> CellScript:
    """Return the cells as one script, with magics blanked out.

    Raises:
        ValueError: it is not a notebook.
    """
    cells = tuple(without_magics(cell) for cell in cells_of(notebook))
    joined = "\n".join(cells)
    # `from __future__` must be a program's first statement.
    before = 0 if "__future__" in joined else 1
    starts = tuple(start + before for start in cell_starts(cells))
    return CellScript(f"{PRELUDE}\n{joined}" if before else joined, starts)


def _is_where_it_was_read(cell: str, edit: Edit) -> bool:
    """Whether the Python that was read has the same columns as the cell, from the edit on."""
    place = edit.location
    lines, read = cell.split("\n"), without_magics(cell).split("\n")
    return all(
        number > len(lines) or lines[number - 1][start:] == read[number - 1][start:]
        for number, start in ((place.line, place.column - 1), (place.end_line, place.end_column - 1))
    )


def cells_of(notebook: str) -> tuple[str, ...]:
    """The text of each code cell.

    Raises:
        ValueError: it is not a notebook.
    """
    return tuple(_unified(source.text) for source in _sources(notebook))


def with_edits(notebook: str, edits: Iterable[Edit]) -> str:
    """Return the notebook's JSON with edits in its cells, byte for byte the same elsewhere.

    Raises:
        ValueError: it is not a notebook, or the edits do not fit it.
    """
    by_cell: dict[int, list[Edit]] = {}
    for edit in edits:
        if edit.location.cell is None:
            raise ValueError("an edit names no cell")
        by_cell.setdefault(edit.location.cell, []).append(edit)
    sources = list(_sources(notebook))
    if not all(1 <= cell <= len(sources) for cell in by_cell):
        raise ValueError("an edit names a cell that does not exist")
    result = notebook
    # From the last to the first, so that the spans before it still hold.
    for cell in sorted(by_cell, reverse=True):
        source = sources[cell - 1]
        if not all(_is_where_it_was_read(source.text, edit) for edit in by_cell[cell]):
            raise ValueError("an edit is in a line that was read without its indentation or magic")
        new = apply_edits(_unified(source.text), by_cell[cell])
        old = notebook[source.start : source.end]
        result = result[: source.start] + _encoded(new, old) + result[source.end :]
    return result


def readable(notebook: str) -> str:
    """Return the code cells under headings, for a diff."""
    parts = [f"# cell {number}\n{source.text}\n" for number, source in enumerate(_sources(notebook), 1)]
    return "\n".join(parts)


def _unified(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _encoded(text: str, old: str) -> str:
    """Return a cell's new source in the form of the old one: one string, or a list of lines with the same layout."""
    plain = old.isascii()
    if old.startswith('"'):
        return json.dumps(text, ensure_ascii=plain)
    *whole, last = text.split("\n")
    lines = [f"{line}\n" for line in whole] + ([last] if last else [])
    items = [json.dumps(line, ensure_ascii=plain) for line in lines]
    lead = _SPACE.match(old, 1)
    tail = old[len(old[:-1].rstrip()) : -1]
    before = lead[0] if lead else ""
    between = before or " "
    return f"[{before}{f',{between}'.join(items)}{tail}]"


# --- where things stand in JSON -----------------------------------------------------------------------------------


def _sources(notebook: str) -> Iterator[_Source]:
    members = dict(_members(notebook, _skip(notebook, 0)))
    if "cells" in members:
        yield from _cells(notebook, members["cells"])
        return
    if "worksheets" not in members:  # the format before 2015
        raise ValueError("no `cells` in it")
    for sheet in _items(notebook, members["worksheets"]):
        inner = dict(_members(notebook, sheet))
        if "cells" in inner:
            yield from _cells(notebook, inner["cells"])


def _cells(notebook: str, start: int) -> Iterator[_Source]:
    for cell in _items(notebook, start):
        members = dict(_members(notebook, cell))
        kind = _value(notebook, members["cell_type"])[0] if "cell_type" in members else ""
        if kind != "code":
            continue
        place = members.get("source", members.get("input"))
        if place is None:
            raise ValueError("a code cell has no source")
        value, end = _value(notebook, place)
        text = "".join(value) if isinstance(value, list) else value
        if not isinstance(text, str):
            raise ValueError("a cell's source is not text")
        yield _Source(text, place, end)


def _value(text: str, start: int) -> tuple[Any, int]:
    return _decoder.raw_decode(text, start)


def _skip(text: str, position: int) -> int:
    space = _SPACE.match(text, position)
    return space.end() if space else position


def _members(text: str, start: int) -> Iterator[tuple[str, int]]:
    """Return the keys of the object at `start`, and where their values start."""
    position = _opened(text, start, "{")
    while text[position : position + 1] != "}":
        key, position = _value(text, position)
        position = _skip(text, position)
        if text[position : position + 1] != ":":
            raise ValueError("not JSON")
        position = _skip(text, position + 1)
        yield key, position
        position = _after(text, position)


def _items(text: str, start: int) -> Iterator[int]:
    """Return where the items of the list at `start` start."""
    position = _opened(text, start, "[")
    while text[position : position + 1] != "]":
        yield position
        position = _after(text, position)


def _opened(text: str, start: int, bracket: str) -> int:
    if text[start : start + 1] != bracket:
        raise ValueError("not a notebook")
    return _skip(text, start + 1)


def _after(text: str, position: int) -> int:
    """Return the position after a value and an optional comma."""
    _item, end = _value(text, position)
    position = _skip(text, end)
    return _skip(text, position + 1) if text[position : position + 1] == "," else position

"""Reads failures from a saved notebook: the tracebacks in its outputs, and their cells."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

from fitdoctor.diagnosis import NOTEBOOK, Location
from fitdoctor.facts import FailureFacts, FailureSummary, Frame
from fitdoctor.records import dataclass, replace

_HASHED = re.compile(r"[/\\](?:ipykernel_\d+[/\\]|ipython-input-)(\d{1,12})\.py$")
"""ipykernel and Colab name a cell by a hash of its text."""
_HASH_SEED = 0xC70F6907
_BOM = "\ufeff"


@dataclass(frozen=True)
class SavedCell:
    """A code cell of a saved notebook."""

    number: int
    """Its position among the code cells, starting at 1."""
    count: int | None
    """Its execution count: the 5 of `In[5]`."""
    source: str
    output: str
    """Its output, with its traceback."""

    def line(self, number: int) -> str:
        """Return a line of the cell, without indentation; "" if out of range."""
        lines = self.source.split("\n")
        return lines[number - 1].strip() if 1 <= number <= len(lines) else ""

    def number_of(self, frame: Frame) -> int | None:
        """Return the number of the line that a frame quotes, or None if the cell has changed since.

        IPython 7 and later do not count blank lines at the beginning of a cell.
        """
        blank = len(self.source) - len(self.source.lstrip("\n"))
        numbers = dict.fromkeys((frame.line, frame.line + blank))
        return next((number for number in numbers if frame.text in ("", self.line(number))), None)


def saved_cells(text: str) -> list[SavedCell] | None:
    """Return the code cells of a saved notebook, or None if the text is not one."""
    if not text.lstrip(f"{_BOM} \t\r\n").startswith("{") or '"cells"' not in text:
        return None
    try:
        notebook: Any = json.loads(text.lstrip(_BOM))
    except (ValueError, RecursionError):
        return None
    sheets = notebook.get("worksheets") if isinstance(notebook, dict) else None  # notebooks before 2015
    first = sheets[0] if isinstance(sheets, list) and sheets and isinstance(sheets[0], dict) else notebook
    cells = first.get("cells") if isinstance(first, dict) else None
    if not isinstance(cells, list):
        return None
    code = [cell for cell in cells if isinstance(cell, dict) and cell.get("cell_type") == "code"]
    return [_saved(number, cell) for number, cell in enumerate(code, start=1)]


def _saved(number: int, cell: dict[str, Any]) -> SavedCell:
    count = cell.get("execution_count", cell.get("prompt_number"))
    source = _joined(cell.get("source", cell.get("input")), "")
    return SavedCell(number, count if isinstance(count, int) else None, source, _output_text(cell))


def _output_text(cell: dict[str, Any]) -> str:
    parts: list[str] = []
    outputs = cell.get("outputs")
    for output in outputs if isinstance(outputs, list) else ():
        if not isinstance(output, dict):
            continue
        kind = output.get("output_type")
        if kind == "stream":
            parts.append(_joined(output.get("text"), ""))
        elif kind in ("error", "pyerr"):
            trace = _joined(output.get("traceback"), "\n")
            parts.append(trace or f"{output.get('ename', '')}: {output.get('evalue', '')}")
    return "\n".join(parts)


def _joined(value: Any, between: str) -> str:
    if isinstance(value, list):
        return between.join(part for part in value if isinstance(part, str))
    return value if isinstance(value, str) else ""


# --- which cell a frame lies in -----------------------------------------------------------------------------


def placed(failure: FailureFacts, at: SavedCell, cells: list[SavedCell], path: str) -> FailureFacts:
    """Map a failure's frames to the cells of the file, if these still match the quoted lines.

    Args:
        failure: the failure as read from text.
        at: the cell that printed it.
        cells: all of them.
        path: the notebook's file; "" if unknown.
    """
    hashes = {_murmur2(cell.source): cell for cell in cells}
    outermost = failure.user_frames[0] if failure.user_frames else None

    def frame_in_file(frame: Frame) -> Frame:
        cell = _cell_of(frame, [at] if frame is outermost else [], cells, hashes)
        if cell is None:
            return frame
        place = (path, cell.number) if path else (NOTEBOOK, cell.count or cell.number)
        line = cell.number_of(frame) or frame.line
        text = frame.text or cell.line(line)
        return replace(frame, path=place[0], cell=place[1], line=line, text=text, library=False)

    return _changed(failure, frame_in_file)


def _cell_of(
    frame: Frame, first: list[SavedCell], cells: list[SavedCell], hashes: dict[int, SavedCell]
) -> SavedCell | None:
    hashed = _HASHED.search(frame.path)
    if hashed and int(hashed[1]) in hashes:
        return hashes[int(hashed[1])]
    if frame.path != NOTEBOOK and not (hashed and frame.text):
        return None
    counted = [cell for cell in cells if cell.count == frame.cell and not hashed]
    for cell in (*first, *counted):
        if cell.number_of(frame) is not None:
            return cell
    # The cell has been run again since: match by the quoted line, if it is unique.
    same = [cell for cell in cells if frame.text and cell.number_of(frame) is not None]
    return same[0] if len(same) == 1 else None


def _changed(failure: FailureFacts, change: Callable[[Frame], Frame]) -> FailureFacts:
    return replace(
        failure,
        frames=tuple(map(change, failure.frames)),
        definition=tuple(map(change, failure.definition)),
        made_at=tuple(map(change, failure.made_at)),
        earlier=tuple(_summary(each, change) for each in failure.earlier),
        wrapped=None if failure.wrapped is None else _changed(failure.wrapped, change),
    )


def _summary(summary: FailureSummary, change: Callable[[Frame], Frame]) -> FailureSummary:
    place = summary.place
    if place is None or place.path != NOTEBOOK:
        return summary
    moved = change(Frame(place.path, place.line, "", cell=place.cell)).location
    return replace(summary, place=Location(moved.path, moved.line, cell=moved.cell))


def _murmur2(text: str) -> int:
    """Return the hash in ipykernel's name for a cell's file (32-bit MurmurHash2)."""
    factor, mask = 0x5BD1E995, 0xFFFFFFFF
    data = text.encode("utf-8", "replace")
    value = _HASH_SEED ^ len(data)
    whole = len(data) & ~3
    for start in range(0, whole, 4):
        word = int.from_bytes(data[start : start + 4], "little") * factor & mask
        word = (word ^ word >> 24) * factor & mask
        value = value * factor & mask ^ word
    if whole < len(data):
        value = (value ^ int.from_bytes(data[whole:], "little")) * factor & mask
    value = (value ^ value >> 13) * factor & mask
    return value ^ value >> 15

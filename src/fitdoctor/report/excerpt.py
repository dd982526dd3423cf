"""The user's lines around a finding and the hunks of a fix: from the diagnosis first, then from the disk."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from fitdoctor.diagnosis import Diagnosis, Edit, Fix, Location
from fitdoctor.edits import apply_edits
from fitdoctor.records import dataclass, replace

_LARGEST = 20_000_000
"""Bytes; a larger file is not read for the sake of a context line."""


class Lines:
    """Source lines by location. Saved lines take precedence: the file may have changed since it was checked."""

    def __init__(self, diagnosis: Diagnosis) -> None:
        self._saved = {
            (excerpt.path, excerpt.cell, excerpt.line): excerpt.text for excerpt in diagnosis.excerpts
        }
        self._files: dict[str, tuple[str, ...]] = {}

    def at(self, path: str, line: int, cell: int | None = None) -> str | None:
        """Return the text of a line; None if it is unknown."""
        saved = self._saved.get((path, cell, line))
        if saved is not None:
            return saved
        return self._on_disk(path, line, cell)

    def before(self, location: Location) -> tuple[int, str] | None:
        """Return the line before a location, if the file still has the text that was checked."""
        saved = self._saved.get((location.path, location.cell, location.line))
        current = self._on_disk(location.path, location.line, location.cell)
        if current is None or (saved is not None and saved.rstrip("\r") != current):
            return None
        text = self.at(location.path, location.line - 1, location.cell)
        return None if text is None or not text.strip() else (location.line - 1, text)

    def _on_disk(self, path: str, line: int, cell: int | None) -> str | None:
        # A saved report may come from elsewhere: nothing but Python source is ever read for it.
        if cell is not None or line < 1 or not path.endswith(".py"):
            return None
        if path not in self._files:
            self._files[path] = _lines_of(path)
        lines = self._files[path]
        return lines[line - 1] if line <= len(lines) else None


def _lines_of(path: str) -> tuple[str, ...]:
    file = Path(path)
    try:
        if not file.is_file() or file.stat().st_size > _LARGEST:
            return ()
        raw = file.read_bytes()
    except OSError:
        return ()
    text = raw.decode("utf-8-sig", errors="replace")
    return tuple(text.replace("\r\n", "\n").replace("\r", "\n").split("\n"))


@dataclass(frozen=True)
class Hunk:
    """Lines that a fix removes and adds, with the location of the first."""

    path: str
    line: int
    cell: int | None
    before: str | None
    """An unchanged line above it, for context."""
    removed: tuple[str, ...]
    added: tuple[str, ...]
    after: str | None
    """An unchanged line below it."""


def hunks(fix: Fix, lines: Lines) -> tuple[Hunk, ...]:
    """Return what a fix changes; nothing if one of the lines is unknown."""
    found: list[Hunk] = []
    for edits in _neighbours(fix.edits):
        hunk = _hunk(edits, lines)
        if hunk is None:
            return ()
        found.append(hunk)
    return tuple(found)


def in_their_files(
    changes: tuple[Hunk, ...], here: Location | None
) -> Iterator[tuple[Hunk, Location | None]]:
    """Yield every hunk, with its location if it is not in the same file or cell as what was shown before it.

    Args:
        changes: the hunks.
        here: the location of the finding, which is shown before them.
    """
    shown = (here.path, here.cell) if here is not None else None
    for hunk in changes:
        file = (hunk.path, hunk.cell)
        yield hunk, None if file == shown else Location(hunk.path, hunk.line, cell=hunk.cell)
        shown = file


def _neighbours(edits: tuple[Edit, ...]) -> Iterator[list[Edit]]:
    """Edits in groups that touch the same or adjoining lines."""
    group: list[Edit] = []
    for edit in sorted(edits, key=lambda edit: (edit.location.path, edit.location.cell or 0, edit.location)):
        if group and not _adjoin(group, edit):
            yield group
            group = []
        group.append(edit)
    if group:
        yield group


def _adjoin(group: list[Edit], edit: Edit) -> bool:
    first = group[0].location
    last_line = max(each.location.end_line for each in group)
    place = edit.location
    return (first.path, first.cell) == (place.path, place.cell) and place.line <= last_line + 1


def _hunk(edits: list[Edit], lines: Lines) -> Hunk | None:
    place = edits[0].location
    first = place.line
    last = max(edit.location.end_line for edit in edits)
    old = []
    for number in range(first, last + 1):
        text = lines.at(place.path, number, place.cell)
        if text is None:
            # An insertion at the very end of a file has no line there yet.
            if number > first or any(edit.location.column > 1 for edit in edits):
                return None
            text = ""
        old.append(text.rstrip("\r"))
    try:
        new = apply_edits("\n".join(old), [_moved(edit, first - 1) for edit in edits]).split("\n")
    except ValueError:
        return None
    return _trimmed_hunk(place, first, old, new)


def _moved(edit: Edit, by: int) -> Edit:
    location = edit.location
    return replace(edit, location=replace(location, line=location.line - by, end_line=location.end_line - by))


def _trimmed_hunk(place: Location, first: int, old: list[str], new: list[str]) -> Hunk:
    head = 0
    while head < min(len(old), len(new)) and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < min(len(old), len(new)) - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    return Hunk(
        path=place.path,
        line=first + head,
        cell=place.cell,
        before=old[head - 1] if head else None,
        removed=tuple(old[head : len(old) - tail]),
        added=tuple(new[head : len(new) - tail]),
        after=old[len(old) - tail] if tail else None,
    )

"""Lines of the user's files, as they were read or from the disk."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping

from fitdoctor.diagnosis import Location
from fitdoctor.facts import SourceFacts
from fitdoctor.records import replace
from fitdoctor.source.project import Project


def line_reader(
    project: Project | None = None, quoted: Mapping[tuple[str, int | None, int], str] | None = None
) -> Callable[[Location], str | None]:
    """Returns lines of the user's files, from the project if they were read, else from disk.

    Args:
        project: the files that were read.
        quoted: lines quoted in a traceback, by path, cell and number, for unavailable files.
    """
    texts: dict[str, SourceFacts | None] = {}
    split: dict[tuple[str, int | None], list[str]] = {}
    for module in project.modules if project is not None else ():
        texts[module.path] = module.facts

    def read_line(location: Location) -> str | None:
        if location.path not in texts:
            texts[location.path] = _facts_on_disk(location.path)
        facts = texts[location.path]
        if facts is None:
            return (quoted or {}).get((location.path, location.cell, location.line))
        key = (location.path, location.cell)
        if key not in split:
            typed = replace(facts, cells=facts.typed) if facts.typed else facts
            split[key] = lines_of(typed, location.cell)
        lines = split[key]
        return lines[location.line - 1] if 1 <= location.line <= len(lines) else None

    return read_line


def _facts_on_disk(path: str) -> SourceFacts | None:
    from fitdoctor.source.read import SourceError, read_source

    if path.startswith("<") or not os.path.isfile(path):
        return None
    try:
        return read_source(path)
    except SourceError:
        return None


def lines_of(facts: SourceFacts, cell: int | None) -> list[str]:
    """The lines of a file, or of a cell of a notebook."""
    if cell is None:
        return facts.text.split("\n")
    cells = facts.cells or ()
    return cells[cell - 1].split("\n") if 1 <= cell <= len(cells) else []

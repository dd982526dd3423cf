"""Map instructions of the user's program to expressions in its source."""

from __future__ import annotations

import ast
import itertools
import linecache
import os
import sys
from types import CodeType, FrameType

from fitdoctor.failure.frames import is_cell, is_library
from fitdoctor.failure.living import Positions, in_notebook
from fitdoctor.records import dataclass
from fitdoctor.source.module import Module
from fitdoctor.source.project import Project
from fitdoctor.source.read import SourceError, source_from_text
from fitdoctor.source.running_notebook import cells_run, joined_line, notebook_path, notebook_source


@dataclass(frozen=True)
class Site:
    """The file and span of the expression an instruction belongs to."""

    path: str
    line: int
    positions: Positions = (None, None, None, None)


def site_of(frame: FrameType) -> Site:
    """Return the site of the current instruction of a frame."""
    return site_at(frame.f_code, frame.f_lasti, frame.f_lineno or frame.f_code.co_firstlineno)


def site_at(code: CodeType, instruction: int, line: int) -> Site:
    """Return the site of an instruction of a code object."""
    positions: Positions = (None, None, None, None)
    if instruction >= 0:
        found = next(itertools.islice(code.co_positions(), instruction // 2, None), None)
        positions = found or positions
    _path, positions = in_notebook(code.co_filename, positions)
    return Site(*start_of(code.co_filename, line), positions)


def start_of(path: str, line: int) -> tuple[str, int]:
    """Return the line in the joined cells of a notebook; other lines are unchanged."""
    joined = joined_line(path, line) if is_cell(path) else None
    return (path, line) if joined is None else (notebook_path(), joined)


def module_with(code: CodeType) -> tuple[Module | None, int]:
    """Return the analyzed file of a function, and the line on which the function starts."""
    path, line = start_of(code.co_filename, code.co_firstlineno)
    return SOURCES.module(path, main_path()), line


def user_frame(frame: FrameType | None) -> FrameType | None:
    """Return the nearest outer frame of user code."""
    while frame is not None and is_library(frame.f_code.co_filename):
        frame = frame.f_back
    return frame


def user_frames(frame: FrameType | None) -> list[FrameType]:
    """Yield the user frames from the given one outwards."""
    found: list[FrameType] = []
    while frame is not None and len(found) < 200:
        if not is_library(frame.f_code.co_filename):
            found.append(frame)
        frame = frame.f_back
    return found


class Sources:
    """Analyzes the user's files together and caches each while it does not change."""

    def __init__(self) -> None:
        self._projects: dict[tuple[str, float], Project | None] = {}
        self._singles: dict[tuple[str, float], Module | None] = {}

    def module(self, path: str, main: str = "") -> Module | None:
        """Return the analyzed file; with `main`, as part of the project of that script."""
        # The imports of a notebook belong to its project; its cells have no file.
        project = self.project(main or (notebook_path() if cells_run() else path))
        found = project.module_at(path) if project is not None else None
        return found or self._single(path)

    def project(self, main: str) -> Project | None:
        """Return the project of a script or of the running notebook."""
        notebook = main == notebook_path()
        if notebook:
            self._forget_notebook()
        key = (main, len(cells_run()) if notebook else _changed_at(main))
        if key not in self._projects:
            try:
                self._projects[key] = Project.around((notebook_source() if notebook else None) or main)
            except (SourceError, OSError, SyntaxError, ValueError, RecursionError):
                self._projects[key] = None
        return self._projects[key]

    def _forget_notebook(self) -> None:
        """Discard earlier states of the notebook."""
        for key in [
            key for key in self._projects if key[0] == notebook_path() and key[1] != len(cells_run())
        ]:
            del self._projects[key]

    def _single(self, path: str) -> Module | None:
        key = (path, _changed_at(path))
        if key not in self._singles:
            self._singles[key] = _read(path)
        return self._singles[key]


def _changed_at(path: str) -> float:
    try:
        return os.stat(path).st_mtime
    except OSError:
        return 0.0


def _read(path: str) -> Module | None:
    """Read a file from disk, or from Python's line cache for `exec` with a registered source."""
    lines = linecache.getlines(path)
    if not lines:
        return None
    try:
        return Module(source_from_text("".join(lines), path))
    except (SourceError, SyntaxError, ValueError, RecursionError):
        return None


SOURCES = Sources()
"""Shared by all calls of fit in the process: a program may make thousands."""


def main_path() -> str:
    """Return the path of the running script, if it is a file."""
    main = sys.modules.get("__main__")
    path = getattr(main, "__file__", None)
    return path if isinstance(path, str) and os.path.isfile(path) else ""


def node_at(module: Module, site: Site) -> ast.expr | None:
    """Return the call at these positions, else the smallest enclosing expression that ends there."""
    line, end_line, column, end_column = site.positions
    if line is None or end_line is None or column is None or end_column is None:
        return _only_call(module, site.line)
    best: ast.expr | None = None
    for node in module.nodes(ast.Call):
        if (node.end_lineno, node.end_col_offset) != (end_line, end_column):
            continue
        start = (node.lineno, node.col_offset)
        if start == (line, column):
            return node
        # Python reports that a multi-line method call starts at its attribute.
        if start <= (line, column) and (best is None or start > (best.lineno, best.col_offset)):
            best = node
    return best


def _only_call(module: Module, line: int) -> ast.expr | None:
    found = [node for node in module.nodes(ast.Call) if node.lineno == line]
    return found[0] if len(found) == 1 else None

"""The user's line that a failure came from: its file, its function and the nodes on it."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from fitdoctor.diagnosis import Evidence, Location
from fitdoctor.facts import FailureFacts, Frame
from fitdoctor.source.module import CallSite, FunctionInfo, Module
from fitdoctor.source.project import Project

if TYPE_CHECKING:
    from typing import TypeVar

    Node = TypeVar("Node", bound=ast.AST)


def module_of(project: Project, frame: Frame | None) -> Module | None:
    """Return the file of a frame, if it was read."""
    if frame is None or not project:
        return None
    return project.module_at(frame.path) or _moved(project, frame)


def _moved(project: Project, frame: Frame) -> Module | None:
    """Return the file with the same name whose line still matches, since a log may name an old path."""
    name = _file_name(frame.path)
    same = [module for module in project.modules if _file_name(module.path) == name]
    if len(same) != 1 or frame.cell is not None:
        return None
    said, says = frame.text.strip(), same[0].line_text(frame.line).strip()
    return same[0] if says and said in ("", says) else None


def _file_name(path: str) -> str:
    return path.replace("\\", "/").rpartition("/")[2]


def function_at(module: Module, line: int, cell: int | None = None) -> FunctionInfo | None:
    """Return the innermost function whose body contains a line."""
    best: FunctionInfo | None = None
    for function in module.functions:
        if stands_at(module.location(function.node), line, cell):
            best = function  # in source order, an inner function follows the outer one
    return best


def stands_at(location: Location, line: int, cell: int | None = None) -> bool:
    """Return whether a span covers a line."""
    return location.cell == cell and location.line <= line <= location.end_line


def at_frame(module: Module, node: ast.AST, frame: Frame) -> bool:
    """Return whether a node is on the line of a frame."""
    return stands_at(module.location(node), frame.line, frame.cell)


def nodes_at(module: Module | None, kind: type[Node], line: Frame | Location | None) -> list[Node]:
    """Return the nodes of a kind on a line; none if its file was not read."""
    if module is None or line is None:
        return []
    return [node for node in module.nodes(kind) if stands_at(module.location(node), line.line, line.cell)]


def calls_at(failure: FailureFacts, project: Project) -> list[CallSite]:
    """Return the calls on the user's line that raised; none if its file was not read."""
    frame = failure.last_user_frame
    module = module_of(project, frame)
    if module is None or frame is None:
        return []
    return [site for site in module.calls if at_frame(module, site.node, frame)]


def raised_here(failure: FailureFacts) -> Evidence:
    """Return the first line of the message and the user's line that raised it."""
    frame = failure.last_user_frame
    return Evidence(
        "the error is raised here", failure.first_line, location=frame.location if frame is not None else None
    )

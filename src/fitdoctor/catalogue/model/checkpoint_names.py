"""Values that the path of a checkpoint names, as in `{val_accuracy:.2f}`."""

from __future__ import annotations

import ast
import re
import string

from fitdoctor.diagnosis import Edit, Location
from fitdoctor.facts import CallbackFacts, Unknown
from fitdoctor.source.module import Module
from fitdoctor.source.project import Project

FAILED = re.compile(r"Failed to format this callback filepath: [\s\S]*Reason: [\\']*(?P<name>\w+)")
"""What Keras says at the end of the first epoch."""
_TOLD = frozenset({"epoch", "batch"})


def named_in_path(callback: CallbackFacts) -> list[str]:
    """The values that the path of a checkpoint holds besides the numbers of epoch and batch."""
    path = callback.setting("filepath") or ""
    try:
        fields = [field for _text, field, _spec, _conversion in string.Formatter().parse(path) if field]
    except ValueError:
        return []
    return [field for field in fields if field.isidentifier() and field not in _TOLD]


def written_paths(project: Project | Unknown, name: str) -> list[tuple[Module, ast.Constant]]:
    """The texts of the program that hold the value."""
    field = re.compile(rf"\{{{name}[:}}!]")
    return [
        (module, node)
        for module in (project.modules if isinstance(project, Project) else ())
        if module.calls_to("keras.callbacks.ModelCheckpoint")
        for node in module.nodes(ast.Constant)
        if isinstance(node.value, str) and field.search(node.value) and not _is_part(module, node)
    ]


def _is_part(module: Module, node: ast.Constant) -> bool:
    """Whether it is a piece of an f-string, whose braces are doubled."""
    return isinstance(module.parent(node), ast.JoinedStr)


def other_name(module: Module, node: ast.Constant, old: str, new: str) -> Edit:
    """The text with another value in the same place."""
    text = re.sub(rf"\{{{old}(?=[:}}!])", f"{{{new}", module.segment(node))
    return Edit(module.location(node), text)


def place_of(paths: list[tuple[Module, ast.Constant]]) -> Location | None:
    """Where the path is written, if that is one place."""
    return paths[0][0].location(paths[0][1]) if len(paths) == 1 else None

"""Values in a checkpoint path, as in `{val_accuracy:.2f}`."""

from __future__ import annotations

import ast
import re
import string

from fitdoctor.diagnosis import Edit, Location
from fitdoctor.facts import CallbackFacts, Unknown
from fitdoctor.source.module import Module
from fitdoctor.source.project import Project

FAILED = re.compile(r"Failed to format this callback filepath: [\s\S]*Reason: [\\']*(?P<name>\w+)")
"""The Keras error at the end of the first epoch."""
_TOLD = frozenset({"epoch", "batch"})


def named_in_path(callback: CallbackFacts) -> list[str]:
    """Return the values in a checkpoint path other than the epoch and batch numbers."""
    path = callback.setting("filepath") or ""
    try:
        fields = [field for _text, field, _spec, _conversion in string.Formatter().parse(path) if field]
    except ValueError:
        return []
    return [field for field in fields if field.isidentifier() and field not in _TOLD]


def written_paths(project: Project | Unknown, name: str) -> list[tuple[Module, ast.Constant]]:
    """Return the string literals of the program that contain the value."""
    field = re.compile(rf"\{{{name}[:}}!]")
    return [
        (module, node)
        for module in (project.modules if isinstance(project, Project) else ())
        if module.calls_to("keras.callbacks.ModelCheckpoint")
        for node in module.nodes(ast.Constant)
        if isinstance(node.value, str) and field.search(node.value) and not _is_part(module, node)
    ]


def _is_part(module: Module, node: ast.Constant) -> bool:
    """Whether a literal is part of an f-string, where braces are doubled."""
    return isinstance(module.parent(node), ast.JoinedStr)


def other_name(module: Module, node: ast.Constant, old: str, new: str) -> Edit:
    """Replace the value in a literal."""
    text = re.sub(rf"\{{{old}(?=[:}}!])", f"{{{new}", module.segment(node))
    return Edit(module.location(node), text)


def place_of(paths: list[tuple[Module, ast.Constant]]) -> Location | None:
    """Return where the path is written, if there is only one place."""
    return paths[0][0].location(paths[0][1]) if len(paths) == 1 else None

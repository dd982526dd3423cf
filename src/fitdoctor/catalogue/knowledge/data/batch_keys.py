"""Edits that rename a key in the dicts that a map function, a generator or a `PyDataset` returns."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from fitdoctor.diagnosis import Edit
from fitdoctor.source.module import Module
from fitdoctor.source.project import Project


def renamed_in_batches(project: Project | None, names: Mapping[str, str]) -> tuple[Edit, ...]:
    """Rename the keys where the batches are created; nothing if a key appears in several places or none."""
    if not project:
        return ()
    edits = []
    for old, new in names.items():
        found = [(module, key) for module in project.modules for key in _keys(module, old)]
        if len(found) != 1:
            return ()
        module, key = found[0]
        edits.append(Edit(module.location(key), module.segment(key).replace(old, new)))
    return tuple(edits)


def _keys(module: Module, name: str) -> Iterator[ast.Constant]:
    for written in module.nodes(ast.Dict):
        function = module.function_of(written)
        if function is None:
            continue
        mapped = function.traced is not None and function.traced.how == "map"
        if not mapped and function.name != "__getitem__" and function.node not in module.generators:
            continue
        for key in written.keys:
            if isinstance(key, ast.Constant) and key.value == name:
                yield key

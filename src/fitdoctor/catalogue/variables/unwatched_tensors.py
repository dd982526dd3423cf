"""Tensors whose gradient a tape computes without watching them, also in nested tapes."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fitdoctor.catalogue.variables.gradient_ways import gradient_calls, tapes
from fitdoctor.catalogue.variables.plain_tensors import is_watched, sources_of
from fitdoctor.diagnosis import Edit
from fitdoctor.edits import insert_before
from fitdoctor.source.module import Module


def unwatched(tape: str, block: ast.With, calls: list[ast.Call]) -> Iterator[ast.Name]:
    """Return the gradient sources that a tape does not watch."""
    for call in calls:
        for source in sources_of(call):
            if not is_watched(block, tape, source.id):
                yield source


def told_by_inner(module: Module, block: ast.With, source: ast.Name) -> bool:
    """Return whether an inner tape has the same unwatched source and so fails first."""
    return any(
        inner is not block and inner in ast.walk(block) and any(each.id == source.id for each in found)
        for tape, inner in tapes(module)
        for found in [list(unwatched(tape, inner, gradient_calls(module, tape, inner)))]
    )


def watching(module: Module, tape: str, block: ast.With, source: ast.Name) -> list[Edit]:
    """Add `tape.watch(x)` to this tape and to outer ones with the same source."""
    edits = list(insert_before(module.code(block.body[0]), f"{tape}.watch({source.id})"))
    for outer, around in tapes(module):
        if around is not block and block in ast.walk(around):
            asked = unwatched(outer, around, gradient_calls(module, outer, around))
            if any(each.id == source.id for each in asked):
                edits += insert_before(module.code(around.body[0]), f"{outer}.watch({source.id})")
    return edits

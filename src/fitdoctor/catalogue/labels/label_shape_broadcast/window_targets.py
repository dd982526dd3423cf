"""Targets cut from a series that are one step long, although the function that cuts them knows the model's horizon."""

from __future__ import annotations

import ast

from fitdoctor.catalogue.knowledge.data.generator_sources import expression_of
from fitdoctor.diagnosis import Edit
from fitdoctor.facts import ArrayFacts, Code, LayerFacts, Unknown
from fitdoctor.records import dataclass
from fitdoctor.source.project import Project


@dataclass(frozen=True)
class ShortTargets:
    """The expression that cuts the targets, and how many values it should cut."""

    code: Code
    horizon: str
    """The parameter with the number of units."""
    edits: tuple[Edit, ...]


def short_targets(
    project: Project | Unknown, layer: LayerFacts | None, labels: ArrayFacts
) -> ShortTargets | None:
    """Return the only expression that cuts one-step targets beside a parameter that is named like the layer's units."""
    found = expression_of(project, labels.code)
    name = _units_name(layer)
    function = found[0].function_of(found[1]) if found is not None else None
    if found is None or function is None or name not in function.parameters:
        return None
    module = found[0]
    cut = [
        (node, size)
        for node in ast.walk(function.node)
        if isinstance(node, ast.Subscript) and (size := _one_step(node)) is not None
    ]
    if len(cut) != 1:
        return None
    node, size = cut[0]
    return ShortTargets(module.code(node), name, (Edit(module.location(size), name),))


def _units_name(layer: LayerFacts | None) -> str:
    """Return the name in `Dense(horizon)` or `Dense(cfg.horizon)`."""
    code = layer.code if layer is not None else None
    units = code.argument("units", 0) if isinstance(code, Code) else None
    return units.text.rpartition(".")[2] if units is not None else ""


def _one_step(node: ast.Subscript) -> ast.Constant | None:
    """Return the 1 of `series[i : i + 1]`."""
    rows = node.slice
    if not isinstance(rows, ast.Slice) or rows.lower is None or not isinstance(rows.upper, ast.BinOp):
        return None
    end = rows.upper
    if not isinstance(end.op, ast.Add) or ast.dump(end.left) != ast.dump(rows.lower):
        return None
    return end.right if isinstance(end.right, ast.Constant) and end.right.value == 1 else None

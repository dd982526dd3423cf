"""Generators and PyDatasets that return single samples instead of batches, recognized from their source."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fitdoctor.catalogue.knowledge.data.generator_sources import batches_behind, own_nodes
from fitdoctor.diagnosis import Edit, Location
from fitdoctor.facts import DataFacts
from fitdoctor.source.module import FunctionInfo, Module
from fitdoctor.source.project import Project

SCALAR = "the arrays must be at least rank 1"
"""Keras's error for a scalar label."""


def given_out(data: DataFacts, project: Project) -> tuple[FunctionInfo, ast.expr] | None:
    """Return the first value that the generator passed to `fit` yields, or that the PyDataset returns."""
    return next(iter(batches_behind(project, data.code)), None)


def is_one_sample(function: FunctionInfo, value: ast.expr) -> bool:
    """Return whether x is indexed by a loop or `__getitem__` number, or is the loop variable, so one at a time."""
    parts = value.elts if isinstance(value, ast.Tuple) else [value]
    if not parts:
        return False
    turning = _turning(function)
    x = parts[0]
    if isinstance(x, ast.Name):
        return x.id in turning
    return isinstance(x, ast.Subscript) and isinstance(x.slice, ast.Name) and x.slice.id in turning


def _turning(function: FunctionInfo) -> set[str]:
    """Return the names bound by loops over numbers and pairs of samples, and the index of `__getitem__`."""
    found: set[str] = set()
    for node in own_nodes(function):
        if isinstance(node, ast.For) and isinstance(node.iter, ast.Call):
            name = node.iter.func.id if isinstance(node.iter.func, ast.Name) else ""
            stepped = name == "range" and len(node.iter.args) == 3
            if name in ("range", "zip", "enumerate") and not stepped:
                found |= {leaf.id for leaf in ast.walk(node.target) if isinstance(leaf, ast.Name)}
    if function.name == "__getitem__" and isinstance(function.node, ast.FunctionDef):
        found |= {argument.arg for argument in function.node.args.args[1:2]}
    return found


def as_batches_of_one(module: Module, value: ast.expr) -> tuple[Edit, ...]:
    """Replace each `x[i]` with `x[i:i + 1]`; nothing if a part is written differently."""
    parts = value.elts if isinstance(value, ast.Tuple) else [value]
    return tuple(_sliced(module, parts)) if all(_is_taken(part) for part in parts) else ()


def _is_taken(part: ast.expr) -> bool:
    return isinstance(part, ast.Subscript) and isinstance(part.slice, ast.Name)


def _sliced(module: Module, parts: list[ast.expr]) -> Iterator[Edit]:
    for part in parts:
        assert isinstance(part, ast.Subscript)
        name = module.segment(part.slice)
        location: Location = module.location(part.slice)
        yield Edit(location, f"{name} : {name} + 1")

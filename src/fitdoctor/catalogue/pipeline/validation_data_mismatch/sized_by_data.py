"""Models whose input shape comes from the training data, so that data they reject later must differ."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fitdoctor.catalogue.knowledge.data.generator_sources import expression_of
from fitdoctor.facts import Code, FitFacts, Unknown
from fitdoctor.source.keras_names import INPUTS
from fitdoctor.source.module import Module
from fitdoctor.source.origins import Origin
from fitdoctor.source.project import Project

_SHAPES = ("input_shape", "input_dim", "shape")


def has_shape_of_training(project: Project | Unknown, fit: FitFacts) -> bool:
    """Return whether every input of the program gets the shape of this call's training data."""
    argument = fit.code.argument("x", 0) if not isinstance(fit.code, Unknown) else None
    found = expression_of(project, Code(argument.location, argument.text)) if argument is not None else None
    if found is None or isinstance(project, Unknown):
        return False
    trained = found[0].origin(found[1])
    shapes = [(module, shape) for module in project.modules for shape in _input_shapes(module)]
    return bool(shapes) and all(_is_shape_of(module, shape, trained) for module, shape in shapes)


def _input_shapes(module: Module) -> Iterator[ast.expr]:
    for call in module.calls:
        named = [word.value for word in call.node.keywords if word.arg in _SHAPES]
        if call.name in INPUTS:
            yield from named or call.node.args[:1]
        else:
            yield from (word.value for word in call.node.keywords if word.arg in _SHAPES[:2])


def _is_shape_of(module: Module, shape: ast.expr, trained: Origin) -> bool:
    """Return whether a shape starts with that of an array from the same origin.

    `(1, X.shape[1])` is not a shape of `X`: it has an axis that `X` may lack.
    """
    parts = shape.elts if isinstance(shape, (ast.Tuple, ast.List)) else [shape]
    end = module.origin(parts[0]) if parts and isinstance(parts[0], ast.Name) else None
    where, node = (module, parts[0] if parts else shape) if end is None else (end.module, end.node)
    # `X.shape[1]`, `X.shape[1:]`
    if not isinstance(node, ast.Subscript) or not isinstance(node.value, ast.Attribute):
        return False
    axis = node.slice.lower if isinstance(node.slice, ast.Slice) else node.slice
    if not isinstance(axis, ast.Constant) or axis.value != 1:
        return False
    if node.value.attr != "shape" or not isinstance(node.value.value, ast.Name):
        return False
    measured = where.origin(node.value.value)
    return measured.certain and measured.node is trained.node and measured.path == trained.path

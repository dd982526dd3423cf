"""Predictions and labels passed to a loss or a metric, the one in place of the other."""

from __future__ import annotations

import ast

from fitdoctor.catalogue.knowledge.tracing.gradient_ways import is_model_call
from fitdoctor.diagnosis import Edit
from fitdoctor.source.assignments import last_assignment
from fitdoctor.source.module import Module


def are_swapped(module: Module, first: ast.expr, second: ast.expr) -> bool:
    """Whether the first of two arguments is the output of a model, and the second is part of the data."""
    return _is_predicted(module, first) and _is_given(module, second)


def exchanged(module: Module, first: ast.expr, second: ast.expr) -> tuple[Edit, ...]:
    """Exchange two arguments."""
    return (
        Edit(module.location(first), module.segment(second)),
        Edit(module.location(second), module.segment(first)),
    )


def _is_predicted(module: Module, expr: ast.expr) -> bool:
    end = module.origin(expr)
    return end.certain and not end.path and is_model_call(end.module, end.node)


def _is_given(module: Module, expr: ast.expr) -> bool:
    """Whether an expression is a parameter, or a part of what a loop goes over: a computed value may be predicted."""
    bound = last_assignment(module, expr) if isinstance(expr, ast.Name) else None
    if bound is None or bound[0].how not in ("parameter", "for", "="):
        return False
    return bound[0].how != "=" or bool(bound[0].path)

"""Metrics that a custom loop passes the predictions first: `accuracy.update_state(predictions, labels)`."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fitdoctor.catalogue import Cause
from fitdoctor.catalogue.knowledge.tracing.gradient_ways import is_model_call
from fitdoctor.diagnosis import Edit, Evidence, Finding
from fitdoctor.edits import fix
from fitdoctor.source.module import Module

_ONE_WAY = frozenset(
    "Accuracy BinaryAccuracy CategoricalAccuracy SparseCategoricalAccuracy TopKCategoricalAccuracy "
    "SparseTopKCategoricalAccuracy AUC Precision Recall FalsePositives FalseNegatives TruePositives TrueNegatives "
    "BinaryCrossentropy CategoricalCrossentropy SparseCategoricalCrossentropy KLDivergence".split()
)
"""Metrics that are not symmetric in labels and predictions."""


def swapped(cause: Cause, module: Module) -> Iterator[Finding]:
    """Report `update_state`, or the call of a metric, with model outputs in place of the labels."""
    for site in module.method_calls("update_state"):
        given = site.node.args
        assert isinstance(site.node.func, ast.Attribute)
        made = module.origin(site.node.func.value).node
        kind = module.resolve(made.func) if isinstance(made, ast.Call) else ""
        if not kind.startswith("keras.metrics.") or kind.rpartition(".")[2] not in _ONE_WAY or len(given) < 2:
            continue
        if not _is_output(module, given[0]) or not _is_handed_in(module, given[1]):
            continue
        first, second = given[:2]
        yield cause.finding(
            f"`{module.segment(site.node.func)}` receives the predictions first, but expects the labels first",
            module.location(site.node),
            Evidence("first argument", f"the output of a model, `{module.segment(first)}`"),
            fix(
                "pass the labels first",
                (
                    Edit(module.location(first), module.segment(second)),
                    Edit(module.location(second), module.segment(first)),
                ),
            ),
            subject="arguments of the metric",
        )


def _is_output(module: Module, value: ast.expr) -> bool:
    """Whether a value is the result of calling a model, directly or through a name."""
    made = module.made_by(value)
    return isinstance(made, ast.Call) and is_model_call(module, made)


def _is_handed_in(module: Module, value: ast.expr) -> bool:
    """Whether a value comes from a batch or a parameter; a computed value may be a prediction."""
    if not isinstance(value, ast.Name):
        return False
    looped = {id(name) for loop in module.nodes(ast.For) for name in ast.walk(loop.target)}
    return all(
        id(name) in looped
        for name in module.nodes(ast.Name)
        if name.id == value.id and isinstance(name.ctx, ast.Store)
    )

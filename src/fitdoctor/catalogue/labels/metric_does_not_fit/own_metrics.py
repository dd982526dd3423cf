"""Custom metrics that compare labels (n,) with outputs (n, 1): Keras 3 aligns only built-in metrics."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fitdoctor.catalogue import Cause
from fitdoctor.catalogue.knowledge.labels.label_shapes import rows
from fitdoctor.catalogue.knowledge.labels.targets import Target, metrics_for, targets
from fitdoctor.catalogue.labels.comparisons import unaligned_comparison
from fitdoctor.catalogue.words import listing, place
from fitdoctor.diagnosis import Edit, Evidence, Finding
from fitdoctor.edits import insert_before, spell, unsafe
from fitdoctor.facts import DataFacts, MetricFacts, ModelFacts
from fitdoctor.source.module import FunctionInfo
from fitdoctor.source.project import Project

_Met = tuple[MetricFacts, FunctionInfo, ast.expr]
"""A metric, its code, and the expression that compares labels with outputs."""
_OWN_STEPS = frozenset({"train_step", "compute_metrics"})


def spread_metrics(cause: Cause, model: ModelFacts, data: DataFacts, project: Project) -> Iterator[Finding]:
    """Yield metrics that compare every label with every output because the labels have shape (n,)."""
    if data.role != "training" or model.keras == 2 or _OWN_STEPS & set(model.overrides):
        return
    for target in targets(model, data):
        labels, output = target.label_shape, target.output_shape
        if labels is None or output is None or len(labels) != 1 or output[1:] != (1,):
            continue
        met = [
            (metric, function, node)
            for metric in metrics_for(model, target)
            if not metric.builtin
            and (function := _code_of(metric, project)) is not None
            and (node := unaligned_comparison(function, int(function.is_method))) is not None
        ]
        if met:
            yield _finding(cause, target, met)


def _code_of(metric: MetricFacts, project: Project) -> FunctionInfo | None:
    """Return the metric function or its update method, None unless the name is unique."""
    owner = project.class_named(metric.class_name)
    if owner is not None:
        return owner.module.method(owner, "update_state")
    named = [
        function
        for module in project.modules
        for function in module.functions
        if function.name == metric.name and not function.is_method
    ]
    return named[0] if len(named) == 1 else None


def _finding(cause: Cause, target: Target, met: list[_Met]) -> Finding:
    """Build one finding for all of them, so that one fix is enough."""
    labels, output = target.label_shape or (), target.output_shape or ()
    names = listing(metric.name for metric, _, _ in met)
    several = len(met) > 1
    _, function, node = met[0]
    return cause.finding(
        f"the metric{'s' * several} {names} {'receive' if several else 'receives'} labels of shape {rows(labels)}, but "
        f"outputs of shape {rows(output)}: every label is compared with every output",
        function.module.location(node),
        Evidence(
            "`fit` aligns labels and outputs for built-in metrics, not for custom ones",
            f"labels {rows(labels)}",
            f"outputs {rows(output)}",
            fact="data.y.shape",
            location=place(target.labels.code, target.labels.use) if target.labels else None,
        ),
        unsafe("reshape the labels to the shape of the outputs", _all_aligned(met)),
        subject=f"metric {met[0][0].name}",
    )


def _all_aligned(met: list[_Met]) -> tuple[Edit, ...]:
    edits = [_aligned(function, node) for _, function, node in met]
    return tuple(dict.fromkeys(edit for each in edits for edit in each)) if all(edits) else ()


def _aligned(function: FunctionInfo, node: ast.expr) -> tuple[Edit, ...]:
    """Insert a line before the comparison that adds the second axis to the labels."""
    code = function.module.code(node)
    if code.statement is None or code.statement.line == function.node.lineno:
        return ()  # all on one line
    library, usual = ("keras.ops", "ops") if code.spelling("tensorflow") is None else ("tensorflow", "tf")
    spelling, imports = spell(code, library, usual)
    labels = function.parameters[int(function.is_method)]
    return (*insert_before(code, f"{labels} = {spelling}.reshape({labels}, (-1, 1))"), *imports)

"""Attributes and methods that models, layers, metrics and optimizers of Keras 3 do not have."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fitdoctor.catalogue import Cause
from fitdoctor.catalogue.keras_3_fixes import (
    attribute_name,
    classes_fix,
    learning_rate_edit,
    renamed_method,
    variables_fix,
)
from fitdoctor.catalogue.keras_renames import RENAMED_METHODS, RENAMED_OF_LAYERS, RENAMED_OF_METRICS
from fitdoctor.catalogue.keras_signatures import REMOVED_ATTRIBUTES
from fitdoctor.diagnosis import Confidence, Edit, Evidence, Finding
from fitdoctor.edits import fix
from fitdoctor.source.keras_objects import (
    defines,
    is_keras_metric,
    is_keras_model,
    is_keras_optimizer,
    reads_keras_layer,
)
from fitdoctor.source.module import Module

_SOUGHT_OF_METRICS = frozenset(RENAMED_OF_METRICS)
"""Metrics were layers in Keras 2: the rest that they lost, such as `trainable`, nobody asks a metric for."""


def gone_attributes(cause: Cause, module: Module) -> Iterator[Finding]:
    """Methods of a model, and attributes of its parts, that are gone."""
    for node in module.nodes(ast.Attribute):
        kind = _kind_that_lost(module, node)
        if kind:
            yield _FINDINGS[kind](cause, module, node, Confidence.LIKELY)


def failed_attribute(cause: Cause, module: Module, node: ast.Attribute, kind: str) -> Iterator[Finding]:
    """The same of one that has failed.

    Args:
        cause: whose findings they are.
        module: where it stands.
        node: what was asked for.
        kind: of what, where the message tells it; else the source does, or the name alone.
    """
    kind = kind or _kind_that_lost(module, node)
    if not kind:
        called = isinstance(module.parent(node), ast.Call)
        kinds = ("optimizer", "model", "layer") if called else ("optimizer", "layer")
        kind = next((each for each in kinds if node.attr in REMOVED_ATTRIBUTES[each]), "")
    if kind:
        yield _FINDINGS[kind](cause, module, node, Confidence.CERTAIN)


def _kind_that_lost(module: Module, node: ast.Attribute) -> str:
    """Of what an attribute is read that has it no more; "" where that is not sure."""
    name, owner = node.attr, node.value
    if name in REMOVED_ATTRIBUTES["model"] and isinstance(module.parent(node), ast.Call):
        if is_keras_model(module, owner) and not defines(module, owner, name):
            return "model"
    if name in REMOVED_ATTRIBUTES["optimizer"] and is_keras_optimizer(module, owner):
        # A new attribute may be set; the one that set the learning rate does nothing any more.
        return "optimizer" if isinstance(node.ctx, ast.Load) or name == "lr" else ""
    if name in _SOUGHT_OF_METRICS and is_keras_metric(module, owner) and not defines(module, owner, name):
        return "metric"
    if name in REMOVED_ATTRIBUTES["layer"] and reads_keras_layer(module, node):
        return "layer"
    return ""


def _layer_finding(cause: Cause, module: Module, node: ast.Attribute, confidence: Confidence) -> Finding:
    new = RENAMED_OF_LAYERS.get(node.attr)
    edits = (Edit(attribute_name(module, node), new),) if new else ()
    return cause.finding(
        f"a Keras 3 layer has no `{node.attr}`",
        subject=f"attribute {node.attr} of a layer",
        location=module.location(node),
        evidence=[Evidence(claim="an attribute of Keras 2", observed=node.attr, expected=new or "")],
        fixes=[fix(f"write `{new}`" if new else "use what Keras 3 offers instead", edits)],
        confidence=confidence,
    )


def _method_finding(cause: Cause, module: Module, node: ast.Attribute, confidence: Confidence) -> Finding:
    new = RENAMED_METHODS.get(node.attr)
    title = f"call `{new}`" if new else "call the model or use what Keras 3 offers"
    edits: tuple[Edit, ...] = ()
    if new is not None:
        edits = renamed_method(module, node, new)
    elif node.attr == "predict_classes":
        title, edits = classes_fix(module, node)
    elif node.attr == "reset_states":
        title, edits = "reset the layers that keep a state", _each_layer_reset(module, node)
    return cause.finding(
        f"a Keras 3 model has no `{node.attr}`",
        subject=f"method {node.attr}",
        location=module.location(node),
        evidence=[Evidence(claim="a method of Keras 2", observed=node.attr, expected=new or "")],
        fixes=[fix(title, edits)],
        confidence=confidence,
    )


def _optimizer_finding(cause: Cause, module: Module, node: ast.Attribute, confidence: Confidence) -> Finding:
    if node.attr == "lr":
        everywhere = [
            learning_rate_edit(module, each)
            for each in module.nodes(ast.Attribute)
            if each.attr == "lr" and (each is node or is_keras_optimizer(module, each.value))
        ]
        remedy = fix("write `learning_rate`", everywhere)
    elif node.attr in ("weights", "get_weights"):
        remedy = variables_fix(module, node)
    elif node.attr == "minimize":
        from fitdoctor.catalogue.minimized import minimize_fix

        remedy = minimize_fix(module, node)
    else:
        remedy = fix("use `apply_gradients` or `apply`")
    return cause.finding(
        f"a Keras 3 optimizer has no `{node.attr}`",
        subject=f"attribute {node.attr} of the optimizer",
        location=module.location(node),
        evidence=[Evidence(claim="an attribute of Keras 2", observed=node.attr)],
        fixes=[remedy],
        confidence=confidence,
    )


def _metric_finding(cause: Cause, module: Module, node: ast.Attribute, confidence: Confidence) -> Finding:
    new = RENAMED_OF_METRICS.get(node.attr)
    everywhere = [
        Edit(attribute_name(module, each), new)
        for each in module.nodes(ast.Attribute)
        if new and each.attr == node.attr and (each is node or is_keras_metric(module, each.value))
    ]
    return cause.finding(
        f"a Keras 3 metric has no `{node.attr}`",
        subject=f"method {node.attr} of a metric",
        location=module.location(node),
        evidence=[Evidence(claim="a method of Keras 2", observed=node.attr, expected=new or "")],
        fixes=[fix(f"call `{new}`" if new else "use what Keras 3 offers instead", everywhere)],
        confidence=confidence,
    )


def _each_layer_reset(module: Module, node: ast.Attribute) -> tuple[Edit, ...]:
    """What `reset_states` of a model did, written out in the place of the statement."""
    statement = module.statement(node)
    if not isinstance(statement, ast.Expr) or statement.value is not module.parent(node):
        return ()
    whole = module.location(statement)
    if module.line_text(whole.line, whole.cell)[: whole.column - 1].strip():
        return ()
    indent = " " * (whole.column - 1)
    lines = (
        f"for layer in {module.segment(node.value)}.layers:",
        f'{indent}    if getattr(layer, "stateful", False):',
        f"{indent}        layer.reset_state()",
    )
    return (Edit(whole, "\n".join(lines)),)


_FINDINGS = {
    "layer": _layer_finding,
    "metric": _metric_finding,
    "model": _method_finding,
    "optimizer": _optimizer_finding,
}

"""Attributes and methods that Keras 3 models, layers, metrics and optimizers do not have."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fitdoctor.catalogue import Cause
from fitdoctor.catalogue.environment.keras_3_fixes import (
    attribute_name,
    classes_fix,
    learning_rate_edit,
    renamed_method,
    variables_fix,
)
from fitdoctor.catalogue.environment.keras_renames import (
    RENAMED_METHODS,
    RENAMED_OF_LAYERS,
    RENAMED_OF_METRICS,
)
from fitdoctor.catalogue.environment.keras_signatures import REMOVED_ATTRIBUTES
from fitdoctor.diagnosis import Confidence, Edit, Evidence, Finding, Fix
from fitdoctor.edits import fix
from fitdoctor.source.conditions import knows_another_way
from fitdoctor.source.keras_objects import (
    defines,
    is_keras_metric,
    is_keras_model,
    is_keras_optimizer,
    reads_keras_layer,
)
from fitdoctor.source.line_edits import indent_of
from fitdoctor.source.module import Module

_SOUGHT_OF_METRICS = frozenset(RENAMED_OF_METRICS)
"""Metrics were layers in Keras 2; programs do not use the other attributes they lost, such as `trainable`."""


def gone_attributes(cause: Cause, module: Module) -> Iterator[Finding]:
    """Report removed methods of a model and removed attributes of its parts."""
    for node in module.nodes(ast.Attribute):
        kind = _kind_that_lost(module, node)
        if kind and not knows_another_way(module, node):
            yield _finding(cause, module, node, kind, Confidence.LIKELY)


def failed_attribute(cause: Cause, module: Module, node: ast.Attribute, kind: str) -> Iterator[Finding]:
    """Report a removed attribute that caused a failure.

    Args:
        cause: the cause to report.
        module: the file.
        node: the attribute.
        kind: the kind of object, if the message names it; otherwise taken from the source or the name.
    """
    kind = kind or _kind_that_lost(module, node)
    if not kind:
        called = isinstance(module.parent(node), ast.Call)
        kinds = ("optimizer", "model", "layer") if called else ("optimizer", "layer")
        kind = next((each for each in kinds if node.attr in REMOVED_ATTRIBUTES[each]), "")
    if kind:
        yield _finding(cause, module, node, kind, Confidence.CERTAIN)


def _kind_that_lost(module: Module, node: ast.Attribute) -> str:
    """Return which kind of object lost an attribute, or "" if that is uncertain."""
    name, owner = node.attr, node.value
    if name in REMOVED_ATTRIBUTES["model"] and isinstance(module.parent(node), ast.Call):
        if is_keras_model(module, owner) and not defines(module, owner, name):
            return "model"
    if name in REMOVED_ATTRIBUTES["optimizer"] and is_keras_optimizer(module, owner):
        # Setting a new attribute is allowed, but setting `lr` no longer has an effect.
        return "optimizer" if isinstance(node.ctx, ast.Load) or name == "lr" else ""
    if name in _SOUGHT_OF_METRICS and is_keras_metric(module, owner) and not defines(module, owner, name):
        return "metric"
    if name in REMOVED_ATTRIBUTES["layer"] and reads_keras_layer(module, node):
        return "layer"
    return ""


def _finding(cause: Cause, module: Module, node: ast.Attribute, kind: str, confidence: Confidence) -> Finding:
    call = module.parent(node)
    sort = "method" if isinstance(call, ast.Call) and call.func is node else "attribute"
    remedy, new = _REMEDIES[kind](module, node)
    return cause.finding(
        f"a Keras 3 {kind} has no `{node.attr}`",
        subject=f"{sort} {node.attr} of the {kind}",
        location=module.location(node),
        evidence=[Evidence(claim=f"Keras 2 {kind} attribute", observed=node.attr, expected=new)],
        fixes=[remedy],
        confidence=confidence,
    )


def _for_layer(module: Module, node: ast.Attribute) -> tuple[Fix, str]:
    new = RENAMED_OF_LAYERS.get(node.attr)
    if new is None:
        return fix("use the Keras 3 replacement"), ""
    return fix(f"use `{new}`", (Edit(attribute_name(module, node), new),)), new


def _for_metric(module: Module, node: ast.Attribute) -> tuple[Fix, str]:
    new = RENAMED_OF_METRICS.get(node.attr)
    if new is None:
        return fix("use the Keras 3 replacement"), ""
    everywhere = [
        Edit(attribute_name(module, each), new)
        for each in module.nodes(ast.Attribute)
        if each.attr == node.attr and (each is node or is_keras_metric(module, each.value))
    ]
    return fix(f"call `{new}`", everywhere), new


def _for_model(module: Module, node: ast.Attribute) -> tuple[Fix, str]:
    new = RENAMED_METHODS.get(node.attr)
    if new is not None:
        return fix(f"call `{new}`", renamed_method(module, node, new)), new
    if node.attr == "predict_classes":
        return fix(*classes_fix(module, node)), ""
    if node.attr == "reset_states":
        return fix("reset the stateful layers", _each_layer_reset(module, node)), ""
    return fix("call the model directly, or use the Keras 3 replacement"), ""


def _for_optimizer(module: Module, node: ast.Attribute) -> tuple[Fix, str]:
    if node.attr == "lr":
        everywhere = [
            learning_rate_edit(module, each)
            for each in module.nodes(ast.Attribute)
            if each.attr == "lr" and (each is node or is_keras_optimizer(module, each.value))
        ]
        return fix("use `learning_rate`", everywhere), "learning_rate"
    if node.attr in ("weights", "get_weights"):
        return variables_fix(module, node), ""
    if node.attr == "minimize":
        from fitdoctor.catalogue.environment.minimized import minimize_fix

        return minimize_fix(module, node), ""
    if node.attr in ("get_scaled_loss", "get_unscaled_gradients"):
        from fitdoctor.catalogue.environment.older_optimizers import scaling_fix

        return scaling_fix(module, node)
    return fix("use `apply_gradients` or `apply`"), ""


def _each_layer_reset(module: Module, node: ast.Attribute) -> tuple[Edit, ...]:
    """Replace `reset_states` of a model with an explicit loop over its layers."""
    statement = module.statement(node)
    if not isinstance(statement, ast.Expr) or statement.value is not module.parent(node):
        return ()
    whole = module.location(statement)
    if module.line_text(whole.line, whole.cell)[: whole.column - 1].strip():
        return ()
    indent = indent_of(module, statement)
    lines = (
        f"for layer in {module.segment(node.value)}.layers:",
        f'{indent}    if getattr(layer, "stateful", False):',
        f"{indent}        layer.reset_state()",
    )
    return (Edit(whole, "\n".join(lines)),)


_REMEDIES = {"layer": _for_layer, "metric": _for_metric, "model": _for_model, "optimizer": _for_optimizer}
"""By kind of object: the fix, and the current name (or "")."""

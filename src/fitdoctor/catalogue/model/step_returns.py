"""Return values of custom training steps: Keras expects a dict of values."""

from __future__ import annotations

import ast

from fitdoctor.catalogue.knowledge.models.model_classes import batch_unpacking
from fitdoctor.diagnosis import Fix
from fitdoctor.edits import fix, replace_code
from fitdoctor.source.callees import is_self
from fitdoctor.source.keras_objects import kind_of_value
from fitdoctor.source.line_edits import indent_of
from fitdoctor.source.module import FunctionInfo, Module
from fitdoctor.source.traced.symbolic import own_nodes


def is_abstract(step: FunctionInfo) -> bool:
    """Whether the body only raises or is empty, for subclasses to override."""
    assert not isinstance(step.node, ast.Lambda)
    statements = [
        statement
        for statement in step.node.body
        if not (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant))
    ]
    return any(isinstance(node, ast.Raise) for node in own_nodes(step)) or all(
        isinstance(statement, ast.Pass) for statement in statements
    )


def not_a_dict(step: FunctionInfo, value: ast.expr) -> str:
    """Describe a returned value that is certainly not a dict."""
    module = step.module
    if isinstance(value, (ast.Tuple, ast.List)):
        return f"a {'tuple' if isinstance(value, ast.Tuple) else 'list'}"
    if module.is_tensor(value) or is_loss(module, value):
        return "a tensor"
    made = module.made_by(value) if isinstance(value, ast.Name) else value
    if isinstance(made, ast.Call) and isinstance(made.func, ast.Attribute) and made.func.attr == "result":
        if kind_of_value(module, made.func.value) == "Metric" or _is_own_tracker(module, made.func.value):
            return "the value of one metric"
    return "a tensor" if is_loss(module, made) else ""


def _is_own_tracker(module: Module, value: ast.expr) -> bool:
    return isinstance(value, ast.Attribute) and value.attr == "_loss_tracker" and is_self(module, value.value)


def is_loss(module: Module, value: ast.expr) -> bool:
    """Whether a value is `self.compute_loss(…)`."""
    if not (isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute)):
        return False
    owner = module.class_of(value)
    return (
        value.func.attr == "compute_loss"
        and is_self(module, value.func.value)
        and owner is not None
        and owner.module.method(owner, "compute_loss") is None
    )


def updated_tracker(step: FunctionInfo) -> str:
    """Return the source of the metric that the step updates."""
    for node in own_nodes(step):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr == "update_state"
        ):
            if isinstance(node.func.value, ast.Attribute) and is_self(step.module, node.func.value.value):
                return step.module.segment(node.func.value)
    return ""


def as_dict(step: FunctionInfo, value: ast.expr, what: str) -> Fix:
    """Build the fix that returns the value as a dict."""
    module = step.module
    title = "return a dict of metric names and values"
    if what == "the value of one metric":
        return fix(title, replace_code(module.code(value), f'{{"loss": {module.segment(value)}}}'))
    if isinstance(value, (ast.Tuple, ast.List)):
        parts = [part.id for part in value.elts if isinstance(part, ast.Name)]
        if not parts or len(set(parts)) < len(value.elts) or "loss" in parts:
            return fix(title)
        pairs = ", ".join(f'"{part}": {part}' for part in parts)
        return fix(title, replace_code(module.code(value), f"{{{pairs}}}"))
    names = compared(step)
    if what == "a tensor" and isinstance(value, ast.Name) and names is None:
        # The step computes its own loss, so no Keras metric has this name.
        key = value.id if value.id != "loss" else "total_loss"
        return fix(title, replace_code(module.code(value), f'{{"{key}": {value.id}}}'))
    if what != "a tensor" or not isinstance(value, ast.Name) or names is None:
        return fix(title)
    statement = module.statement(value)
    indent = indent_of(module, statement)
    results = "return {metric.name: metric.result() for metric in self.metrics}"
    if _updates_every_metric(step):
        return fix(title, replace_code(module.code(statement), results))
    # Keras's own loss tracker has this name, and nothing would update it.
    text = (
        f'for metric in self.metrics:\n{indent}    if metric.name == "loss":\n'
        f"{indent}        metric.update_state({value.id})\n{indent}    else:\n"
        f"{indent}        metric.update_state({', '.join(names)})\n"
        f"{indent}{results}"
    )
    return fix(title, replace_code(module.code(statement), text))


def _updates_every_metric(step: FunctionInfo) -> bool:
    """Whether the step loops over the model's metrics and updates them."""
    for node in own_nodes(step):
        if not isinstance(node, ast.For) or step.module.segment(node.iter) != "self.metrics":
            continue
        called = [inner.func for inner in ast.walk(node) if isinstance(inner, ast.Call)]
        if any(isinstance(func, ast.Attribute) and func.attr == "update_state" for func in called):
            return True
    return False


def compared(step: FunctionInfo) -> tuple[str, str] | None:
    """Return the names of the labels and the predictions in the step."""
    unpacking = batch_unpacking(step)
    target = unpacking[0].targets[0] if unpacking is not None else None
    if not isinstance(target, ast.Tuple) or not isinstance(target.elts[1], ast.Name):
        return None
    for node in own_nodes(step):
        if (
            isinstance(node, ast.Assign)
            and isinstance(node.value, ast.Call)
            and is_self(step.module, node.value.func)
        ):
            if isinstance(node.targets[0], ast.Name):
                return target.elts[1].id, node.targets[0].id
    guessed = _beside_labels(step, target.elts[1].id)
    return (target.elts[1].id, guessed) if guessed else None


def _beside_labels(step: FunctionInfo, labels: str) -> str:
    """Return the name passed to a loss along with the labels, if a submodel computed it: `loss(y, student_says)`."""
    made = {
        node.targets[0].id
        for node in own_nodes(step)
        if isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Name)
        and isinstance(node.value, ast.Call)
        and step.module.segment(node.value.func).startswith("self.")
    }
    for node in own_nodes(step):
        if isinstance(node, ast.Call) and len(node.args) == 2:
            first, second = node.args
            if isinstance(first, ast.Name) and first.id == labels and isinstance(second, ast.Name):
                if second.id in made:
                    return second.id
    return ""

"""Return values of custom training steps: Keras expects a dict of values."""

from __future__ import annotations

import ast

from fitdoctor.catalogue.knowledge.models.model_classes import batch_unpacking
from fitdoctor.diagnosis import Fix
from fitdoctor.edits import fix, replace_code
from fitdoctor.facts import Code
from fitdoctor.source.callees import is_self
from fitdoctor.source.keras_objects import kind_of_value
from fitdoctor.source.module import FunctionInfo, Module
from fitdoctor.source.traced.symbolic import own_nodes


def is_abstract(step: FunctionInfo) -> bool:
    """Whether the body only raises or is empty, for subclasses to override."""
    raises = any(isinstance(node, ast.Raise) for node in own_nodes(step))
    return raises or all(isinstance(statement, ast.Pass) for statement in step.statements)


def not_a_dict(step: FunctionInfo, value: ast.expr) -> str:
    """Describe a returned value that is certainly not a dict."""
    module = step.module
    if isinstance(value, (ast.Tuple, ast.List)):
        return f"a {'tuple' if isinstance(value, ast.Tuple) else 'list'}"
    if module.is_tensor(value) or is_loss(module, value):
        return "a tensor"
    made = module.made_by(value) if isinstance(value, ast.Name) else value
    if isinstance(made, ast.Call) and isinstance(made.func, ast.Attribute) and made.func.attr == "result":
        if (
            kind_of_value(module, made.func.value) == "Metric"
            or module.own_attribute(made.func.value) == "_loss_tracker"
        ):
            return "the value of one metric"
    return "a tensor" if is_loss(module, made) else ""


def is_loss(module: Module, value: ast.expr) -> bool:
    """Whether a value is `self.compute_loss(…)`."""
    called = module.own_attribute(value.func) if isinstance(value, ast.Call) else ""
    owner = module.class_of(value)
    inherited = owner is not None and owner.module.method(owner, "compute_loss") is None
    return called == "compute_loss" and inherited


def updated_tracker(step: FunctionInfo) -> str:
    """Return the source of the metric that the step updates."""
    for site in step.calls:
        if site.method == "update_state" and step.module.own_attribute(site.receiver):
            return step.module.segment(site.receiver)
    return ""


def update_of_each(code: Code, loss: str, others: str) -> str:
    """Write the loop that updates `loss` with the loss, and the other metrics with labels and predictions."""
    deep = f"\n{code.indent}    "
    return (
        f'for metric in self.metrics:{deep}if metric.name == "loss":{deep}    metric.update_state({loss})'
        f"{deep}else:{deep}    metric.update_state({others})"
    )


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
    code = module.code(module.statement(value))
    results = "return {metric.name: metric.result() for metric in self.metrics}"
    if _updates_every_metric(step):
        return fix(title, replace_code(code, results))
    # Keras's own loss tracker has this name, and nothing would update it.
    update = update_of_each(code, value.id, ", ".join(names))
    return fix(title, replace_code(code, f"{update}\n{code.indent}{results}"))


def _updates_every_metric(step: FunctionInfo) -> bool:
    """Whether the step loops over the model's metrics and updates them."""
    loops = [step.module.around(site.node, ast.For) for site in step.calls if site.method == "update_state"]
    return any(loop is not None and step.module.segment(loop.iter) == "self.metrics" for loop in loops)


def compared(step: FunctionInfo) -> tuple[str, str] | None:
    """Return the names of the labels and the predictions in the step."""
    unpacking = batch_unpacking(step)
    target = unpacking[0].targets[0] if unpacking is not None else None
    if not isinstance(target, ast.Tuple) or not isinstance(target.elts[1], ast.Name):
        return None
    labels = target.elts[1].id
    for site in step.calls:
        statement = step.module.parent(site.node)
        if is_self(step.module, site.node.func) and isinstance(statement, ast.Assign):
            if isinstance(statement.targets[0], ast.Name):
                return labels, statement.targets[0].id
    guessed = _beside_labels(step, labels)
    return (labels, guessed) if guessed else None


def _beside_labels(step: FunctionInfo, labels: str) -> str:
    """Return the name passed to a loss along with the labels, if a submodel computed it: `loss(y, student_says)`."""
    module = step.module
    for site in step.calls:
        names = [each.id for each in site.node.args if isinstance(each, ast.Name)]
        if len(names) == len(site.node.args) == 2 and names[0] == labels:
            made = module.made_by(site.node.args[1])
            if isinstance(made, ast.Call) and module.segment(made.func).startswith("self."):
                return names[1]
    return ""

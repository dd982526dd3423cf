"""The steps of Keras 2's `optimizer.minimize`, written out: a tape, its gradients, `apply_gradients`."""

from __future__ import annotations

import ast

from fitdoctor.diagnosis import Edit, Fix
from fitdoctor.edits import fix, spell
from fitdoctor.source.definitions import argument_of
from fitdoctor.source.module import FunctionInfo, Module


def minimize_fix(module: Module, node: ast.Attribute) -> Fix:
    """Wrap the loss call in a tape; if the program already has one, apply its gradients."""
    title = "compute the gradients with a `tf.GradientTape` and call `apply_gradients`"
    call = module.parent(node)
    if not isinstance(call, ast.Call) or not isinstance(module.parent(call), ast.Expr):
        return fix(title)
    loss, variables = argument_of(call, "loss", 0), argument_of(call, "var_list", 1)
    if loss is None or variables is None or isinstance(module.definition(variables), FunctionInfo):
        return fix(title)
    if isinstance(variables, (ast.Lambda, ast.Starred)):
        return fix(title)
    optimizer, trained = module.segment(node.value), module.segment(variables)
    tape = argument_of(call, "tape", 3)
    if tape is not None:
        gradients = f"{module.segment(tape)}.gradient({module.segment(loss)}, {trained})"
        text = f"{optimizer}.apply_gradients(zip({gradients}, {trained}))"
        return fix(title, (Edit(module.location(call), text),))
    value = _value(module, loss)
    if not value:
        return fix(title)
    tf, imports = spell(module.code(call), "tensorflow", "tf")
    indent = module.code(call).indent
    lines = [
        f"with {tf}.GradientTape() as tape:",
        f"    loss_value = {value}",
        f"gradients = tape.gradient(loss_value, {trained})",
        f"{optimizer}.apply_gradients(zip(gradients, {trained}))",
    ]
    return fix(title, (Edit(module.location(call), f"\n{indent}".join(lines)), *imports))


def _value(module: Module, loss: ast.expr) -> str:
    """Return the loss expression: `loss_fn()`, or the body of a lambda; "" if it may not be a function."""
    if isinstance(loss, ast.Lambda):
        return module.segment(loss.body)
    made = module.made_by(loss)
    known = isinstance(made, ast.Lambda) or isinstance(module.definition(loss), FunctionInfo)
    return f"{module.segment(loss)}()" if known else ""

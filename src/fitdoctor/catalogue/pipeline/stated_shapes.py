"""Edits that state the shape of what Python code gives to a pipeline."""

from __future__ import annotations

import ast

from fitdoctor.diagnosis import Edit
from fitdoctor.edits import insert_after, spell
from fitdoctor.source.definitions import argument_of
from fitdoctor.source.module import Module


def stated_apart(module: Module, call: ast.Call, shape: str) -> tuple[Edit, ...]:
    """`image, label = tf.py_function(…)`: the shape of the first, and that of one label a sample for the second."""
    statement = module.statement(call)
    if isinstance(statement, ast.Return) and statement.value is call:
        return _returned_apart(module, call, shape)
    if not (isinstance(statement, ast.Assign) and statement.value is call):
        return _stated_inside(module, call, shape)
    target = statement.targets[0]
    parts = target.elts if isinstance(target, (ast.Tuple, ast.List)) else []
    names = [part.id for part in parts if isinstance(part, ast.Name)]
    if len(names) != 2 or len(parts) != 2:
        return ()
    code = module.code(call)
    lines = f"{names[0]}.set_shape({shape})\n{code.indent}{names[1]}.set_shape(())"
    return insert_after(code, lines)


def _returned_apart(module: Module, call: ast.Call, shape: str) -> tuple[Edit, ...]:
    """The same where both are returned at once."""
    types = argument_of(call, "Tout", 2)
    if not isinstance(types, (ast.Tuple, ast.List)) or len(types.elts) != 2:
        return ()
    code = module.code(call)
    lines = (
        f"sample, label = {code.text}",
        f"sample.set_shape({shape})",
        "label.set_shape(())",
        "return sample, label",
    )
    return (Edit(module.location(module.statement(call)), f"\n{code.indent}".join(lines)),)


def _stated_inside(module: Module, call: ast.Call, shape: str) -> tuple[Edit, ...]:
    """The same where the call is part of an expression: around it, or behind the `map` whose lambda it is."""
    types, parent = argument_of(call, "Tout", 2), module.parent(call)
    tf, imports = spell(module.code(call), "tensorflow", "tf")
    if types is not None and not isinstance(types, (ast.Tuple, ast.List)):
        return (Edit(module.location(call), f"{tf}.ensure_shape({module.segment(call)}, {shape})"), *imports)
    step = module.parent(parent) if isinstance(parent, ast.Lambda) else None
    if not isinstance(types, (ast.Tuple, ast.List)) or len(types.elts) != 2 or not isinstance(step, ast.Call):
        return ()
    stated = f"({tf}.ensure_shape(x, {shape}), {tf}.ensure_shape(y, ()))"
    return (Edit(module.location(step).end, f".map(lambda x, y: {stated})"), *imports)

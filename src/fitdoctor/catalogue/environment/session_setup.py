"""Edits that remove the session that TensorFlow 1 programs create for Keras, and keep its memory growth."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fitdoctor.diagnosis import Edit, Fix
from fitdoctor.edits import fix, spell, unsafe
from fitdoctor.source.index import names_in
from fitdoctor.source.line_edits import delete_lines, indent_of
from fitdoctor.source.module import Module

_MADE = frozenset({"ConfigProto", "GPUOptions", "Session", "InteractiveSession", "get_default_graph"})
_SETTINGS = ("fraction", "parallelism", "device_count", "visible_device_list")
_GIVEN = frozenset({"set_session", "clear_session"})


def without_session(module: Module, node: ast.AST, title: str, *more: Edit) -> Fix:
    """Return a fix that removes the session; it is unsafe if the session configures more than memory growth."""
    group, edits = _dropped(module, node)
    asked = any(word in module.segment(each) for each in group for word in _SETTINGS)
    return (unsafe if asked else fix)(title, edits, more if edits else ())


def _dropped(module: Module, node: ast.AST) -> tuple[list[ast.stmt], tuple[Edit, ...]]:
    """Remove the configuration, the session and `set_session`; nothing if the program does more with them."""
    statement = module.statement(node)
    body = getattr(module.parent(statement), "body", [])
    group: list[ast.stmt] = []
    bound: set[str] = set()
    for each in body:
        if _sets_up(module, each, bound):
            group.append(each)
            bound |= {name for target in getattr(each, "targets", []) for name in names_in(target)}
    within = {part for each in group for part in ast.walk(each)}
    if statement not in group or any(read not in within for read in _reads(module, bound)):
        return [], ()
    grows = any("allow_growth" in module.segment(each) for each in group)
    tf, imports = spell(module.code(node), "tensorflow", "tf")
    indent = indent_of(module, group[0])
    growth = (
        f'for gpu in {tf}.config.list_physical_devices("GPU"):\n'
        f"{indent}    {tf}.config.experimental.set_memory_growth(gpu, True)"
    )
    stays = growth if grows else "pass" if len(group) == len(body) else ""
    first = Edit(module.location(group[0]), stays) if stays else delete_lines(module, group[0])
    return group, (first, *(delete_lines(module, each) for each in group[1:]), *imports)


def _reads(module: Module, names: set[str]) -> Iterator[ast.Name]:
    for name in names:
        yield from module.reads.get(name, [])


def _sets_up(module: Module, statement: ast.stmt, bound: set[str]) -> bool:
    """Return whether a statement creates or changes a session or its configuration, or passes it to Keras."""
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        return _called(module, statement.value) in _GIVEN and bool(statement.value.args)
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return False
    target = statement.targets[0]
    if isinstance(target, ast.Name):
        return isinstance(statement.value, ast.Call) and _called(module, statement.value) in _MADE
    root: ast.expr = target
    while isinstance(root, ast.Attribute):
        root = root.value
    return isinstance(root, ast.Name) and root is not target and root.id in bound


def _called(module: Module, call: ast.Call) -> str:
    name = module.resolve(call.func)
    return name.rpartition(".")[2] if name.startswith(("tensorflow.", "keras.")) else ""

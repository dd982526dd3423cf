"""Where a program sets TF_CONFIG, and which line sets which part."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fitdoctor.diagnosis import Location
from fitdoctor.records import replace
from fitdoctor.source.index import names_in
from fitdoctor.source.module import Module

VARIABLE = "TF_CONFIG"


def assignments(module: Module) -> Iterator[ast.Assign]:
    """Yield the statements that set `os.environ["TF_CONFIG"]`."""
    for node in module.nodes(ast.Assign):
        for target in node.targets:
            if (
                isinstance(target, ast.Subscript)
                and isinstance(target.slice, ast.Constant)
                and target.slice.value == VARIABLE
            ):
                yield node


def place_of(module: Module, node: ast.Assign, part: str) -> Location:
    """Return the line to change in a statement that sets the variable.

    Args:
        module: the file.
        node: the statement.
        part: `task` or `cluster` if the problem is there; "" if the text is not JSON.
    """
    found = _unreadable(module, node) if not part else None
    if part:
        found = (_caller(module, node) if part == "task" else None) or _entry(module, node, part)
    return found or module.location(node)


def _caller(module: Module, node: ast.Assign) -> Location | None:
    """Return the only call of the function that sets the variable: it passes the task."""
    function = module.function_of(node)
    if function is None or not function.parameters:
        return None
    calls = module.callers.get(function.node, [])
    if not names_in(node.value) & set(function.parameters) or len(calls) != 1:
        return None
    return calls[0][0].location(calls[0][1])


def _entry(module: Module, node: ast.Assign, part: str) -> Location | None:
    """Return the last statement that changes this part, else its entry in the dict."""
    named = [each for each in ast.walk(node.value) if isinstance(each, ast.Name)]
    changed = [
        store
        for store in module.nodes(ast.Assign)
        if store.lineno < node.lineno and any(_stores_in(store, each.id, part) for each in named)
    ]
    if changed:
        return module.location(changed[-1])
    for value in (node.value, *(module.made_by(each) for each in named)):
        for each in ast.walk(value):
            for key, entry in zip(each.keys, each.values, strict=True) if isinstance(each, ast.Dict) else ():
                if isinstance(key, ast.Constant) and key.value == part:
                    return module.location(entry)
    return None


def _stores_in(store: ast.Assign, name: str, part: str) -> bool:
    """Whether a statement is `name["task"]… = …`."""
    for target in store.targets:
        keys = []
        while isinstance(target, ast.Subscript):
            keys.append(target.slice.value if isinstance(target.slice, ast.Constant) else None)
            target = target.value
        if isinstance(target, ast.Name) and target.id == name and part in keys:
            return True
    return False


def _unreadable(module: Module, node: ast.Assign) -> Location | None:
    """Return the line of a literal on which it stops being JSON."""
    import json

    text = module.made_by(node.value)
    if not isinstance(text, ast.Constant) or not isinstance(text.value, str):
        return None
    try:
        json.loads(text.value)
    except json.JSONDecodeError as error:
        # The parser reports the token after an extra or missing comma.
        read, written = text.value[: error.pos].rstrip(), module.segment(text)
        where = module.location(text)
        line = where.line + written[: written.find(read[-8:]) + 1].count("\n")
        return replace(where, line=line, column=1, end_line=line, end_column=1)
    return None

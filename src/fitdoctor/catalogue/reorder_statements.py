"""Move statements that must run earlier to the top of their file, with everything they need."""

from __future__ import annotations

import ast

from fitdoctor.diagnosis import Edit
from fitdoctor.edits import insert_before
from fitdoctor.source.callees import callee
from fitdoctor.source.line_edits import delete_lines, with_comment
from fitdoctor.source.module import Module

_DEEPEST = 4


def moved_up(module: Module, node: ast.AST) -> tuple[Edit, ...]:
    """Move the module-level statement of a node to right after the imports."""
    statement: ast.AST = module.statement(node)
    while not isinstance(parent := module.parent(statement), (ast.Module, type(None))):
        statement = parent
    body = module.tree.body
    if not isinstance(statement, ast.stmt) or statement not in body or isinstance(statement, _DEFINITIONS):
        return ()
    first = first_statement(module, statement)
    needed = needed_assignments(body[body.index(first) : body.index(statement)], statement)
    if first is statement or needed is None:
        return ()
    moved = [*needed, statement]
    # A line with several statements cannot be moved as a whole.
    if len({line for each in moved for line in (each.lineno, each.end_lineno)}) < len(moved):
        return ()
    lines = "\n".join(with_comment(module, each) for each in moved)
    return (*insert_before(module.code(first), lines), *(delete_lines(module, each) for each in moved))


def leading_to(module: Module, node: ast.AST, deepest: int = _DEEPEST) -> list[ast.stmt]:
    """Return the statement of a node and those that call its function, innermost first."""
    statement = module.statement(node)
    function = module.function_of(node)
    if function is None or not deepest:
        return [statement]
    calls = [site.node for site in module.calls if callee(module, site.node) is function]
    return [statement, *(leading_to(module, calls[0], deepest - 1) if len(calls) == 1 else [])]


_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def first_statement(module: Module, statement: ast.stmt) -> ast.stmt:
    """Return the first statement after the imports, or the given one if it comes before an import."""
    body = module.tree.body
    imports = [index for index, each in enumerate(body) if isinstance(each, (ast.Import, ast.ImportFrom))]
    behind = body[imports[-1] + 1 :] if imports else body
    return behind[0] if behind and behind[0].lineno < statement.lineno else statement


def needed_assignments(between: list[ast.stmt], wanted: ast.AST, but: str = "") -> list[ast.stmt] | None:
    """Return the assignments that a node depends on, None if they depend on the given name."""
    names = _names(wanted)
    found: list[ast.stmt] = []
    for statement in reversed(between):
        if not isinstance(statement, ast.Assign):
            continue
        bound = {name for target in statement.targets for name in _names(target)}
        if bound & names:
            found.insert(0, statement)
            names |= _names(statement.value)
    return None if but in names else found


def _names(node: ast.AST) -> set[str]:
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}

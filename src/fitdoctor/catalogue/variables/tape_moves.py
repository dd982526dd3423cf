"""Statements around the block of a tape, and edits that move them into it."""

from __future__ import annotations

import ast

from fitdoctor.diagnosis import Edit
from fitdoctor.edits import insert_after, insert_before
from fitdoctor.records import replace
from fitdoctor.source.index import names_in
from fitdoctor.source.line_edits import with_comment
from fitdoctor.source.module import Module


def leading_to(name: str, before: list[ast.stmt]) -> list[ast.stmt]:
    """Return the plain assignments before the block that lead to a value, in order."""
    wanted, found = {name}, list[ast.stmt]()
    for each in reversed(before):
        if not stores(each) & wanted:
            break
        found.insert(0, each)
        wanted |= names_in(each)
    return found


def stores(statement: ast.stmt) -> set[str]:
    """Return the names that a plain assignment binds."""
    if isinstance(statement, ast.Assign):
        return {target.id for target in statement.targets if isinstance(target, ast.Name)}
    if isinstance(statement, (ast.AugAssign, ast.AnnAssign)) and isinstance(statement.target, ast.Name):
        return {statement.target.id}
    return set()


def moved_to_the_end(module: Module, moved: list[ast.stmt], block: ast.With) -> tuple[Edit, ...]:
    """Move statements on separate lines to the end of the block."""
    if not all(stores(each) and each.lineno == each.end_lineno for each in moved):
        return ()
    last = module.code(block.body[-1])
    inserted = insert_after(last, f"\n{last.indent}".join(with_comment(module, each) for each in moved))
    return (*inserted, *(Edit(module.location(each).lines, "") for each in moved)) if moved else ()


def moved_in(module: Module, made: ast.expr, block: ast.With) -> tuple[Edit, ...]:
    """Move the statement that calls the model to the start of the block."""
    statement = module.statement(made)
    if not isinstance(statement, ast.Assign) or statement.value is not made:
        return ()
    if module.parent(statement) is not module.parent(block):
        return ()
    code = module.code(made)
    assert code.statement is not None
    whole = replace(code.statement, column=1, end_line=code.statement.end_line + 1, end_column=1)
    return (*insert_before(module.code(block.body[0]), with_comment(module, statement)), Edit(whole, ""))

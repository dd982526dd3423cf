"""Fix for an `if` on a tensor that does more than select a value: turn its branches into functions for `tf.cond`."""

from __future__ import annotations

import ast

from fitdoctor.diagnosis import Edit, Fix
from fitdoctor.edits import fix
from fitdoctor.source.definitions import FunctionInfo
from fitdoctor.source.line_edits import indent_of
from fitdoctor.source.module import Module

_PLAIN = (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Expr)


def run_apart(
    module: Module, function: FunctionInfo, node: ast.If, condition: str, library: str
) -> Fix | None:
    """Rewrite the `if` as a `cond` call, with a function per branch that returns the names read later.

    Args:
        module: the file.
        function: the enclosing function.
        node: an `if` on a tensor.
        condition: its test as a tensor expression.
        library: the file's name for the module with `cond`.
    """
    branches = [branch for branch in (node.body, node.orelse) if branch]
    given = _given_back(module, function, node)
    if given is None or not all(_is_plain(module, node, branch) for branch in branches):
        return None
    before = [name for name in given if _is_defined_before(module, function, node, name)]
    if any(name not in before and not _stored_by_all(node, name) for name in given):
        return None
    indent = indent_of(module, node)
    names = _free_names(module)
    values = ", ".join(given) or "None"
    lines, calls = [], []
    for name, branch in zip(names, branches, strict=False):
        lines += _function(module, branch, name, before, indent, values if given else "")
        calls.append(f"lambda: {name}({', '.join(before)})" if before else name)
    if len(calls) == 1:
        calls.append(f"lambda: ({values})" if len(given) > 1 else f"lambda: {values}")
    target = f"{', '.join(given)} = " if given else ""
    lines.append(f"{indent}{target}{library}.cond({condition}, {', '.join(calls)})")
    text = "\n".join(lines).removeprefix(indent)
    return fix(f"run the branch with `{library}.cond`", (Edit(module.location(node), text),))


def _is_plain(module: Module, node: ast.If, branch: list[ast.stmt]) -> bool:
    """Return whether a branch is a plain block: it does not return, branch or write to an attribute."""
    if branch[0].lineno == node.lineno or not all(isinstance(each, _PLAIN) for each in branch):
        return False
    parts = [part for each in branch for part in ast.walk(each)]
    stores = [part for part in parts if isinstance(getattr(part, "ctx", None), ast.Store)]
    leaves = any(isinstance(part, (ast.Yield, ast.YieldFrom, ast.Await, ast.NamedExpr)) for part in parts)
    return not leaves and all(
        isinstance(part, (ast.Name, ast.Tuple, ast.List, ast.Starred)) for part in stores
    )


def _stores(statements: list[ast.stmt]) -> list[str]:
    """Return the names that the statements assign, in order."""
    found = [
        part
        for each in statements
        for part in ast.walk(each)
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)
    ]
    return list(
        dict.fromkeys(part.id for part in sorted(found, key=lambda part: (part.lineno, part.col_offset)))
    )


def _stored_by_all(node: ast.If, name: str) -> bool:
    return name in _stores(node.body) and name in _stores(node.orelse)


def _given_back(module: Module, function: FunctionInfo, node: ast.If) -> list[str] | None:
    """Return the names that the branches change and the function reads elsewhere, or None if one is not local."""
    own = {id(part) for part in ast.walk(node)}
    scope = module.index.scopes[function.node]
    found = []
    for name in _stores([*node.body, *node.orelse]):
        if name in scope.outer:
            return None
        if any(id(read) not in own and module.scope(read) is scope for read in module.reads.get(name, [])):
            found.append(name)
    return found


def _is_defined_before(module: Module, function: FunctionInfo, node: ast.If, name: str) -> bool:
    bindings = module.index.scopes[function.node].bindings.get(name, [])
    return any(
        isinstance(each, ast.arg) or getattr(each, "lineno", node.lineno) < node.lineno for each in bindings
    )


def _free_names(module: Module) -> tuple[str, str]:
    taken = set(module.reads) | set(module.index.module.bindings)
    return ("when_true", "when_false") if "when_true" not in taken else ("when_true_2", "when_false_2")


def _function(
    module: Module, branch: list[ast.stmt], name: str, parameters: list[str], indent: str, values: str
) -> list[str]:
    """Return a branch as a function with the same lines."""
    first, last = branch[0], branch[-1]
    inner = indent_of(module, first)
    body = module.places.lines[first.lineno - 1 : last.end_lineno]
    back = [f"{inner}return {values}"] if values else []
    return [f"{indent}def {name}({', '.join(parameters)}):", *body, *back, ""]

"""Find the calls that always run when a file is run, in order, through the functions it calls."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from fitdoctor.source.callees import callee
from fitdoctor.source.index import FUNCTIONS
from fitdoctor.source.module import CallSite, Module

_DEEPEST = 4
_UNSURE = (ast.If, ast.IfExp, ast.Try, ast.Match, ast.BoolOp, ast.ClassDef, *FUNCTIONS)


def calls_in_order(module: Module) -> Iterator[CallSite]:
    """Yield every call of a file that is not inside a branch, a handler or an uncalled function."""
    return _calls(module, module.tree.body, 0)


def _calls(module: Module, body: Iterable[ast.AST], depth: int) -> Iterator[CallSite]:
    for node in body:
        if isinstance(node, ast.If) and _is_main_guard(node):
            yield from _calls(module, node.body, depth)
        if isinstance(node, (ast.For, ast.While)):
            # A loop may have no iteration: `for gpu in gpus` on a machine without GPUs.
            yield from _calls(module, [node.iter if isinstance(node, ast.For) else node.test], depth)
            continue
        if isinstance(node, _UNSURE):
            continue
        yield from _calls(module, ast.iter_child_nodes(node), depth)
        if isinstance(node, ast.Return):
            return
        if isinstance(node, ast.Call):
            yield module.call(node)
            function = callee(module, node) if depth < _DEEPEST else None
            if function is not None and isinstance(function.node, ast.FunctionDef):
                if function.module is module and function.node not in module.generators:
                    yield from _calls(module, function.node.body, depth + 1)


def _is_main_guard(node: ast.If) -> bool:
    test = node.test
    return isinstance(test, ast.Compare) and isinstance(test.left, ast.Name) and test.left.id == "__name__"


def is_chosen(module: Module, node: ast.AST) -> bool:
    """Whether a node is inside a branch or handler of its function."""
    child, parent = node, module.parent(node)
    while parent is not None and not isinstance(parent, FUNCTIONS):
        if isinstance(parent, (ast.IfExp, ast.Try, ast.Match, ast.BoolOp)):
            return True
        if isinstance(parent, ast.If) and child is not parent.test and not _is_main_guard(parent):
            return True
        child, parent = parent, module.parent(parent)
    return False

"""What functions change that a library is given to call: `table.apply(lambda row: rows.append(row))`."""

from __future__ import annotations

import ast
from functools import lru_cache
from typing import TYPE_CHECKING

from fitdoctor.source.index import walk
from fitdoctor.source.interpreter.values import UNTOLD, DictRecord, Function, ListRecord, Method, Ref

if TYPE_CHECKING:
    from fitdoctor.source.interpreter.interpret import Interpreter

_CHANGING = frozenset(
    "append extend insert add update pop popitem remove clear setdefault appendleft sort reverse".split()
)


def forget_changed(run: Interpreter, given: Function | Method) -> None:
    """Nobody knows how often a library calls a function: what it changes is not known from here on."""
    if isinstance(given, Method):
        if isinstance(given.receiver, Ref) and isinstance(
            run.record(given.receiver), (ListRecord, DictRecord)
        ):
            run.state.touch(given.receiver)
        return
    forget_changed_by(run, given.node, given.frame)


def forget_changed_by(run: Interpreter, node: ast.AST, frame: int) -> None:
    """The same for code that runs an unknown number of times, whose names are looked up from a frame."""
    changed, rebound = _changes(node)
    outer, run.frame = run.frame, frame
    for name in changed:
        run.state.touch(run.lookup(name))
    run.frame = outer
    for name in rebound:
        around: int | None = frame
        while around is not None:
            if name in run.state.frames.get(around, ()):
                run.state.names(around)[name] = UNTOLD
                break
            around = run.parents[around]


@lru_cache(maxsize=4096)
def _changes(node: ast.AST) -> tuple[frozenset[str], frozenset[str]]:
    """The names whose things code changes in place, and the outer names that it binds."""
    changed: set[str] = set()
    rebound: set[str] = set()
    own: set[str] = set()
    for part in walk(node):
        if (
            isinstance(part, ast.Call)
            and isinstance(part.func, ast.Attribute)
            and part.func.attr in _CHANGING
        ):
            changed.add(_root(part.func))
        elif isinstance(part, (ast.Attribute, ast.Subscript)) and not isinstance(part.ctx, ast.Load):
            changed.add(_root(part))
        elif isinstance(part, (ast.Global, ast.Nonlocal)):
            rebound.update(part.names)
        elif isinstance(part, ast.arg):
            own.add(part.arg)
        elif isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
            own.add(part.id)
    return frozenset(changed - (own - rebound) - {""}), frozenset(rebound)


def _root(node: ast.AST) -> str:
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""

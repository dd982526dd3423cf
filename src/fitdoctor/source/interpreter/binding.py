"""Binding the targets of assignments: names, attributes, items and tuples of them."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from fitdoctor.records import replace
from fitdoctor.source.data import arrays
from fitdoctor.source.interpreter import objects
from fitdoctor.source.interpreter.values import UNTOLD, Array, DictRecord, ListRecord, Plain, Ref, Value

if TYPE_CHECKING:
    from fitdoctor.source.interpreter.interpret import Interpreter


def bind(run: Interpreter, target: ast.expr, value: Value, source: ast.expr | None) -> None:
    """Bind a target of an assignment."""
    if isinstance(target, ast.Name):
        run.assign(target.id, value)
    elif isinstance(target, (ast.Tuple, ast.List)):
        _unpack(run, target.elts, value, source)
    elif isinstance(target, ast.Attribute):
        receiver = run.evaluate(target.value)
        objects.set_attribute(run, receiver, target.attr, value)
        if target.attr == "columns" and isinstance(receiver, Array):
            from fitdoctor.source.data.tables import rebind, renamed

            rebind(run, target.value, receiver, renamed(run, receiver, value))
    elif isinstance(target, ast.Subscript):
        _set_item(run, target, value)
    elif isinstance(target, ast.Starred):
        bind(run, target.value, UNTOLD, None)


def _unpack(run: Interpreter, targets: list[ast.expr], value: Value, source: ast.expr | None) -> None:
    items = run.sequence(value)
    if items is None and isinstance(value, Array):
        dims = arrays.known_dims(value)
        if dims and dims[0] == len(targets):
            from fitdoctor.source.interpreter import indexing

            items = tuple(run.settled(indexing.index(value, Plain(at))) for at in range(len(targets)))
    starred = [at for at, target in enumerate(targets) if isinstance(target, ast.Starred)]
    if items is None or (not starred and len(items) != len(targets)) or len(items) < len(targets) - 1:
        for target in targets:
            bind(run, target, UNTOLD, None)
        return
    sources: list[ast.expr | None] = [None] * len(targets)
    if isinstance(source, (ast.Tuple, ast.List)) and len(source.elts) == len(targets):
        sources = list(source.elts)
    if starred:
        _unpack_starred(run, targets, items, starred[0])
        return
    for target, item, origin in zip(targets, items, sources, strict=True):
        bind(run, target, item, origin)


def _unpack_starred(run: Interpreter, targets: list[ast.expr], items: tuple[Value, ...], at: int) -> None:
    after = len(targets) - at - 1
    for target, item in zip(targets[:at], items[:at], strict=True):
        bind(run, target, item, None)
    middle = items[at : len(items) - after]
    star = targets[at]
    if isinstance(star, ast.Starred):
        bind(run, star.value, run.new_list(middle), None)
    for target, item in zip(targets[at + 1 :], items[len(items) - after :], strict=True):
        bind(run, target, item, None)


def _set_item(run: Interpreter, target: ast.Subscript, value: Value) -> None:
    receiver, key = run.evaluate(target.value), run.evaluate(target.slice)
    if isinstance(receiver, Array):
        run.state.written.add(receiver.buffer)
        if receiver.container == "pandas.DataFrame":
            from fitdoctor.source.data.tables import rebind, with_column

            rebind(run, target.value, receiver, with_column(receiver, key, value))
        return
    if not isinstance(receiver, Ref):
        run.state.touch(receiver)
        return
    record = run.record(receiver)
    if isinstance(record, DictRecord):
        run.update(receiver, replace(record, items=_with_key(record, key, value)))
    elif isinstance(record, ListRecord):
        at = arrays.whole(key)
        items = record.items
        if items is None or at is None or not -len(items) <= at < len(items):
            run.update(receiver, ListRecord(None, record.node))
        else:
            changed = list(items)
            changed[at] = value
            run.update(receiver, replace(record, items=tuple(changed)))
    else:
        run.state.touch(receiver)


def _with_key(record: DictRecord, key: Value, value: Value) -> tuple[tuple[object, Value], ...] | None:
    if record.items is None or not isinstance(key, Plain):
        return None
    if any(known == key.value for known, _ in record.items):
        return tuple((known, value if known == key.value else old) for known, old in record.items)
    return (*record.items, (key.value, value))


def forget_assigned(run: Interpreter, statement: ast.AST) -> None:
    """Set every name that a statement may bind to Unknown."""
    for name in names_bound_in(statement):
        run.assign(name, UNTOLD)


def names_bound_in(*statements: ast.AST) -> set[str]:
    """The names that statements bind in their own scope."""
    names: set[str] = set()
    pending: list[ast.AST] = list(statements)
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Name) and isinstance(node.ctx, (ast.Store, ast.Del)):
            names.add(node.id)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            names.add(node.name)
            continue
        elif isinstance(node, ast.Lambda):
            continue
        pending.extend(ast.iter_child_nodes(node))
    return names

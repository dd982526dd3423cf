"""Iteration helpers: `zip`, `enumerate`, `iter`, `next`, progress bars."""

from __future__ import annotations

from fitdoctor.records import replace
from fitdoctor.source.data import arrays
from fitdoctor.source.interpreter import objects
from fitdoctor.source.interpreter.interpret import Interpreter
from fitdoctor.source.interpreter.library import handles
from fitdoctor.source.interpreter.values import (
    UNTOLD,
    Arguments,
    Array,
    Dataset,
    Generated,
    InstanceRecord,
    Items,
    ListRecord,
    Method,
    Plain,
    Ref,
    Value,
)


def _each(run: Interpreter, element: Value) -> Value:
    """Return a list of an unknown number of these items."""
    return run.allocate(ListRecord(None, element=element))


@handles("zip")
def _zip(run: Interpreter, arguments: Arguments) -> Value:
    columns = [objects.iterated(run, value) for value in arguments.positional]
    told = [column for column in columns if column is not None]
    if not arguments.complete or not told and not columns:
        return UNTOLD
    if len(told) != len(columns):
        return _each(run, Items(tuple(objects.element_of(run, value) for value in arguments.positional)))
    return Items(tuple(Items(row) for row in zip(*told, strict=False)))


@handles("enumerate")
def _enumerate(run: Interpreter, arguments: Arguments) -> Value:
    if not arguments.positional:
        return UNTOLD
    items = objects.iterated(run, arguments.positional[0])
    start = arrays.whole(arguments.get("start", 1) or Plain(0))
    if items is None or start is None:
        return _each(
            run, Items((Array((), "int64", "int"), objects.element_of(run, arguments.positional[0])))
        )
    return Items(tuple(Items((Plain(start + at), item)) for at, item in enumerate(items)))


@handles("reversed")
def _reversed(run: Interpreter, arguments: Arguments) -> Value:
    items = objects.iterated(run, arguments.positional[0]) if arguments.positional else None
    return UNTOLD if items is None else Items(items[::-1])


@handles("tqdm.tqdm", "tqdm.auto.tqdm", "tqdm.notebook.tqdm", "tqdm.autonotebook.tqdm", "rich.progress.track")
def _shown(run: Interpreter, arguments: Arguments) -> Value:
    return arguments.positional[0] if arguments.positional else arguments.get("iterable") or UNTOLD


@handles("iter")
def _iter(run: Interpreter, arguments: Arguments) -> Value:
    value = arguments.positional[0] if len(arguments.positional) == 1 else UNTOLD
    record = run.record(value) if isinstance(value, Ref) else None
    if isinstance(record, InstanceRecord):
        return run.call(Method(value, "__iter__"), replace(arguments, positional=()))
    if isinstance(value, (Generated, Dataset)):
        return value
    return _taken(run, arguments)


@handles("next")
def _next(run: Interpreter, arguments: Arguments) -> Value:
    value = arguments.positional[0] if len(arguments.positional) == 1 else UNTOLD
    if isinstance(value, (Generated, Dataset)):
        return objects.element_of(run, value)
    return _taken(run, arguments)


def _taken(run: Interpreter, arguments: Arguments) -> Value:
    run.touch(arguments)
    return UNTOLD

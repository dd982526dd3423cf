"""The batches that a user-defined generator yields."""

from __future__ import annotations

from fitdoctor.facts import Unknown
from fitdoctor.records import replace
from fitdoctor.source.interpreter import objects
from fitdoctor.source.interpreter.interpret import Interpreter
from fitdoctor.source.interpreter.joining import join
from fitdoctor.source.interpreter.values import UNTOLD, Array, Generated, Items, Mapping, Value


def yielded(run: Interpreter, generated: Generated) -> Value:
    """Return what holds for all yielded values, without side effects on the state."""
    from fitdoctor.source.interpreter.calls import follow_function

    before = run.state.copy()
    run.trial += 1
    _, yields = follow_function(run, generated.function, dict(generated.arguments or ()))
    element = _joined(run, yields)
    run.trial -= 1
    run.state = before
    return element


def _joined(run: Interpreter, yields: list[Value]) -> Value:
    if not yields:
        return UNTOLD
    merged = batch_open(run, yields[0])
    for value in yields[1:]:
        merged = join(merged, batch_open(run, value))
    return merged


def batch_open(run: Interpreter, value: Value) -> Value:
    """A yielded batch with its first axis left open: other batches may be shorter."""
    if isinstance(value, Array):
        dims = value.dims if isinstance(value.dims, Unknown) or not value.dims else (UNTOLD, *value.dims[1:])
        return replace(value, dims=dims, bounds=None, numbers=None, node=None, buffer=0)
    if isinstance(value, Items):
        return Items(tuple(batch_open(run, item) for item in value.items))
    pairs = objects.pairs_of(run, value)
    if pairs is not None:
        return Mapping(tuple((key, batch_open(run, item)) for key, item in pairs))
    return UNTOLD

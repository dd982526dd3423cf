"""The batches that a user-defined generator yields."""

from __future__ import annotations

import ast

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


def batches_yielded(run: Interpreter, generated: Generated) -> int | None:
    """Return how many batches a generator that was followed yields: one per iteration of its only loop."""
    body: list[ast.stmt] = getattr(generated.function.node, "body", [])
    loops = [statement for statement in body if isinstance(statement, ast.For)]
    if len(loops) != 1 or any(isinstance(part, _LEAVES) for each in body for part in ast.walk(each)):
        return None
    yielding = [part for each in body for part in ast.walk(each) if isinstance(part, ast.Yield)]
    per_iteration = [each.value for each in loops[0].body if isinstance(each, ast.Expr)]
    return run.rounds.get(loops[0]) if len(yielding) == 1 and yielding[0] in per_iteration else None


_LEAVES = (ast.Break, ast.Continue, ast.Return, ast.Raise, ast.YieldFrom)
"""What may end a generator, or an iteration of its loop, before it yields."""


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

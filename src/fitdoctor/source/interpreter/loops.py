"""Follows loops: one iteration at a time if they are short, else once for all iterations."""

from __future__ import annotations

import ast
from collections.abc import Callable

from fitdoctor.source.interpreter import objects
from fitdoctor.source.interpreter.binding import bind, forget_assigned
from fitdoctor.source.interpreter.interpret import Interpreter
from fitdoctor.source.interpreter.state import OBJECTS_PER_TICK, State, joined
from fitdoctor.source.interpreter.values import Numbers, Value

_MOST_ROUNDS = 3
"""Maximum passes over a loop body until its state is stable."""


def follow_for(run: Interpreter, statement: ast.stmt) -> bool:
    """A `for` loop."""
    assert isinstance(statement, (ast.For, ast.AsyncFor))
    over = run.evaluate(statement.iter)
    items = objects.iterated(run, over)
    if isinstance(over, Numbers):
        run.rounds[statement] = len(over.values)
    if items is not None and (statement, len(items), len(run.loops)) not in run.too_long:
        start = run.state.copy()
        falls = _unrolled(run, statement, items)
        if falls is not None:
            return falls
        run.state = start
    element = objects.element_of(run, over)
    surely = isinstance(over, Numbers) and len(over.values) > 0

    def begin() -> None:
        bind(run, statement.target, element, None)

    _widened(run, statement, begin, surely)
    return run.execute(statement.orelse)


def _unrolled(run: Interpreter, statement: ast.For | ast.AsyncFor, items: tuple[Value, ...]) -> bool | None:
    """Follow a loop one iteration at a time; None, without effects on the control, if that takes too long."""
    with run.unrolling():
        return _step_by_step(run, statement, items)


def _step_by_step(
    run: Interpreter, statement: ast.For | ast.AsyncFor, items: tuple[Value, ...]
) -> bool | None:
    control = run.control[-1]
    outer_breaks, outer_continues = control.breaks, control.continues
    control.breaks, control.continues = [], []
    returned, yielded = len(control.returns), len(control.yields)
    falls = True
    before = run.ticks
    for count, item in enumerate(items):
        if not run.may_unroll(before, count, len(items)):
            if count and run.takes_long((run.ticks - before) / count * len(items)):
                run.too_long.add((statement, len(items), len(run.loops)))
            control.breaks, control.continues = outer_breaks, outer_continues
            del control.returns[returned:], control.yields[yielded:]
            return None
        bind(run, statement.target, item, None)
        falls = run.execute(statement.body)
        ends = [*([run.state] if falls else []), *control.continues]
        control.continues = []
        if not ends:
            falls = False
            break
        run.state, falls = joined(ends), True
    broken = control.breaks
    control.breaks, control.continues = outer_breaks, outer_continues
    ends = list(broken)
    if falls and run.execute(statement.orelse):
        ends.append(run.state)
    if not ends:
        return False
    run.state = joined(ends)
    return True


def follow_while(run: Interpreter, statement: ast.stmt) -> bool:
    """A `while` loop."""
    assert isinstance(statement, ast.While)
    truth = objects.truth(run, run.evaluate(statement.test))
    if truth is False:
        return run.execute(statement.orelse)

    def begin() -> None:
        run.evaluate(statement.test)

    broken = _widened(run, statement, begin, truth is True)
    endless = isinstance(statement.test, ast.Constant) and bool(statement.test.value)
    return broken if endless else run.execute(statement.orelse)


def _widened(
    run: Interpreter, statement: ast.For | ast.AsyncFor | ast.While, begin: Callable[[], None], surely: bool
) -> bool:
    """Follow a loop of unknown length, starting each iteration with what holds before and after every one.

    Returns whether the body can break.
    """
    control = run.control[-1]
    outer_breaks, outer_continues = control.breaks, control.continues
    base = run.state
    returned, yielded = len(control.returns), len(control.yields)
    run.loops.append(run.numbers)
    run.trial += 1
    stable = False
    ends: list[State] = []
    for round_ in range(_MOST_ROUNDS):
        run.tick(1 + len(base.heap) // OBJECTS_PER_TICK)
        run.state = base.copy()
        control.breaks, control.continues = [], []
        del control.returns[returned:], control.yields[yielded:]
        begin()
        ends = [*([run.state] if run.execute(statement.body) else []), *control.continues]
        merged = joined([base, *[_only(run.state if end is None else end, base) for end in ends]])
        # Arrays made in the body are written anew in every pass; older ones are known as written after the first.
        merged = _only(merged, base)
        stable = merged.same_as(base, written=round_ == 0)
        base = merged
        if stable:
            break
        if round_ == _MOST_ROUNDS - 1:
            run.state = base
            forget_assigned(run, statement)
    run.trial -= 1
    # Inside the trial of an outer loop, the stable pass serves: nested loops would multiply the passes.
    if not (stable and run.trial):
        run.state = base.copy()
        control.breaks, control.continues = [], []
        del control.returns[returned:], control.yields[yielded:]
        begin()
        ends = [*([run.state] if run.execute(statement.body) else []), *control.continues]
    broken = control.breaks
    run.loops.pop()
    control.breaks, control.continues = outer_breaks, outer_continues
    run.state = joined([*([] if surely and ends else [base]), *ends, *broken])
    return bool(broken)


def _only(state: State, base: State) -> State:
    """The state without the frames and things that came up inside the loop."""
    frames = {number: names for number, names in state.frames.items() if number in base.frames}
    heap = {number: record for number, record in state.heap.items() if number in base.heap}
    return State(frames, heap, state.written)

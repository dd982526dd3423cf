"""Finds where training and validation data part: rows that both have, or a preparation that only one of them had."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import Any

from fitdoctor.collect.aspects import is_dataset
from fitdoctor.records import dataclass
from fitdoctor.runner.first_bad_line import Trail, call_at
from fitdoctor.runner.noted_code import Site
from fitdoctor.runner.value_history import History, Seen, Step

_MOST_OBJECTS = 2000
_OTHER_SCALE = 2.0
"""By what factor the largest values differ before and after a preparation."""
Ways = dict[int, tuple[Seen, list[Step]]]


@dataclass(frozen=True, eq=False)
class Unprepared:
    """Validation data that lacks a preparation of the training data."""

    trail: Trail
    """The validation data's; to change is the last expression that has it alone, or the first that reads it."""
    applied: Site | None
    """The expression that prepares the training data, where the same would be possible for the validation data."""
    operand: Site | None
    """The training data in it."""


def divergence(history: History, value: Any, other: Any, index: int) -> Trail | None:
    """Return where two values part that were made from the same rows: a split, or a slice for one of them.

    Args:
        history: what was noted.
        value: one value that reached `fit`.
        other: the other one.
        index: the position of the aspect that is the number of rows.
    """
    seen = history.seen(other)
    ways, others = _ways(history, history.seen(value), index), _ways(history, seen, index)
    rows = seen.aspects[index]
    shared = [
        key
        for key, (each, steps) in ways.items()
        if steps and key in others and (each.aspects[index] or 0) >= rows
    ]
    if not shared:
        return None
    nearest = min(shared, key=lambda key: len(ways[key][1]))
    chosen = _index_made_last(history, ways, others, nearest)
    if chosen is not None:
        steps = [*ways[nearest][1], chosen]
    else:
        # Whatever took rows first was free to; the later one takes some of them again.
        sides = [_up_to_pick(found[nearest][1], index) for found in (ways, others)]
        steps = max(filter(None, sides), key=lambda steps: steps[-1].order, default=ways[nearest][1])
    return Trail(tuple(steps), steps[-1].site)


def _up_to_pick(steps: list[Step], index: int) -> list[Step]:
    """Return the steps back to the first one that picked some of the rows; none if all rows were used."""
    for at in range(len(steps), 0, -1):
        step = steps[at - 1]
        whole = {each.aspects[index] for each in step.operands if each.is_data}
        if isinstance(step.site.node, ast.Subscript) or step.made.aspects[index] not in whole:
            return steps[:at]
    return []


def _index_made_last(history: History, ways: Ways, others: Ways, whole: int) -> Step | None:
    """Return the later of two expressions that chose rows, if both parts are picked from the same data by arrays."""
    picked = [part[-1] for found in (ways, others) for _each, part in found.values() if part]
    makers: dict[int, Step] = {}
    for one in picked:
        if isinstance(one.site.node, ast.Subscript) and whole in {each.key for each in one.operands}:
            for index in one.operands:
                made = history.steps.get(index.key, ())
                if index.is_data and made and index.aspects == one.made.aspects:
                    makers[index.key] = made[-1]
    if len(makers) != 2:
        return None
    last = max(makers.values(), key=lambda made: made.order)
    # One index array that is a part of the other is right; the mistake is to pick by the whole one.
    return None if makers.keys() & {each.key for each in last.operands} else last


def _ways(history: History, start: Seen, index: int) -> Ways:
    """Return all rows that a value was made from, by their key, each with the steps of the shortest way back to them."""
    found: dict[int, tuple[Seen, list[Step]]] = {start.key: (start, [])}
    waiting = [start.key]
    while waiting and len(found) < _MOST_OBJECTS:
        key = waiting.pop(0)
        for step in history.steps.get(key, ()):
            rows = _rows(step.made, index)
            lengths = [_rows(each, index) for each in step.operands if each.is_data]
            for each in step.operands:
                # Next to an operand with all rows, a shorter one is a mean or a deviation per column.
                constant = rows in lengths and _rows(each, index) < rows
                passes = each.is_data and not constant or is_dataset(history.object(each.key))
                if passes and each.key not in found:
                    found[each.key] = each, [*found[key][1], step]
                    waiting.append(each.key)
    return found


def _rows(seen: Seen, index: int) -> int:
    """Return the number of rows, with which an aspect may begin."""
    found = seen.aspects[index]
    return (found[0] if isinstance(found, tuple) else found) or 0


def unprepared(
    history: History, value: Any, other: Any, index: int, spans: Sequence[Any]
) -> Unprepared | None:
    """Return where validation data should have been scaled as the training data was; None if that was not seen.

    Args:
        history: what was noted.
        value: the validation data that reached `fit`, or the dataset with it.
        other: the training data.
        index: the position of the aspect that is the number of rows and the range.
        spans: the least and the largest value of the validation data and of the training data.
    """
    theirs, ours = (
        _ways_of_part(history, each, index, span) for each, span in zip((value, other), spans, strict=True)
    )
    scaling = _scaling(ours, index)
    if scaling is None:
        return None
    private = [theirs[key] for key in theirs if key not in ours and theirs[key][0].aspects[index]]
    known = {step.site.number for _seen, steps in ours.values() for step in steps}
    made = [
        step
        for seen, _steps in private
        for step in history.steps.get(seen.key, ())
        if not step.in_place and step.site.number not in known and not _splits(step, ours, scaling)
    ]
    if made:
        last = max(made, key=lambda step: step.order)
        steps, blamed = next(steps for seen, steps in private if seen.key == last.made.key), last.site
        steps = [*steps, last]
    else:
        others = set(history.read_at(ours))
        others.update(
            step.site.number for seen, _steps in private for step in history.steps.get(seen.key, ())
        )
        reads = [
            (steps, history.sites.sites[number])
            for seen, steps in reversed(private)
            for number in history.read_at([seen.key])
            if number not in others and history.sites.sites[number].looked_into
        ]
        if not reads:
            return None
        steps, blamed = reads[0]
    applied, operand = _applicable(history, scaling, blamed, ours)
    return Unprepared(Trail(tuple(steps), blamed), applied, operand)


def _splits(step: Step, ways: Ways, scaling: Step) -> bool:
    """Whether a call of a function made the training data as well, but did not scale it."""
    function, path = step.site.function, step.site.path
    if function is None or scaling.site.function is function:
        return False
    first, last = function.lineno, function.end_lineno or 0
    if any(caller[0] == path and first <= caller[1] <= last for caller in scaling.callers):
        return False
    every = (each for _seen, steps in ways.values() for each in steps)
    return any(each.site.function is function and each.callers == step.callers for each in every)


def _ways_of_part(history: History, value: Any, index: int, span: Sequence[float]) -> Ways:
    """Return the ways of a value; of a dataset, those of the array in it whose range is nearest to the known one."""
    found = _ways(history, history.seen(value), index)
    if not is_dataset(value):
        return found
    fitting = [
        seen
        for seen, _steps in found.values()
        if (size := seen.aspects[index]) and size[1] <= span[0] + 1e-6 and size[2] >= span[1] - 1e-6
    ]
    width = [seen.aspects[index][2] - seen.aspects[index][1] for seen in fitting]
    return _ways(history, fitting[width.index(min(width))], index) if fitting else {}


def _scaling(ways: Ways, index: int) -> Step | None:
    """Return the expression that scaled data, the nearest one; the whole of it if it has several operations."""
    for _seen, steps in ways.values():
        if not steps:
            continue
        made, read = steps[-1].made.aspects[index], _seen.aspects[index]
        if made and read and made[0] == read[0] and _is_scaled(_largest(made), _largest(read)):
            step = steps[-1]
            line = step.site.node.lineno
            for outer in reversed(steps[:-1]):
                if (outer.site.path, outer.site.node.lineno) != (step.site.path, line) or outer.in_place:
                    break
                step = outer
            return step
    return None


def _is_scaled(one: float, other: float) -> bool:
    return max(one, other) > _OTHER_SCALE * min(one, other) > 0


def _largest(aspect: tuple[int, float, float]) -> float:
    return max(abs(aspect[1]), abs(aspect[2]))


def _applicable(history: History, step: Step, place: Site, ways: Ways) -> tuple[Site | None, Site | None]:
    """Return the preparation, or a call that makes it, if it can be written at a place; and its operand."""
    site: Site | None = step.site
    read = set(history.read_at(ways))
    found: tuple[Site | None, Site | None] = (None, None)
    for caller in (*step.callers, None):
        if site is None:
            break
        start = (site.node.lineno, site.node.col_offset)
        inside = [
            each
            for each in _inside(history, site)
            # The object whose method is called may hold the data, too.
            if site is step.site or (each.node.lineno, each.node.col_offset) != start
        ]
        operand = next((each for each in inside if each.number in read), None)
        if operand is not None and _means_the_same(site, operand, place):
            found = site, operand
            if site.function is place.function:
                break
        if caller is None or site.function is None:
            break
        site = call_at(history, caller, site.function.name)
    return found


def _inside(history: History, site: Site) -> Iterator[Site]:
    """Yield the variables that an expression is computed from."""
    for number in site.operands:
        each = history.sites.sites[number]
        if isinstance(each.node, (ast.Name, ast.Attribute, ast.Subscript)):
            yield each
        else:
            yield from _inside(history, each)


def _means_the_same(site: Site, operand: Site, place: Site) -> bool:
    """Whether the names in an expression, other than its operand, mean the same at a place."""
    if site.path != place.path or not isinstance(site.node, ast.expr):
        return False
    if site.function is place.function:
        return True
    names = {each.id for each in ast.walk(site.node) if isinstance(each, ast.Name)}
    names -= {each.id for each in ast.walk(operand.node) if isinstance(each, ast.Name)}
    own: set[str] = set()
    for each in ast.walk(site.function) if site.function is not None else ():
        if isinstance(each, ast.arg):
            own.add(each.arg)
        elif isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store):
            own.add(each.id)
    return names & own <= {"self"}

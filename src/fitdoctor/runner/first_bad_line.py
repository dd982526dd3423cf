"""Walks back from a value to the line that first gave it the aspect a finding is about."""

from __future__ import annotations

import bisect
from collections.abc import Callable, Iterable
from typing import Any

from fitdoctor.records import dataclass

MOST_STEPS = 40


@dataclass(frozen=True)
class Seen:
    """A value as a statement met it."""

    key: int
    """The same for the same object."""
    aspect: Any = None
    passes_on: bool = False
    """It has no aspect of its own, but passes data on, as a `tf.data.Dataset` does."""


@dataclass(frozen=True)
class Step:
    """A statement that bound or changed a value."""

    order: int
    path: str
    line: int
    made: Seen
    operands: tuple[Seen, ...] = ()
    """What the statement read, as it was before."""
    in_place: bool = False
    """It changed an object that existed before."""


class Steps:
    """The statements that a program executed, by the objects that they made."""

    def __init__(self, steps: Iterable[Step] = ()) -> None:
        self._by_key: dict[int, list[Step]] = {}
        self._count = 0
        for step in steps:
            self.add(step)

    def __len__(self) -> int:
        return self._count

    def add(self, step: Step) -> None:
        """Add a step; steps come in the order of their `order`."""
        self._by_key.setdefault(step.made.key, []).append(step)
        self._count += 1

    def origin(self, key: int, has: Callable[[Any], bool], *, last: bool = False) -> list[Step]:
        """Return the statements from the one nearest to `fit` back to the first bad line; [] if it was not seen.

        Args:
            key: the object that reached `fit`.
            has: whether an aspect is the one that the object has there.
            last: of several operands with that aspect, follow the last one: labels come after features.
        """
        chain: list[Step] = []
        before = float("inf")
        while len(chain) < MOST_STEPS:
            step = self._first_with(key, before, has)
            if step is None:
                break
            chain.append(step)
            follow = _operand(step, has, last)
            if follow is None:
                return chain
            key, before = follow.key, step.order
        # The path breaks off: the line that made the last operand was not seen.
        return []

    def places(self, chain: list[Step]) -> list[tuple[str, int]]:
        """Return every statement that the objects of a path passed, as path and line."""
        keys = {step.made.key for step in chain}
        return list(dict.fromkeys((step.path, step.line) for key in keys for step in self._by_key[key]))

    def _first_with(self, key: int, before: float, has: Callable[[Any], bool]) -> Step | None:
        """Return the first of the latest statements at which an object had the aspect."""
        steps = self._by_key.get(key, [])
        steps = steps[: bisect.bisect_left(steps, before, key=lambda step: step.order)]
        found: Step | None = None
        for step in reversed(steps):
            if not (has(step.made.aspect) or step.made.passes_on):
                break
            found = step
        if found is not None or not steps:
            return found
        # It changed after the last time that it was looked at, in a loop: by the statement that changes it there.
        return next((step for step in reversed(steps) if step.in_place), None)


def _operand(step: Step, has: Callable[[Any], bool], last: bool) -> Seen | None:
    """Return the operand that the aspect came from; None at the first bad line."""
    operands = step.operands[::-1] if last else step.operands
    bad = [each for each in operands if has(each.aspect)]
    if bad:
        others = [each for each in bad if each.key != step.made.key]
        return (others or bad)[0]
    passing = [each for each in operands if each.passes_on and each.key != step.made.key]
    return passing[0] if passing and step.made.passes_on else None

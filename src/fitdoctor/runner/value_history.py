"""Remembers which expression of the user's code made or changed which data; only in a second run."""

from __future__ import annotations

import ast
import builtins
import sys
import threading
import time
import weakref
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from types import FrameType, FunctionType, ModuleType
from typing import Any

from fitdoctor.collect.aspects import aspect_of, is_data, is_dataset, is_scalar
from fitdoctor.failure.frames import is_library
from fitdoctor.records import dataclass
from fitdoctor.runner.noted_code import CHANGED, NOTE, WARM, Site, Sites

MOST_NOTES = 400
"""How often one expression is noted; later passes of a loop do the same."""
MOST_CHANGES = 40
"""How often a statement that changes data in place is noted; each time, the data is looked at as a whole."""
MOST_STEPS = 100_000
MOST_SECONDS = 10.0
"""How long looking at the data may take altogether."""
_MOST_INSIDE = 32
"""How many members of a dict, tuple or object are looked at."""
_MOST_CALLERS = 4
_NO_DATA = frozenset({int, float, str, bool, bytes, type(None), type, FunctionType, ModuleType, slice, range})


@dataclass(frozen=True, eq=False)
class Seen:
    """A value as an expression met it."""

    key: int
    """The same for the same object."""
    aspects: tuple[Any, ...]
    """One per question; None where the value has no such aspect."""
    is_data: bool = True
    """It is more than a tuple of numbers, such as a shape, or a dict."""
    column: Any = None
    """The name of a column of a table."""


@dataclass(frozen=True, eq=False)
class Step:
    """An expression that made a value, or a statement that changed one."""

    order: int
    site: Site
    made: Seen
    operands: tuple[Seen, ...]
    callers: tuple[tuple[str, int], ...]
    """The lines of the user's code that called the function that it is in, the nearest first."""
    in_place: bool = False


class History:
    """What was noted, by the objects that it is about."""

    def __init__(self, sites: Sites, aspects: Iterable[str], give_up: Callable[[], None]) -> None:
        """Remember some aspects of all data.

        Args:
            sites: the places in the user's code.
            aspects: the names of the aspects.
            give_up: ends the run where remembering fails or takes too long; it does not return.
        """
        self.sites = sites
        self.steps: dict[int, list[Step]] = {}
        """By the key of the object that was made or changed, in order."""
        self.at: dict[int, list[Step]] = {}
        """By the number of the site."""
        self._reads: dict[int, dict[int, None]] = {}
        self.scalars: dict[int, list[tuple[tuple[tuple[str, int], ...], Any]]] = {}
        """What functions returned that is a single number or None: callers and values, by the number of the site."""
        self._aspects = tuple(aspects)
        self._give_up = give_up
        self._counts: dict[int, int] = {}
        self._slots = threading.local()
        self._keys: dict[int, tuple[int, Any]] = {}
        self._held: dict[int, Any] = {}
        self._seen: dict[int, Seen] = {}
        self._numbers = self._orders = 0
        self._seconds = 0.0
        self._classes: dict[type, bool] = {}

    def begin(self) -> None:
        """Let the compiled code find what it calls."""
        for name, function in ((NOTE, self.note), (CHANGED, self.changed), (WARM, self.warm)):
            setattr(builtins, name, function)

    def read_at(self, keys: Iterable[int]) -> list[int]:
        """Return the sites that read any of some objects; of each object, in order."""
        return [number for key in keys for number in self._reads.get(key, ())]

    # --- what the compiled code calls -----------------------------------------------------------------------------

    def note(self, value: Any, number: int, *_others: Any) -> Any:
        """Remember the value of an expression, and return it."""
        count = self._counts.get(number, 0)
        if count < MOST_NOTES:
            self._counts[number] = count + 1
            try:
                self._note(value, self.sites.sites[number], sys._getframe(1))
            # An exception in here would become the program's.
            except Exception:
                self._give_up()
        return value

    def changed(self, value: Any, number: int) -> None:
        """Remember what a statement may have changed in place; after a loop, always."""
        count = self._counts.get(number, 0)
        if type(value) in _NO_DATA or count >= MOST_CHANGES:
            return
        self._counts[number] = count + 1
        try:
            if is_data(value) or isinstance(value, dict):
                self._change(value, self.sites.sites[number], sys._getframe(1))
        except Exception:
            self._give_up()

    def warm(self, number: int) -> bool:
        """Whether the values of another pass of a loop are to be noted."""
        count = self._counts.get(number, 0)
        self._counts[number] = count + 1
        return count < MOST_NOTES

    # --- values ---------------------------------------------------------------------------------------------------

    def _note(self, value: Any, site: Site, frame: FrameType) -> None:
        slots = self._slot()
        if type(value) in _NO_DATA:
            slots[site.number] = ()
            if site.returned and is_scalar(value):
                self.scalars.setdefault(site.number, []).append((self._callers(frame), value))
            return
        parts = list(self._parts(value, 0, site.looked_into))
        seen = []
        for part in parts:
            known = id(part) in self._keys and self.key(part) in self.steps
            made = self.seen(part)
            seen.append(made)
            self._reads.setdefault(made.key, {})[site.number] = None
            if not known:
                self._add(site, made, frame)
        if not seen and type(value).__module__.startswith("pandas."):
            # `table.iloc`, `table.groupby(…)`, `column.rolling(…)`: what is taken from it comes from the table.
            seen = [each for number in site.operands for each in slots.get(number, ())]
        slots[site.number] = tuple(seen)

    def _change(self, value: Any, site: Site, frame: FrameType) -> None:
        before = self._seen.pop(self.key(value), None)
        after = self.seen(value)
        if before is None or before.aspects != after.aspects or type(value) in (list, dict):
            self._add(site, after, frame, before)

    def _add(self, site: Site, made: Seen, frame: FrameType, before: Seen | None = None) -> None:
        slots = self._slot()
        operands = [each for number in site.operands for each in slots.get(number, ())]
        if before is not None:
            operands = [before, *(each for each in operands if each.key != before.key)]
        else:
            operands = [each for each in operands if each.key != made.key]
        self._orders += 1
        in_place = isinstance(site.node, ast.stmt)
        step = Step(self._orders, site, made, tuple(operands), self._callers(frame), in_place)
        if self._orders > MOST_STEPS:
            self._give_up()
        self.steps.setdefault(made.key, []).append(step)
        self.at.setdefault(site.number, []).append(step)

    def _slot(self) -> dict[int, tuple[Seen, ...]]:
        """Return the last values of the expressions, as this thread saw them."""
        try:
            return self._slots.values  # type: ignore[no-any-return]
        except AttributeError:
            self._slots.values = {}
            return self._slots.values  # type: ignore[no-any-return]

    def _callers(self, frame: FrameType | None) -> tuple[tuple[str, int], ...]:
        found: list[tuple[str, int]] = []
        frame = frame.f_back if frame is not None else None
        while frame is not None and len(found) < _MOST_CALLERS:
            if frame.f_code.co_filename in self.sites.paths:
                found.append((frame.f_code.co_filename, frame.f_lineno))
            frame = frame.f_back
        return tuple(found)

    def seen(self, value: Any) -> Seen:
        """Return a value as it is now, or as it was when it was last changed by a statement that was seen."""
        key = self.key(value)
        known = self._seen.get(key)
        if known is None:
            began = time.process_time()
            found = tuple(aspect_of(value, name) for name in self._aspects)
            column = value.name if type(value).__name__ == "Series" else None
            known = self._seen[key] = Seen(key, found, type(value) is not tuple and is_data(value), column)
            self._seconds += time.process_time() - began
            if self._seconds > MOST_SECONDS:
                self._give_up()
        return known

    def _parts(self, value: Any, depth: int, look_into: bool) -> Iterator[Any]:
        """Yield the data in a value: itself, or what a dict, tuple or object of the user's holds."""
        inside: Iterable[Any] = ()
        if is_dataset(value):
            yield value
        elif is_data(value):
            yield value
            inside = value[:_MOST_INSIDE] if type(value) in (list, tuple) else ()
        elif isinstance(value, dict):
            yield value
            inside = list(value.values())[:_MOST_INSIDE]
        elif isinstance(value, tuple):
            inside = value[:_MOST_INSIDE]
        elif look_into and self._is_users(value):
            inside = list(vars(value).values())[:_MOST_INSIDE]
        if depth < 2:
            for part in inside:
                if type(part) not in _NO_DATA:
                    yield from self._parts(part, depth + 1, look_into)

    def _is_users(self, value: Any) -> bool:
        kind = type(value)
        if kind not in self._classes:
            module = sys.modules.get(kind.__module__)
            path = getattr(module, "__file__", None) or ""
            own = bool(path) and not is_library(path) or kind.__module__ == "__main__"
            keras = any(
                base.__module__.startswith(("keras", "tf_keras", "tensorflow")) for base in kind.__mro__
            )
            self._classes[kind] = kind.__name__ in ("SimpleNamespace", "Namespace") or own and not keras
        return self._classes[kind] and hasattr(value, "__dict__")

    def key(self, value: Any) -> int:
        """Return a number for an object that no other object gets, also when its memory is used again."""
        number, held = self._keys.get(id(value), (0, None))
        if number:
            alive = held() if isinstance(held, weakref.ref) else held
            if alive is value:
                return number
        held = value
        if not is_dataset(value):
            with suppress(TypeError):  # a list: it is kept, so that its id stays its own
                held = weakref.ref(value)
        self._numbers += 1
        self._keys[id(value)] = self._numbers, held
        self._held[self._numbers] = held
        return self._numbers

    def object(self, key: int) -> Any:
        """Return the object of a key; None if the program has let it go."""
        held = self._held.get(key)
        return held() if isinstance(held, weakref.ref) else held

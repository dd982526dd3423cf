"""Walks back from a value to the expression that first gave it the aspect a finding is about."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator
from typing import Any

from fitdoctor.collect.aspects import is_data, is_dataset, same_aspect
from fitdoctor.records import dataclass, replace
from fitdoctor.runner.noted_code import FUNCTIONS, Site
from fitdoctor.runner.value_history import History, Seen, Step

MOST_STEPS = 60
_MOST_PIECES = 40
_MOST_ELEMENTS = 2000
_OF_SHAPES = ("rank", "shape", "dtype")
"""Aspects that data read from elsewhere just has: only an operation that gives it to data without it is a mistake."""
_SPLITS = ("train_test_split", "sample", "head", "tail", "take")
_CHOSEN_BY_CALLERS = ("empty", "shape", "rank")
"""Aspects that follow from a number or a word passed to a function."""


@dataclass(frozen=True)
class Question:
    """An argument of the call, and the aspect of it that is wrong."""

    argument: str
    aspect: str
    wanted: Any
    """The aspect as it was in the first run."""
    last: bool = False
    """Of several operands, follow the last one: labels come after features."""


@dataclass(frozen=True, eq=False)
class Place:
    """A value on its path, and what is known about it there."""

    seen: Seen
    sample: bool = False
    """It is one element of a list that became an array."""
    columns: frozenset[Any] | None = None
    """The columns of a table that matter."""
    wanted: Any = None
    """The aspect here; None while it is the one that reached `fit`."""


@dataclass(frozen=True, eq=False)
class Trail:
    """The expressions from the one nearest to `fit` back to the first bad one."""

    steps: tuple[Step, ...]
    blamed: Site
    """The expression to change: the first bad one, or the call of the function that it is in."""


def origin(history: History, value: Any, index: int, question: Question) -> Trail | None:
    """Return where a value got an aspect; None if that was not seen, or is not sure.

    Args:
        history: what was noted.
        value: the value that reached `fit`.
        index: the position of the question's aspect among those that were noted.
        question: the aspect.
    """
    return _Walk(history, index, question).trail(value)


class _Walk:
    def __init__(self, history: History, index: int, question: Question) -> None:
        self._history = history
        self._index = index
        self._question = question
        self._aspect = question.aspect

    def trail(self, value: Any) -> Trail | None:
        steps: list[Step] = []
        places: list[Place] = []
        place: Place | None = Place(self._history.seen(value))
        before = float("inf")
        while place is not None and len(steps) < MOST_STEPS:
            step = self._maker(place, before)
            if step is None:
                return None
            steps.append(step)
            places.append(place)
            place, before = self._operand(step, place), step.order
        if len(steps) == MOST_STEPS:
            return None
        return self._chosen(steps, places)

    # --- the walk -------------------------------------------------------------------------------------------------

    def _maker(self, place: Place, before: float) -> Step | None:
        """Return the step at which a value got the aspect: the one that made it, or changed it in place."""
        steps = [step for step in self._history.steps.get(place.seen.key, ()) if step.order < before]
        found: Step | None = None
        for step in reversed(steps):
            if not self._passes(step.made) and not self._has(replace(place, seen=step.made)):
                break
            found = step
        if found is not None or not steps:
            return found
        # It changed after it was last looked at, late in a loop: by the statement that changes it there.
        return next((step for step in reversed(steps) if step.in_place), None)

    def _operand(self, step: Step, place: Place) -> Place | None:
        """Return the operand that the aspect came from; None at the first bad expression."""
        operands = step.operands[::-1] if self._question.last else step.operands
        others = [each for each in operands if each.key != step.made.key and self._counts(each)]
        for seen in others:
            following = self._with_columns(replace(place, seen=seen), step.made)
            if self._has(following):
                return following
            if self._is_part(step, following):
                return replace(following, wanted=self._in_column(following))
        for seen in others:
            if self._passes(seen):
                return replace(place, seen=seen)
        found = self._element(step, others)
        return self._behind(step) if found is None and self._aspect == "own-scale" else found

    def _behind(self, step: Step) -> Place | None:
        """Return what a value was made from piece by piece, such as the series that is cut into windows."""
        waiting, known = list(step.operands), {step.made.key}
        while waiting and len(known) < _MOST_PIECES:
            seen = waiting.pop(0)
            if seen.key in known:
                continue
            known.add(seen.key)
            if self._has(Place(seen)) and seen.key in self._history.steps:
                return Place(seen)
            waiting += [each for made in self._history.steps.get(seen.key, ()) for each in made.operands]
            pieces = _elements(self._history.object(seen.key))
            waiting += [self._history.seen(piece) for piece in itertools.islice(pieces, 2)]
        return None

    def _element(self, step: Step, operands: list[Seen]) -> Place | None:
        """Return an element of a list with the aspect, if the list itself has no such aspect."""
        lists = [step.made] if self._has(Place(step.made)) else []
        for seen in (*lists, *operands):
            for element in _elements(self._history.object(seen.key)):
                part = Place(self._history.seen(element), sample=True)
                if (
                    part.seen.key != step.made.key
                    and self._has(part)
                    and part.seen.key in self._history.steps
                ):
                    return part
        return None

    def _has(self, place: Place) -> bool:
        found = place.seen.aspects[self._index]
        if found is None:
            return False
        if isinstance(found, dict):
            return bool(self._columns(place))
        return same_aspect(self._aspect, place.wanted or self._question.wanted, found, sample=place.sample)

    def _is_part(self, step: Step, place: Place) -> bool:
        """Whether a step picks some of the rows of data with a larger range, which is wrong at the same end."""
        picks = isinstance(step.site.node, ast.Subscript) or _called(step.site.node) in _SPLITS
        found = self._in_column(place)
        if not picks or self._aspect not in ("range", "scale") or found is None:
            return False
        return same_aspect(self._aspect, place.wanted or self._question.wanted, found, part=True)

    def _with_columns(self, place: Place, made: Seen) -> Place:
        """Return a place with the columns of a table that a value was made from: of a column, the one of its name."""
        found = place.seen.aspects[self._index]
        if not isinstance(found, dict):
            return place
        if place.columns is None and made.column is not None:
            table = self._history.object(place.seen.key)  # `pop` has taken the column out by now
            if made.column in found or table is None or made.column in table:
                return replace(place, columns=frozenset([made.column]))
        return replace(place, columns=self._columns(place) or place.columns)

    def _columns(self, place: Place) -> frozenset[Any]:
        """Return the columns of a table that have the aspect, among those that matter."""
        wanted = place.wanted or self._question.wanted
        return frozenset(
            name
            for name, found in place.seen.aspects[self._index].items()
            if (place.columns is None or name in place.columns) and same_aspect(self._aspect, wanted, found)
        )

    def _in_column(self, place: Place) -> Any:
        """Return the aspect of a value; of a table, that of the only column that matters."""
        found = place.seen.aspects[self._index]
        if not isinstance(found, dict):
            return found
        names = found.keys() if place.columns is None else found.keys() & place.columns
        return found[next(iter(names))] if len(names) == 1 else None

    def _passes(self, seen: Seen) -> bool:
        """Whether a value has no aspect of its own, but passes data on, as a `tf.data.Dataset` does."""
        return is_dataset(self._history.object(seen.key))

    def _counts(self, seen: Seen) -> bool:
        """Whether an operand is data; a tuple of numbers is the shape of something, not its content."""
        return type(self._history.object(seen.key)) is not tuple or self._aspect == "objects"

    # --- what to change -------------------------------------------------------------------------------------------

    def _chosen(self, steps: list[Step], places: list[Place]) -> Trail | None:
        if self._passes(steps[-1].made):
            return None  # the pipeline itself made it so
        if self._aspect in _OF_SHAPES and not self._introduced(steps[-1]) and not _sized(steps[-1].site.node):
            whole = sum(not place.sample for place in places)
            if whole == len(steps):
                return None
            steps = steps[:whole]
        if self._aspect == "objects" and len(steps) > 1 and self._is_raw(steps[-1]):
            # Text is what files contain: the mistake is to make an array of it as it is.
            arrays = [
                i for i, step in enumerate(steps[:-1]) if not isinstance(step.made.aspects[self._index], dict)
            ]
            steps = steps[: arrays[-1] + 1] if arrays else steps[:-1]
        drawn = isinstance(steps[-1].site.node, ast.Call) and self._is_raw(steps[-1])
        if self._aspect == "range" and self._question.last and drawn:
            # Classes are numbered as the table has them: the mistake is to take the column as it is.
            tables = (i for i, step in enumerate(steps) if isinstance(step.made.aspects[self._index], dict))
            steps = steps[: next(tables, 0)] or steps
        if self._aspect == "scale":
            # Raw data has its own scale: the mistake is to convert it for the model and leave the scale as it is.
            at = next((i for i, step in enumerate(steps) if _converts(step.site.node)), len(steps) - 1)
            steps = steps[: at + 1]
            return Trail(tuple(steps), steps[-1].site)
        root = steps[-1]
        scalar = self._returned(root)
        site = scalar if scalar is not None else root.site
        return Trail(tuple(steps), self._call_of(root) or site)

    def _introduced(self, step: Step) -> bool:
        """Whether the operands were in order."""
        return any(each.is_data and each.key != step.made.key for each in step.operands)

    def _is_raw(self, step: Step) -> bool:
        """Whether a step only reads or draws text: from a file, or from a list of words."""
        given = [each for each in step.operands if each.is_data and each.key != step.made.key]
        plain = all(_is_plain_list(self._history.object(each.key)) for each in given)
        return plain and type(self._history.object(step.made.key)) is not list

    def _returned(self, step: Step) -> Site | None:
        """Return the expression of a user's function whose numbers, one per element, filled a list."""
        called = _element_call(step.site.node)
        if called is None or self._aspect in _OF_SHAPES:
            return None
        first, last = step.site.node.lineno, step.site.node.end_lineno or 0
        for number, returns in self._history.scalars.items():
            site = self._history.sites.sites[number]
            if site.function is None or site.function.name != called:
                continue
            values = [
                value
                for callers, value in returns
                if callers and callers[0][0] == step.site.path and first <= callers[0][1] <= last
            ]
            whole = self._question.wanted
            if values and any(
                same_aspect(self._aspect, whole, each) for each in _aspects_of(values, self._aspect)
            ):
                return site
        return None

    def _call_of(self, step: Step) -> Site | None:
        """Return the call of the function that the first bad expression is in, if that is what to change."""
        function = step.site.function
        if function is None or not step.callers:
            return None
        call = call_at(self._history, step.callers[0], function.name)
        if call is None:
            return None
        generic = self._aspect == "fractions" and self._takes_numbers(step) or self._works_elsewhere(step)
        if (
            generic
            or self._aspect in _CHOSEN_BY_CALLERS
            and _passes_literal(call.node, step.site.node, function)
        ):
            return call
        return None

    def _takes_numbers(self, root: Step) -> bool:
        """Whether the numbers come from outside the function; one that gets text makes its numbers itself."""
        waiting, known = [root], set()
        while waiting:
            for each in waiting.pop().operands:
                if not each.is_data or each.key in known:
                    continue
                known.add(each.key)
                made = [
                    step
                    for step in self._history.steps.get(each.key, ())
                    if step.site.function is root.site.function
                ]
                table = hasattr(self._history.object(each.key), "columns")
                if not made and (table or each.aspects[self._index] is not None):
                    return True
                waiting += made
        return False

    def _works_elsewhere(self, step: Step) -> bool:
        """Whether the same expression, called from another line, gave the aspect to no data."""
        others = [
            other
            for other in self._history.at.get(step.site.number, ())
            if other.callers and other.callers[0] != step.callers[0]
        ]
        return any(
            not self._has(Place(other.made)) or any(self._has(Place(each)) for each in other.operands)
            for other in others
            if other.made.aspects[self._index] is not None
        )


def call_at(history: History, place: tuple[str, int], name: str) -> Site | None:
    """Return the only call of a function by this name in a line."""
    path, line = place
    found = [
        site
        for site in history.sites.sites
        if site.path == path
        and isinstance(site.node, ast.Call)
        and site.node.lineno <= line <= (site.node.end_lineno or 0)
        and _called(site.node) == name
    ]
    return found[0] if len(found) == 1 else None


def _is_plain_list(value: Any) -> bool:
    """Whether it is a list of words or numbers, such as names to draw from and their shares."""
    return type(value) in (list, tuple) and all(type(item) in (str, int, float, type(None)) for item in value)


def _elements(value: Any) -> Iterator[Any]:
    if type(value) in (list, tuple):
        for element in value[:_MOST_ELEMENTS]:
            if is_data(element):
                yield element


def _aspects_of(values: list[Any], aspect: str) -> list[Any]:
    from fitdoctor.collect.aspects import aspect_of

    return [aspect_of(values, aspect)]


def _called(node: ast.AST) -> str:
    function = getattr(node, "func", None)
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def _sized(node: ast.AST) -> bool:
    """Whether an expression makes an array of a size that it is told, to be filled."""
    return isinstance(node, ast.Call) and _called(node) in ("zeros", "ones", "empty", "full", "eye")


def _converts(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and _called(node) in ("astype", "asarray", "array", "cast", "float32")


def _element_call(node: ast.AST) -> str | None:
    """Return the name of the function whose result is each element: `[rank(name) for …]`, `rows.append(rank(name))`."""
    if isinstance(node, (ast.Call, ast.Return)):
        inside = node.args if isinstance(node, ast.Call) else [node.value]
        return next((found for each in inside if each is not None and (found := _element_call(each))), None)
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and node.value.args:
        element: ast.AST = node.value.args[-1]
    elif isinstance(node, (ast.ListComp, ast.GeneratorExp)):
        element = node.elt
    else:
        return None
    return _called(element) if isinstance(element, ast.Call) else None


def _passes_literal(call: ast.AST, bad: ast.AST, function: Any) -> bool:
    """Whether a call passes a number or word, as written there, that the bad expression reads."""
    assert isinstance(call, ast.Call)
    assert isinstance(function, FUNCTIONS)
    names = [each.arg for each in (*function.args.posonlyargs, *function.args.args)]
    if names[:1] in (["self"], ["cls"]) and isinstance(call.func, ast.Attribute):
        names = names[1:]
    given: dict[str | None, ast.expr] = {each.arg: each.value for each in call.keywords}
    given.update(zip(names, call.args, strict=False))
    literals = {name for name, value in given.items() if isinstance(value, (ast.Constant, ast.UnaryOp))}
    return any(isinstance(each, ast.Name) and each.id in literals for each in ast.walk(bad))

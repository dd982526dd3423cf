"""Notes, line by line, which data the user's own code binds, changes, passes and returns; only in a second run."""

from __future__ import annotations

import ast
import sys
import time
import weakref
from collections.abc import Callable, Iterator
from types import FrameType, ModuleType
from typing import Any

from fitdoctor.collect.aspects import aspect_of, is_data, is_dataset
from fitdoctor.failure.frames import is_library
from fitdoctor.records import dataclass
from fitdoctor.runner.first_bad_line import Seen, Step, Steps

MOST_EXECUTIONS = 30
"""How often one statement is noted: later passes of a loop do the same."""
MOST_STEPS = 50_000
MOST_SECONDS = 10.0
"""How long looking at the data may take altogether."""
_MOST_INSIDE = 32
"""How many members of a dict or object are looked at."""

_NOT_THERE = object()


class TooSlow(Exception):
    """Looking at the data takes too long."""


@dataclass(frozen=True, eq=False)
class _Statement:
    line: int
    reads: tuple[ast.expr, ...]
    targets: tuple[ast.expr, ...]
    changed: tuple[ast.expr, ...]
    """What it may change in place."""
    returns: bool


@dataclass(eq=False)
class _Pending:
    """A statement that runs now, in one frame."""

    statement: _Statement
    path: str
    operands: tuple[Seen, ...]


class LineTracer:
    """Traces the lines of the user's files; `steps` is what it noted."""

    def __init__(self, aspects: tuple[str, ...], give_up: Callable[[], None], *, lists: bool = False) -> None:
        """Trace for some aspects of data.

        Args:
            aspects: their names.
            give_up: ends the run where tracing fails or takes too long; it does not return.
            lists: whether lists have aspects, too; else the first array that is made of them counts.
        """
        self.steps = Steps()
        self._aspects = aspects
        self._give_up = give_up
        self._lists = lists
        self._files: dict[str, dict[int, _Statement] | None] = {}
        self._counts: dict[_Statement, int] = {}
        self._pending: dict[FrameType, _Pending] = {}
        self._keys: dict[int, tuple[int, Any]] = {}
        self._orders = self._numbers = 0
        self._seconds = 0.0
        self._classes: dict[type, bool] = {}

    def start(self) -> None:
        """Trace this thread from here on."""
        sys.settrace(self._called)

    # --- events ---------------------------------------------------------------------------------------------------

    def _called(self, frame: FrameType, event: str, argument: Any) -> Any:
        """For `sys.settrace`: follow the user's functions only."""
        code = frame.f_code
        path = code.co_filename
        if path not in self._files:
            self._files[path] = None if is_library(path) else _statements(path)
        if self._files[path] is None or code.co_name in (
            "<listcomp>",
            "<dictcomp>",
            "<setcomp>",
            "<genexpr>",
        ):
            return None
        try:
            self._passed(frame)
        except Exception:
            self._give_up()
        return self._line

    def _line(self, frame: FrameType, event: str, argument: Any) -> Any:
        try:
            self._event(frame, event, argument)
        # An exception in here would become the program's.
        except Exception:
            self._give_up()
        return self._line

    def _event(self, frame: FrameType, event: str, argument: Any) -> None:
        if event == "line":
            statements = self._files[frame.f_code.co_filename]
            assert statements is not None
            statement = statements.get(frame.f_lineno)
            pending = self._pending.get(frame)
            if pending is not None:
                if pending.statement is statement and frame.f_lineno != statement.line:
                    return  # a further line of the same statement
                self._finish(frame, pending)
            if statement is not None:
                self._begin(frame, statement)
        elif event == "return":
            pending = self._pending.pop(frame, None)
            if pending is not None:
                self._finish(frame, pending)
                if pending.statement.returns and argument is not None:
                    self._note(pending, argument)
        elif event == "exception":
            self._pending.pop(frame, None)

    def _begin(self, frame: FrameType, statement: _Statement) -> None:
        count = self._counts.get(statement, 0)
        self._counts[statement] = count + 1
        if count >= MOST_EXECUTIONS or len(self.steps) >= MOST_STEPS:
            self._pending.pop(frame, None)
            return
        operands = tuple(seen for value in _values(statement.reads, frame) for seen in self._seen(value))
        self._pending[frame] = _Pending(statement, frame.f_code.co_filename, operands)

    def _finish(self, frame: FrameType, pending: _Pending) -> None:
        for value in _values(pending.statement.targets, frame):
            self._note(pending, value)
        for value in _values(pending.statement.changed, frame):
            self._note(pending, value, in_place=True)

    def _passed(self, frame: FrameType) -> None:
        """Note the arguments of a user's function at the line of its caller."""
        pending = self._pending.get(frame.f_back) if frame.f_back is not None else None
        if pending is None:
            return
        code = frame.f_code
        count = code.co_argcount + code.co_kwonlyargcount
        if count:
            local = frame.f_locals
            for name in code.co_varnames[:count]:
                if name not in ("self", "cls") and name in local:
                    self._note(pending, local[name])

    def given(self, frame: FrameType | None, values: list[Any]) -> None:
        """Note what the statement that a user's frame runs now passes to a library."""
        pending = self._pending.get(frame) if frame is not None else None
        if pending is not None:
            for value in values:
                self._note(pending, value)

    # --- values ---------------------------------------------------------------------------------------------------

    def _note(self, pending: _Pending, value: Any, in_place: bool = False) -> None:
        for made in self._seen(value):
            self._orders += 1
            self.steps.add(
                Step(self._orders, pending.path, pending.statement.line, made, pending.operands, in_place)
            )

    def _seen(self, value: Any) -> Iterator[Seen]:
        for part in self._parts(value, 0):
            if is_dataset(part):
                yield Seen(self.key(part), None, passes_on=True)
            else:
                yield Seen(self.key(part), self.aspects(part))

    def aspects(self, value: Any) -> tuple[Any, ...]:
        """Return the aspects of a value that are asked for.

        Raises:
            TooSlow: there is too much data to look at.
        """
        if type(value) in (list, tuple) and not self._lists:
            return (None,) * len(self._aspects)
        if self._seconds > MOST_SECONDS:
            raise TooSlow
        began = time.perf_counter()
        found = tuple(aspect_of(value, name) for name in self._aspects)
        self._seconds += time.perf_counter() - began
        return found

    def _parts(self, value: Any, depth: int) -> Iterator[Any]:
        """Yield the data in a value: itself, or what a dict, tuple or object of the user's holds."""
        if is_data(value):
            yield value
            inside = value if type(value) in (list, tuple) and len(value) <= 8 else ()
        elif is_dataset(value):
            yield value
            return
        elif isinstance(value, dict):
            inside = list(value.values())[:_MOST_INSIDE]
        elif self._is_users(value):
            inside = list(vars(value).values())[:_MOST_INSIDE]
        else:
            inside = list(value) if isinstance(value, tuple) and len(value) <= 8 else ()
        if depth < 2:
            for part in inside:
                yield from self._parts(part, depth + 1)

    def _is_users(self, value: Any) -> bool:
        kind = type(value)
        if kind not in self._classes:
            module = sys.modules.get(kind.__module__)
            path = getattr(module, "__file__", None) or ""
            plain = kind.__name__ in ("SimpleNamespace", "Namespace")
            own = (
                bool(path)
                and not is_library(path)
                and not any(
                    base.__module__.startswith(("keras", "tf_keras", "tensorflow")) for base in kind.__mro__
                )
            )
            self._classes[kind] = plain or own
        return (
            self._classes[kind] and hasattr(value, "__dict__") and not isinstance(value, (type, ModuleType))
        )

    def key(self, value: Any) -> int:
        """Return a number for an object that no other object gets, also when its memory is used again."""
        number, held = self._keys.get(id(value), (0, None))
        if number:
            alive = held() if isinstance(held, weakref.ref) else held
            if alive is value:
                return number
        try:
            held = weakref.ref(value)
        except TypeError:  # a list: it is kept, so that its id stays its own
            held = value
        self._numbers += 1
        self._keys[id(value)] = self._numbers, held
        return self._numbers


# --- the source -----------------------------------------------------------------------------------------------------


def _statements(path: str) -> dict[int, _Statement] | None:
    """Return the statements of a file by their lines; of a loop or `with`, its first lines."""
    try:
        with open(path, "rb") as file:
            tree = ast.parse(file.read(), path)
    except (OSError, SyntaxError, ValueError, RecursionError):
        return None
    found: dict[int, _Statement] = {}
    for node in ast.walk(tree):
        if not isinstance(node, ast.stmt) or isinstance(
            node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
        ):
            continue
        body = getattr(node, "body", None)
        last = node.end_lineno or node.lineno
        if isinstance(body, list) and body:
            last = max(body[0].lineno - 1, node.lineno)
        statement = _read(node)
        for line in range(node.lineno, last + 1):
            found[line] = statement
    return found


def _read(node: ast.stmt) -> _Statement:
    targets: list[ast.expr] = []
    values: list[ast.AST] = []
    changed: list[ast.expr] = []
    if isinstance(node, ast.Assign):
        targets, values = [*node.targets], [node.value]
    elif isinstance(node, ast.AnnAssign):
        targets, values = [node.target], [node.value] if node.value is not None else []
    elif isinstance(node, ast.AugAssign):
        targets, values = [node.target], [node.target, node.value]
    elif isinstance(node, (ast.For, ast.AsyncFor)):
        targets, values = [node.target], [node.iter]
    elif isinstance(node, (ast.With, ast.AsyncWith)):
        targets = [item.optional_vars for item in node.items if item.optional_vars is not None]
        values = [item.context_expr for item in node.items]
    elif isinstance(node, (ast.If, ast.While)):
        values = [node.test]
    elif isinstance(node, (ast.Expr, ast.Return)) and node.value is not None:
        values = [node.value]
    reads = [path for value in values for path in _paths(value)]
    flat = [part for target in targets for part in _flat(target)]
    for part in flat:
        if isinstance(part, ast.Subscript):
            changed.append(part.value)
            reads.append(part.value)
    if isinstance(node, ast.Expr):
        # `rows.append(row)`, `rng.shuffle(x)`: what it reads it may change.
        changed.extend(reads)
    names = tuple(part for part in flat if not isinstance(part, ast.Subscript) or _is_key(part.slice))
    return _Statement(node.lineno, tuple(reads), names, tuple(changed), isinstance(node, ast.Return))


def _flat(target: ast.expr) -> Iterator[ast.expr]:
    if isinstance(target, (ast.Tuple, ast.List)):
        for part in target.elts:
            yield from _flat(part)
    else:
        yield target.value if isinstance(target, ast.Starred) else target


def _is_key(node: ast.expr) -> bool:
    return isinstance(node, (ast.Constant, ast.Name))


def _paths(node: ast.AST) -> Iterator[ast.expr]:
    """Yield the names, attributes and items that an expression reads."""
    if isinstance(node, ast.Name):
        yield node
    elif isinstance(node, (ast.Attribute, ast.Subscript)):
        if _root(node) is not None:
            yield node
        else:
            yield from _paths(node.value)
        if isinstance(node, ast.Subscript):
            yield from _paths(node.slice)
    elif not isinstance(node, ast.Lambda):
        for child in ast.iter_child_nodes(node):
            yield from _paths(child)


def _root(node: ast.expr) -> str | None:
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None


def _values(paths: tuple[ast.expr, ...], frame: FrameType) -> list[Any]:
    """Return the values of names, attributes and items in a frame, each once."""
    if not paths:
        return []
    local, outer = frame.f_locals, frame.f_globals
    found: dict[int, Any] = {}
    for path in paths:
        value = _value(path, local, outer)
        if (
            value is not _NOT_THERE
            and value is not None
            and not isinstance(value, (ModuleType, str, int, float))
        ):
            found.setdefault(id(value), value)
    return list(found.values())


def _value(node: ast.expr, local: Any, outer: Any) -> Any:
    """Return the value of a path as far as it can be read without running the user's code."""
    if isinstance(node, ast.Name):
        return local[node.id] if node.id in local else outer.get(node.id, _NOT_THERE)
    if isinstance(node, ast.Attribute):
        owner = _value(node.value, local, outer)
        if owner is _NOT_THERE:
            return owner
        inside = getattr(owner, "__dict__", None)
        if isinstance(owner, tuple) and hasattr(type(owner), "_fields"):
            return getattr(owner, node.attr, owner)  # a named tuple
        return inside[node.attr] if isinstance(inside, dict) and node.attr in inside else owner
    assert isinstance(node, ast.Subscript)
    owner = _value(node.value, local, outer)
    if type(owner) not in (dict, list, tuple):
        return owner
    key = node.slice.value if isinstance(node.slice, ast.Constant) else _NOT_THERE
    if isinstance(node.slice, ast.Name):
        key = _value(node.slice, local, outer)
    try:
        return owner[key] if type(key) in (str, int) else owner
    except (KeyError, IndexError):
        return owner

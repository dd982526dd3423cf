"""A small abstract interpreter that follows a file as Python would run it.

What it cannot follow is Unknown: names that differ between branches, objects passed to unknown code, loops of
unknown length. It never runs the user's code.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from fitdoctor.diagnosis import Location
from fitdoctor.facts import Code, Unknown
from fitdoctor.records import replace
from fitdoctor.source.interpreter import calls, expressions, row_history, statements
from fitdoctor.source.interpreter.library import library_name
from fitdoctor.source.interpreter.state import Control, State
from fitdoctor.source.interpreter.values import (
    UNTOLD,
    Arguments,
    Array,
    Class,
    Event,
    Function,
    Items,
    ListRecord,
    Made,
    Mapping,
    ModelRecord,
    Numbers,
    Plain,
    Record,
    Ref,
    Symbolic,
    Value,
)
from fitdoctor.source.model_use import functions_with_models
from fitdoctor.source.module import ClassInfo, Module
from fitdoctor.source.work_budget import spend

if TYPE_CHECKING:
    from typing import Protocol

    from fitdoctor.facts import LayerFacts
    from fitdoctor.source.interpreter.other_files import Followed
    from fitdoctor.source.models.refusals import Failure
else:
    Protocol = object

MOST_TICKS = 120_000
"""Maximum number of expressions and statements evaluated per file."""
MOST_UNROLLED_TICKS = 8_000
"""A loop that exceeds this budget is followed once for all iterations together."""
LONGEST_UNROLLED = 2500
"""Maximum number of loop iterations followed one by one."""


_LOST = ListRecord(None)
"""Placeholder for a forgotten object."""


class OutOfBudget(Exception):
    """The file takes too long to follow; findings so far are kept."""


class Listener(Protocol):
    """Receives events while a file is interpreted."""

    def fit(self, run: Interpreter, model: Ref, method: str, arguments: Arguments) -> None:
        """A call of fit, evaluate, predict, … on a model."""

    def refusal(self, run: Interpreter, failure: Failure) -> None:
        """A layer that would reject its input."""

    def spread(
        self, run: Interpreter, node: ast.BinOp, tensor: Symbolic, data: tuple[ast.expr, Array]
    ) -> None:
        """Under a tape, `tensor - data` (or the reverse) of (n, 1) and (n,), which is (n, n)."""


class Interpreter:
    """One run over a file, with its state."""

    def __init__(self, module: Module, listener: Listener) -> None:
        self.home = module
        """The file being judged."""
        self.module = module
        """The file being followed, which may be another one."""
        self.imports: dict[Module, Followed] = {}
        self.listener = listener
        self.state = State()
        self.parents: dict[int, int | None] = {}
        self.shared_names: dict[int, dict[str, int]] = {}
        """Names that `global` or `nonlocal` moves to another frame."""
        self.frame = self.new_frame(None)
        self.trained = self.new_frame(None)
        """Optimizers that have trained a model on this path, with those models."""
        self.optimizers: list[Made] = []
        self.control: list[Control] = [Control()]
        self.active: list[ast.AST] = []
        """The functions being followed, outermost first."""
        self.entered: set[ast.AST] = set()
        """The functions that were followed at least once."""
        self.defaults: dict[ast.AST, tuple[tuple[Value, ...], tuple[tuple[str, Value], ...]]] = {}
        self.class_values: dict[ast.AST, dict[str, Value]] = {}
        self.ticks = 0
        self._unrolling = 0
        self._unrolled_from = 0
        self.too_long: set[tuple[ast.stmt, int, int]] = set()
        """Loops that cannot be followed one iteration at a time, with the iterations and the loops around them."""
        self.rounds: dict[ast.stmt, int] = {}
        """The iterations of each loop over a `range`, as it was followed last."""
        self.numbers = 0
        self.trial = 0
        """Above zero while a loop body is tried; nothing is reported then."""
        self.expecting_failure = 0
        """Above zero inside `pytest.raises` and the like."""
        self.followed_alone = False
        """Whether a function is followed that the program, set as it is, does not call."""
        self.strategies: list[str] = []
        self.tapes = 0
        """Above zero inside `with tf.GradientTape()`."""
        self.archive: dict[int, Record] = {}
        """Every object ever created, in its last known state."""
        self.crashes: list[str] = []
        self.finished: dict[Ref, LayerFacts] | None = None
        """The facts of layers that were asked for since the file was followed to its end; None before that."""
        self.loops: list[int] = []
        """For each loop of unknown length that is being followed: the last number that was used before it."""
        self.options: dict[ast.AST, tuple[tuple[str, Value], ...]] = {}
        """The options of a command line with their defaults, by the call that made the parser."""
        self.classes: dict[ast.AST, int | None] = {}
        """Number of classes per fitted encoder, by the call that created it; None if unknown."""
        self.layer_names: dict[str, int] = {}
        self.fitted: dict[int, Event] = {}
        """The last fit of each encoder, by its identity."""
        self.drawn: dict[str, int] = {}
        """When each random order was first drawn, by its mark."""
        self.seeds: dict[object, tuple[str, int]] = {}
        """Each source of random numbers: what it was seeded with last, and the orders drawn since."""
        self.plain_defaults = True
        """Whether Keras's global settings (float dtype, channel order) are the defaults."""

    # --- names ------------------------------------------------------------------------------------------------------

    def new_frame(self, parent: int | None) -> int:
        """A frame for names, inside another one."""
        number = len(self.parents)
        self.parents[number] = parent
        self.state.frames[number] = {}
        return number

    def lookup(self, name: str) -> Value | None:
        """Return the current value of a name; None if no followed statement bound it."""
        frame: int | None = self.frame
        while frame is not None:
            names = self.state.frames.get(frame)
            if names is not None and name in names:
                return names[name]
            frame = self.parents[frame]
        return None

    def assign(self, name: str, value: Value) -> None:
        """Bind a name in the frame it belongs to."""
        frame = self.shared_names.get(self.frame, {}).get(name, self.frame)
        # the program can write to it from here, so it needs its own memory
        self.state.names(frame)[name] = self.settled(value)

    def forget(self, name: str) -> None:
        """Bind a name to an unknown value."""
        frame = self.shared_names.get(self.frame, {}).get(name, self.frame)
        if name in self.state.frames.get(frame, ()):
            del self.state.names(frame)[name]

    def resolve(self, node: ast.AST) -> str:
        """Return the library name of a name or attribute; "" if a followed statement bound its root."""
        root = node
        while isinstance(root, ast.Attribute):
            root = root.value
        if not isinstance(root, ast.Name) or self.lookup(root.id) is not None:
            return ""
        return library_name(self.module.resolve(node))

    # --- mutable things ---------------------------------------------------------------------------------------------

    def allocate(self, record: Record) -> Ref:
        """Put a new mutable object on the heap."""
        ref = Ref(self.fresh())
        self.update(ref, record)
        return ref

    def record(self, ref: Ref) -> Record:
        """Return the current state of a mutable object."""
        return self.state.heap.get(ref.id, _LOST)

    def update(self, ref: Ref, record: Record) -> None:
        """Update a mutable object."""
        self.state.heap[ref.id] = record
        if not self.trial:
            self.archive[ref.id] = record

    def fresh(self) -> int:
        """Return a fresh number."""
        self.numbers += 1
        return self.numbers

    def model(self, value: Value) -> ModelRecord | None:
        """The model that a value refers to."""
        if isinstance(value, Ref):
            record = self.record(value)
            return record if isinstance(record, ModelRecord) else None
        return None

    def touch(self, arguments: Arguments) -> None:
        """Pass arguments to unknown code, which may change them."""
        for value in (*arguments.positional, *(value for _, value in arguments.keywords)):
            self.state.touch(value)

    # --- values -----------------------------------------------------------------------------------------------------

    def settled(self, value: Value) -> Value:
        """Return the current value; memory that was written to has unknown content."""
        if isinstance(value, Array):
            return self._settled_array(value)
        if isinstance(value, Items):
            return Items(tuple(self.settled(item) for item in value.items))
        if isinstance(value, Mapping):
            return Mapping(tuple((key, self.settled(item)) for key, item in value.items))
        return value

    def _settled_array(self, array: Array) -> Array:
        if array.buffer == 0:
            return replace(array, buffer=self.fresh())
        if array.buffer not in self.state.written:
            return array
        dims, dtype = array.dims, array.dtype
        if -array.buffer in self.state.written:
            dims = UNTOLD
        elif array.container == "pandas.DataFrame":
            # rows and columns of a table can be added or dropped in place
            dims, dtype = (UNTOLD, UNTOLD), UNTOLD
        return replace(
            array,
            dims=dims,
            dtype=dtype,
            history=row_history.overwritten(array.history),
            bounds=None,
            numbers=None,
            unit_rows=False,
            columns=None,
            kinds=None,
            fractions=False,
        )

    def sequence(self, value: Value | None) -> tuple[Value, ...] | None:
        """Return the items of a tuple, list or range; None if unknown."""
        if isinstance(value, Items):
            return value.items
        if isinstance(value, Numbers) and len(value.values) <= LONGEST_UNROLLED:
            return tuple(Plain(number) for number in value.values)
        if isinstance(value, Ref):
            record = self.record(value)
            return record.items if isinstance(record, ListRecord) else None
        return None

    def new_list(self, items: Iterable[Value], node: ast.expr | None = None) -> Ref:
        """A list on the heap."""
        return self.allocate(ListRecord(tuple(items), node))

    # --- following --------------------------------------------------------------------------------------------------

    def tick(self, work: int = 1) -> None:
        """Count an evaluated node, or other work in such units.

        Raises:
            OutOfBudget: the limit is reached.
        """
        self.ticks += work
        spend()
        if self.ticks > MOST_TICKS:
            raise OutOfBudget

    @contextmanager
    def unrolling(self) -> Iterator[None]:
        """Follow a loop one iteration at a time inside the block; nested loops share its budget."""
        if not self._unrolling:
            self._unrolled_from = self.ticks
        self._unrolling += 1
        try:
            yield
        finally:
            self._unrolling -= 1

    def may_unroll(self, before: int, done: int, rounds: int) -> bool:
        """Whether the outermost loop's budget suffices for the rest of a loop at the current pace.

        Args:
            before: the ticks when the loop began.
            done: the iterations followed since then.
            rounds: the total number of iterations.
        """
        rest = (self.ticks - before) / done * (rounds - done) if done else 0
        return not self.takes_long(self.ticks - self._unrolled_from + rest)

    def takes_long(self, ticks: float) -> bool:
        """Whether so much work is more than a loop may take one iteration at a time; less inside others, which repeat it."""
        return ticks > MOST_UNROLLED_TICKS >> len(self.loops)

    def evaluate(self, node: ast.expr) -> Value:
        """Return the value of an expression."""
        return expressions.evaluate(self, node)

    def execute(self, body: list[ast.stmt]) -> bool:
        """Follow statements; False if control does not reach the next one."""
        return statements.execute(self, body)

    def call(self, callee: Value, arguments: Arguments) -> Value:
        """Call something."""
        return calls.call(self, callee, arguments)

    # --- places -----------------------------------------------------------------------------------------------------

    def code(self, node: ast.AST | None) -> Code | Unknown:
        """The source of a node."""
        return Unknown("not evident from the source") if node is None else self.owner(node).code(node)

    def location(self, node: ast.AST) -> Location:
        """Where a node stands."""
        return self.owner(node).location(node)

    def owner(self, node: ast.AST) -> Module:
        """Return the file that contains a node."""
        for module in (self.module, self.home, *self.imports):
            if node in module.index.parents:
                return module
        return self.module

    def class_info(self, node: ast.ClassDef) -> ClassInfo:
        """What is known about a class of the project."""
        return self.owner(node).class_info(node)

    def ancestry(self, node: ast.ClassDef) -> tuple[ClassInfo, ...]:
        """Return the class and its user-defined bases, nearest first."""
        return self.module.ancestry(self.class_info(node))

    @property
    def strategy(self) -> str:
        """The distribution strategy in whose scope the program is now."""
        return self.strategies[-1] if self.strategies else ""

    @property
    def reporting(self) -> bool:
        """Whether events are reported at this point."""
        return self.trial == 0 and self.expecting_failure == 0


def run_module(module: Module, listener: Listener) -> Interpreter:
    """Follow a whole file: its statements, then the functions and classes that nothing calls."""
    run = Interpreter(module, listener)
    try:
        run.execute(module.tree.body)
        _follow_the_rest(run)
    except (OutOfBudget, RecursionError) as stopped:
        run.crashes.append(type(stopped).__name__)
    run.state.heap = {**run.archive, **run.state.heap}
    run.finished = {}
    return run


def _follow_the_rest(run: Interpreter) -> None:
    """Functions and methods with models that nothing in the file calls: their parameters are Unknown."""
    if not run.module.functions:
        return
    concerned = functions_with_models(run.module.project or run.module)
    # each may be called from a separate program, after others that set globals
    run.followed_alone = True
    run.state.frames[run.trained] = {}
    names = run.state.names(0)
    names.update(
        {name: UNTOLD for one in run.module.nodes(ast.Global) for name in one.names if name in names}
    )
    for info in run.module.functions:
        node = info.node
        if node in run.entered or isinstance(node, ast.Lambda) or info.owner is not None:
            continue
        if node not in concerned:
            continue
        if run.module.function_of(node) is not None:
            continue
        before = run.state.copy()
        calls.call_with_unknowns(run, Function(node, 0))
        run.state = before
    for info_of_class in run.module.classes:
        if info_of_class.kind in ("Layer", "Loss", "Metric", "Callback"):
            continue
        if concerned.isdisjoint(info_of_class.node.body):
            continue
        before = run.state.copy()
        calls.follow_class(run, Class(info_of_class.node, 0), concerned)
        run.state = before

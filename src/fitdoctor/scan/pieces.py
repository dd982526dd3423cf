"""Data in pieces, read and counted by several threads: what a source gives, and the loop that takes it in."""

from __future__ import annotations

import functools
import os
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

from fitdoctor.scan.blocks import ElementOf, add, no_element
from fitdoctor.scan.columns import ColumnTally, merged_columns
from fitdoctor.scan.shared_rows import RowMatch
from fitdoctor.scan.tally import Tally, merged

PIECE_BYTES = 8 << 20
"""How much a thread takes at a time."""
COUNTING_SHARE = 0.3
"""Beyond this share of the time that making pieces takes, counting is work for another thread."""


TABLE = -1
"""Stands for a component in a `Part` that holds the columns of x as 64-bit words, to be compared with one another."""


class CannotScan(ValueError):
    """The data cannot be read as asked; the message says why and what to do."""


class StartOver(Exception):
    """The source will give its data in another way, from the first row: what was counted does not stand."""


@dataclass(frozen=True)
class Component:
    """One array of the data, in the user's words."""

    path: str
    """`x`, `x['image']`, a column of a table."""
    part: str = "x"
    """`x`, `y` or `sample_weight`."""
    key: str = ""
    container: str = ""
    columns: tuple[str, ...] = ()
    """The names of its columns, where they have names."""


class Part(NamedTuple):
    """Rows of one component."""

    component: int
    array: Any
    row: int
    """The number of the first of them."""
    element: ElementOf = no_element
    seen: tuple[tuple[tuple[int | None, ...], str, int | None, int], ...] = ()
    """Shape, type, first number and count of the elements that they came in, as far as those are to be counted."""
    rows: int | None = None
    """How many rows they are, where the array does not tell (ragged and sparse data)."""


class Piece(NamedTuple):
    """Some rows of all components, or of one."""

    rows: int
    """What it adds to the progress."""
    load: Callable[[], list[Part]]
    """Runs in any thread; what it raises is told, and the other pieces go on."""


@dataclass(frozen=True)
class Problem:
    """Something that kept part of the data from being read."""

    what: str
    element: int | None = None
    """The element that raised, counted from 0."""
    fatal: bool = False
    """Nothing after it was read."""


class Source(Protocol):
    """Data that can be read piece by piece, once."""

    name: str
    form: str
    """As in `DataFacts.form`, or `file`."""
    components: tuple[Component, ...]
    rows: int | None
    """How many rows it has, where that is known: of the longest component."""
    problems: list[Problem]
    cut: bool
    """A limit kept it from being read to its end."""
    one_by_one: bool
    """Its pieces are made one after the other, by work that may take the processor's cores itself."""

    def pieces(self) -> Iterator[Piece]:
        """The data; asked for by one thread at a time."""


class Watcher(Protocol):
    """Receives the progress of a scan."""

    def begin(self, name: str, rows: int | None) -> None:
        """A source is about to be read."""

    def advance(self, rows: int) -> None:
        """Add to the number of rows counted."""

    def end(self) -> None:
        """The source was read."""


class Quiet:
    """A watcher that does nothing."""

    def begin(self, name: str, rows: int | None) -> None:
        """Do nothing."""

    def advance(self, rows: int) -> None:
        """Do nothing."""

    def end(self) -> None:
        """Do nothing."""


@dataclass
class Counted:
    """What came of reading a source."""

    tallies: list[Tally]
    seconds: float
    complete: bool
    """It was read to its end."""
    interrupted: bool = False
    rows: int = 0
    table: ColumnTally | None = None
    """For tables whose columns are components: which are alike."""


@dataclass
class _Shared:
    """What the threads of one scan share."""

    source: Source
    pieces: Iterator[Piece]
    watcher: Watcher
    match: RowMatch | None
    lock: threading.Lock = field(default_factory=threading.Lock)
    stop: bool = False
    ended: bool = False
    rows: int = 0
    failure: BaseException | None = None
    reserve: list[threading.Thread] = field(default_factory=list)
    """Threads that are started when counting takes long beside making the pieces."""
    working: int = 0
    idle: threading.Event = field(default_factory=threading.Event)
    """Set when the last thread has ended: Ctrl-C while one waits for a thread to end leaves it as if it had ended."""
    waited: float = 0.0
    counted: float = 0.0
    tables: list[ColumnTally] = field(default_factory=list)

    def next(self) -> Piece | None:
        """The next piece, or None at the end."""
        with self.lock:
            if self.stop or self.ended:
                return None
            began = time.perf_counter()
            try:
                piece = next(self.pieces, None)
            # The border to the user's data: a source tells what it can itself, the rest is told by the caller.
            except BaseException as error:
                self.failure = self.failure or error
                self.stop = True
                return None
            if piece is None:
                self.ended = True
                return None
            self.waited += time.perf_counter() - began
            return piece

    def done(self, rows: int, seconds: float) -> None:
        """Count rows as read, which took so many seconds after they were there."""
        with self.lock:
            self.rows += rows
            self.counted += seconds
            self.watcher.advance(rows)
            if self.reserve and self.counted > COUNTING_SHARE * self.waited:
                self.start(self.reserve)
                self.reserve = []

    def start(self, threads: list[threading.Thread]) -> None:
        """Let threads work that did not until now."""
        self.working += len(threads)
        for thread in threads:
            thread.start()

    def leave(self) -> None:
        """A thread has no more to do."""
        with self.lock:
            self.working -= 1
            if not self.working:
                self.idle.set()

    def problem(self, error: Exception) -> None:
        """Keep what a piece raised."""
        with self.lock:
            kind = "" if isinstance(error, CannotScan) else f"{type(error).__name__}: "
            self.source.problems.append(Problem(f"{kind}{str(error)[:300]}"))


def count(
    source: Source,
    *,
    watcher: Watcher | None = None,
    match: RowMatch | None = None,
    threads: int | None = None,
) -> Counted:
    """Read a source to its end, or until Ctrl-C; what is known then is given back.

    Args:
        source: the data.
        watcher: is told of the progress.
        match: takes in the rows of the first component of x, to compare training with validation.
        threads: how many read and count; as many as there are cores by default.
    """
    while True:
        try:
            return _count(source, watcher or Quiet(), match, threads)
        except StartOver:
            if match is not None:
                match.forget()


def _count(source: Source, watcher: Watcher, match: RowMatch | None, threads: int | None) -> Counted:
    shared = _Shared(source, source.pieces(), watcher, match)
    number = threads or threads_by_default()
    tallies = [[_tally(one) for one in source.components] for _thread in range(number)]
    shared.watcher.begin(source.name, source.rows)
    began = time.perf_counter()
    workers = [
        threading.Thread(target=_work, args=(shared, mine), daemon=True, name=f"fitdoctor-scan-{number}")
        for number, mine in enumerate(tallies)
    ]
    interrupted = _run(shared, workers)
    seconds = time.perf_counter() - began
    shared.watcher.end()
    if shared.failure is not None and not interrupted:
        raise shared.failure
    joined = [tallies[0][i] for i in range(len(source.components))]
    for mine in tallies[1:]:
        joined = [merged(one, other) for one, other in zip(joined, mine, strict=True)]
    fatal = any(problem.fatal for problem in source.problems)
    return Counted(
        joined,
        seconds,
        table=functools.reduce(merged_columns, shared.tables, None),
        complete=shared.ended and not interrupted and not fatal and not source.cut,
        interrupted=interrupted,
        rows=shared.rows,
    )


def threads_by_default() -> int:
    """How many threads read and count."""
    return min(os.cpu_count() or 1, 16)


def _tally(component: Component) -> Tally:
    return Tally(labels=component.part == "y")


def _run(shared: _Shared, workers: list[threading.Thread]) -> bool:
    """Let the threads work; whether Ctrl-C ended it."""
    first = 1 if shared.source.one_by_one else len(workers)
    shared.reserve = workers[first:]
    shared.start(workers[:first])
    try:
        while not shared.idle.wait(0.2):
            pass
    except KeyboardInterrupt:
        shared.stop = True
        # A thread that waits for the user's pipeline has finished its counting: it may be left behind.
        shared.idle.wait(2.0)
        return True
    return False


def _work(shared: _Shared, tallies: list[Tally]) -> None:
    try:
        _count_pieces(shared, tallies)
    finally:
        shared.leave()


def _count_pieces(shared: _Shared, tallies: list[Tally]) -> None:
    table: ColumnTally | None = None
    while (piece := shared.next()) is not None:
        began = time.perf_counter()
        try:
            for part in piece.load():
                if part.component != TABLE:
                    _take(part, tallies[part.component], shared)
                    continue
                if table is None:
                    table = ColumnTally(part.array.shape[1])
                    shared.tables.append(table)
                table.compare(part.array)
                if shared.match is not None and shared.match.component == TABLE:
                    shared.match.take(part.array)
        # The border to the user's files: what cannot be read is told, and the rest is read all the same.
        except Exception as error:
            shared.problem(error)
            continue
        shared.done(piece.rows, time.perf_counter() - began)


def _take(part: Part, tally: Tally, shared: _Shared) -> None:
    for shape, dtype, element, many in part.seen:
        tally.saw(shape, dtype, element, many)
    add(tally, part.array, part.row, part.element)
    if part.rows is not None:
        tally.rows += part.rows - len(part.array)
    elif shared.match is not None and part.component == shared.match.component:
        shared.match.take(part.array)

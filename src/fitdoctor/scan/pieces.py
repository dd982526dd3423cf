"""Data in pieces, read and counted by several threads: the interface of sources, and the counting loop."""

from __future__ import annotations

import functools
import os
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

from fitdoctor.collect.column_tally import ColumnTally, merged_columns
from fitdoctor.collect.tally import Tally, merged
from fitdoctor.collect.tally_arrays import ElementOf, add, no_element
from fitdoctor.data_statistics import Problem as Problem
from fitdoctor.scan.shared_rows import RowMatch

PIECE_BYTES = 8 << 20
"""How many bytes a thread takes at a time."""
COUNTING_SHARE = 0.3
"""If counting takes more than this share of the time to make pieces, another thread does it."""


TABLE = -1
"""The component of a `Part` that contains the columns of x as 64-bit words, to be compared with each other."""


class CannotScan(ValueError):
    """The data cannot be read as asked; the message says why and what to do."""


class StartOver(Exception):
    """The source restarts from the first row in another way: discard what was counted."""


@dataclass(frozen=True)
class Component:
    """One array of the data, with the name the user knows."""

    path: str
    """`x`, `x['image']`, a column of a table."""
    part: str = "x"
    """`x`, `y` or `sample_weight`."""
    key: str = ""
    container: str = ""
    columns: tuple[str, ...] = ()
    """The names of its columns, if they have names."""


class Part(NamedTuple):
    """Rows of one component."""

    component: int
    array: Any
    row: int
    """The number of the first of them."""
    element: ElementOf = no_element
    seen: tuple[tuple[tuple[int | None, ...], str, int | None, int], ...] = ()
    """Shape, dtype, first number and count of the elements that contain them, if these are to be counted."""
    rows: int | None = None
    """The number of rows, if the array does not show it (ragged and sparse data)."""


class Piece(NamedTuple):
    """Some rows of all components, or of one."""

    rows: int
    """The number of rows for the progress bar."""
    load: Callable[[], list[Part]]
    """Runs in any thread; an exception is reported, and the other pieces continue."""


class Source(Protocol):
    """Data that can be read piece by piece, once."""

    name: str
    form: str
    """As in `DataFacts.form`, or `file`."""
    components: tuple[Component, ...]
    rows: int | None
    """The number of rows of the longest component, if known."""
    problems: list[Problem]
    cut: bool
    """Whether a limit stopped it before its end."""
    one_by_one: bool
    """Whether its pieces are made sequentially, by work that may itself use several cores."""

    def pieces(self) -> Iterator[Piece]:
        """Return the data; requested by one thread at a time."""


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
    """The result of reading a source."""

    tallies: list[Tally]
    seconds: float
    complete: bool
    """Whether it was read to its end."""
    interrupted: bool = False
    rows: int = 0
    table: ColumnTally | None = None
    """For tables whose columns are components: which are identical."""


@dataclass
class _Shared:
    """State shared by the threads of one scan."""

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
    """Threads that are started if counting takes long compared with making the pieces."""
    working: int = 0
    idle: threading.Event = field(default_factory=threading.Event)
    """Set when the last thread has ended."""
    waited: float = 0.0
    counted: float = 0.0
    tables: list[ColumnTally] = field(default_factory=list)

    def next(self) -> Piece | None:
        """Return the next piece, or None at the end."""
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
        """Add rows that were counted, with the seconds it took."""
        with self.lock:
            self.rows += rows
            self.counted += seconds
            self.watcher.advance(rows)
            if self.reserve and self.counted > COUNTING_SHARE * self.waited:
                self.start(self.reserve)
                self.reserve = []

    def start(self, threads: list[threading.Thread]) -> None:
        """Start the reserve threads."""
        self.working += len(threads)
        for thread in threads:
            thread.start()

    def leave(self) -> None:
        """Record that a thread has finished."""
        with self.lock:
            self.working -= 1
            if not self.working:
                self.idle.set()

    def problem(self, error: Exception) -> None:
        """Record what a piece raised."""
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
    """Read a source to its end or until Ctrl-C, and return the results so far.

    Args:
        source: the data.
        watcher: receives the progress.
        match: collects the rows of the first component of x, to compare training with validation data.
        threads: the number of threads; by default, one per core.
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
    """Return how many threads read and count."""
    return min(os.cpu_count() or 1, 16)


def _tally(component: Component) -> Tally:
    return Tally(labels=component.part == "y")


def _run(shared: _Shared, workers: list[threading.Thread]) -> bool:
    """Run the threads, and return whether Ctrl-C ended them."""
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

"""A scan on a tf.data service: the pipeline and our statistics run in the workers, and small results come back."""

from __future__ import annotations

import queue
import re
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from fitdoctor.collect.arrays import components as leaves
from fitdoctor.collect.arrays import dtype_name
from fitdoctor.collect.tally import Tally, merged
from fitdoctor.scan.damaged_records import damaged_file
from fitdoctor.scan.element_source import summary_of
from fitdoctor.scan.graph_hashes import KEY, compared, hashes_of_element, hashes_of_group
from fitdoctor.scan.graph_statistics import GROUP, GROUP_OF_SAMPLES, joined, statistics_of_element, tally_of
from fitdoctor.scan.opening import endless, is_batched, length_of
from fitdoctor.scan.outcome import Scanned
from fitdoctor.scan.pieces import CannotScan, Component, Counted, Piece, Problem, Quiet, Watcher
from fitdoctor.scan.shared_rows import RowMatch
from fitdoctor.scan.shipping import expected_rows, refuse_unshippable, shared_by_each

if TYPE_CHECKING:
    from fitdoctor.scan.scanning import Wishes

FIRST_PATIENCE = 60.0
"""Seconds to wait for the first group: workers start, and trace the pipeline."""
_RELAYED = re.compile(r"Failed to get element from worker .*Failed to get element: ")
"""How the client wraps an exception of a worker."""
AFTER_DEATH = 8.0
"""Seconds without a group, after a worker is known to have died, until the others count as ended."""


class Pipeline(NamedTuple):
    """A tf.data pipeline for workers to count."""

    name: str
    dataset: Any
    careful: Any = None
    """The same with records parsed one by one, so that one that raises takes no other with it; slower."""


class ServiceSource:
    """Represents a pipeline that workers read."""

    def __init__(self, name: str, dataset: Any, limit: int | None) -> None:
        self.name = name
        self.form = "dataset"
        self.one_by_one = False
        self.problems: list[Problem] = []
        self.cut = False
        self.elements = 0
        self.batched = bool(is_batched(dataset))
        self.rows = expected_rows(dataset)
        self.limit = limit
        spec = dataset.element_spec
        parts = spec if isinstance(spec, tuple) and len(spec) <= 3 else (spec,)
        found = [
            (Component(leaf.path, part, leaf.key, "dataset element"), leaf.value)
            for part, value in zip(("x", "y", "sample_weight"), parts, strict=False)
            for leaf in leaves(value, part)
        ]
        self.components = tuple(component for component, _spec in found)
        self.specs = [leaf for _component, leaf in found]
        self.compared = compared(self.specs, [one.part for one in self.components], self.batched)
        """The component whose rows can be compared with those of other data."""

    def pieces(self) -> Iterator[Piece]:
        """Yield nothing: the workers read the data."""
        return iter(())


def scan_on_service(
    pipeline: Pipeline,
    wishes: Wishes,
    watcher: Watcher | None,
    role: str = "training",
    match: RowMatch | None = None,
) -> Scanned:
    """Count a pipeline on a service.

    Args:
        pipeline: the pipeline to count.
        wishes: the settings of the scan.
        watcher: receives the progress.
        role: `training` or `validation`.
        match: collects the hashes of rows, to compare training with validation data.

    Raises:
        CannotScan: the pipeline cannot be sent, never ends, or the service cannot be reached.
    """
    name, dataset, _careful = pipeline
    refuse_unshippable(name, dataset)
    if length_of(dataset) == -1 and wishes.limit is None:
        raise CannotScan(endless(name))
    source = ServiceSource(name, dataset, wishes.limit)
    with ExitStack() as stack:
        dead: Callable[[], int] = int
        address = wishes.service or ""
        if wishes.local_workers:
            from fitdoctor.scan.local_cluster import LocalCluster

            cluster = stack.enter_context(LocalCluster(wishes.local_workers))
            address, dead = cluster.address, cluster.dead
        _refuse_unreachable(_address(address))
        run = _Run(source, _address(address), dead, wishes.patience, watcher or Quiet(), match)
        counted = run.count(pipeline)
        died = dead()
    scanned = Scanned(source, counted, role, expected=source.rows)
    scanned.remarks.extend(_remarks(counted, dataset))
    if counted.complete and died:
        scanned.remarks.append(f"{died} worker{'s' * (died != 1)} died; even so, every row was counted")
    return scanned


def _address(given: str) -> str:
    if "://" in given:
        return given
    return f"grpc://{given}"


def _refuse_unreachable(address: str) -> None:
    """Check that something listens at the address; TensorFlow itself would retry forever."""
    protocol, _sign, place = address.partition("://")
    host, _colon, port = place.rpartition(":")
    if not host or not port.isdigit():
        raise CannotScan(f"`{address}` is not the address of a tf.data service: expected grpc://host:port")
    if protocol != "grpc":
        return
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=10).close()
    except (OSError, OverflowError) as error:
        raise CannotScan(f"no tf.data service answers at {address}: {error}") from error


def _remarks(counted: Counted, dataset: Any) -> list[str]:
    said = []
    if any(tally.nan or tally.inf for tally in counted.tallies):
        said.append(
            "on a service, the position of the first NaN or Inf is unknown because workers take turns: "
            "scan without a service to find it"
        )
    return [*said, *shared_by_each(dataset)]


def without_errors(dataset: Any) -> Any:
    """Return the pipeline without the elements that raise."""
    import tensorflow as tf

    if hasattr(dataset, "ignore_errors"):
        return dataset.ignore_errors()
    return dataset.apply(tf.data.experimental.ignore_errors())


def _is_of_the_data(error: Exception) -> bool:
    """Whether an element raised, rather than the workers or the connection to them."""
    import tensorflow as tf

    kinds = (tf.errors.DataLossError, tf.errors.InvalidArgumentError, tf.errors.NotFoundError)
    return isinstance(error, (*kinds, tf.errors.OutOfRangeError, tf.errors.FailedPreconditionError))


def _read(distributed: Any, groups: queue.Queue[Any], stopped: threading.Event) -> None:
    """Read groups in a separate thread, because a client waits forever for a worker that has died."""

    def give(found: Any) -> None:
        while not stopped.is_set():
            try:
                groups.put(found, timeout=0.5)
                return
            except queue.Full:
                continue

    try:
        for group in distributed:
            give(group)
            if stopped.is_set():
                return
        give(None)
    # The border to the workers: what they raise is told.
    except Exception as error:
        give(error)


@dataclass
class _Run:
    """One pass over a distributed pipeline."""

    source: ServiceSource
    address: str
    dead: Callable[[], int]
    """How many workers are known to have died."""
    patience: float
    watcher: Watcher
    match: RowMatch | None = None
    groups: queue.Queue[Any] = field(default_factory=lambda: queue.Queue(64))
    tallies: list[Tally] = field(default_factory=list)
    rows: int = 0
    slowest: float = 0.0
    stopped: threading.Event = field(default_factory=threading.Event)
    """Tells the reading thread to end."""
    raised: Exception | None = None
    """The exception of an element in a worker."""

    def count(self, pipeline: Pipeline) -> Counted:
        """Add group after group until the end, the limit, Ctrl-C, or until no more arrive."""
        source = self.source
        self.tallies = [Tally(labels=one.part == "y") for one in source.components]
        began = time.perf_counter()
        self.watcher.begin(source.name, source.rows)
        interrupted = False
        try:
            ended = self._pass(pipeline.dataset)
            if self.raised is not None:
                self._forget()
                ended = self._pass(without_errors(pipeline.careful or pipeline.dataset))
                source.problems.insert(0, Problem(self._left_out_words(pipeline.dataset, self.raised)))
        except KeyboardInterrupt:
            ended, interrupted = False, True
        finally:
            self.stopped.set()
            self.watcher.end()
        return Counted(
            self.tallies,
            time.perf_counter() - began,
            complete=ended and not self.source.problems and not source.cut,
            interrupted=interrupted,
            rows=self.rows,
        )

    def _pass(self, dataset: Any) -> bool:
        """Read the pipeline once, and return whether it came to its end."""
        distributed = self._distributed(dataset)
        self.groups, self.stopped = queue.Queue(64), threading.Event()
        reader = threading.Thread(
            target=_read, args=(distributed, self.groups, self.stopped), daemon=True, name="fitdoctor-service"
        )
        reader.start()
        return self._take_all()

    def _forget(self) -> None:
        """Discard everything counted so far and start over."""
        self.stopped.set()
        self.watcher.advance(-self.rows)
        self.rows = self.source.elements = 0
        self.tallies = [Tally(labels=one.part == "y") for one in self.source.components]
        if self.match is not None:
            self.match.forget()

    def _left_out_words(self, dataset: Any, error: Exception) -> str:
        said = _RELAYED.sub("", summary_of(error))
        path = damaged_file(dataset, said)
        where = f"in `{path}`" if path else "scan without a service to find out which one"
        expected = self.source.rows
        counted = f"; {self.rows:,} of {expected:,} rows were counted" if expected is not None else ""
        return f"elements that raised were skipped{counted}; the first: {said} ({where})"

    def _distributed(self, dataset: Any) -> Any:
        import tensorflow as tf

        service = tf.data.experimental.service
        source = self.source
        labels = [component.part == "y" for component in source.components]
        hashed = source.compared if self.match is not None else None

        def statistics(*element: Any) -> Any:
            whole = element if len(element) > 1 else (element[0],)
            tensors = [
                leaf.value for part in whole[:3] for leaf in leaves(part if len(whole) <= 3 else element, "")
            ]
            found = statistics_of_element(tensors, labels, source.batched, source.specs)
            if hashed is not None:
                found |= hashes_of_element(tensors[hashed], source.batched)
            return found

        group = GROUP if source.batched else GROUP_OF_SAMPLES
        # Nothing of ours is for AutoGraph.
        plain = tf.autograph.experimental.do_not_convert
        counted = dataset.map(plain(statistics)).batch(group).map(plain(joined))
        try:
            return counted.apply(
                service.distribute(service.ShardingPolicy.DYNAMIC, self.address, compression=None)
            )
        except tf.errors.OpError as error:
            raise CannotScan(
                f"the tf.data service at {self.address} rejected the pipeline: {summary_of(error)}"
            ) from error

    def _take_all(self) -> bool:
        """Add all groups, and return whether the pipeline came to its end."""
        last = time.monotonic()
        while True:
            try:
                group = self.groups.get(timeout=0.1)
            except queue.Empty:
                waited = time.monotonic() - last
                if self._all_there() and (self.dead() or waited > AFTER_DEATH):
                    return True
                if self._given_up(waited):
                    return False
                continue
            now = time.monotonic()
            self.slowest = max(self.slowest, now - last)
            last = now
            if group is None:
                return True
            if isinstance(group, Exception):
                if self.raised is None and _is_of_the_data(group):
                    self.raised = group
                    return False
                self.source.problems.append(Problem(f"the workers stopped: {summary_of(group)}", fatal=True))
                return False
            self._take(group)
            if self.source.limit is not None and self.source.elements >= self.source.limit:
                self.source.cut = True
                return True

    def _given_up(self, waited: float) -> bool:
        """Whether to stop waiting for workers; if so, the reason is recorded as a problem."""
        died = self.dead()
        seen = self.source.elements > 0
        if died and waited > max(AFTER_DEATH, 3 * self.slowest):
            what = f"{died} worker{'s' * (died != 1)} died: {self._counted_words()}"
        elif waited > max(self.patience, FIRST_PATIENCE if not seen else 3 * self.slowest):
            what = f"no worker returned anything for {waited:.0f} s: {self._counted_words()}"
        else:
            return False
        self.source.problems.append(Problem(what, fatal=True))
        return True

    def _all_there(self) -> bool:
        return self.source.rows is not None and self.rows >= self.source.rows

    def _counted_words(self) -> str:
        expected = self.source.rows
        of = f" of {expected:,}" if expected is not None else ""
        return f"{self.rows:,}{of} rows were counted, each once; the rest was lost with a worker"

    def _take(self, group: dict[str, Any]) -> None:
        if self.match is not None and KEY in group:
            spec = self.source.specs[self.source.compared or 0]
            inner = spec.shape[1:] if self.source.batched else spec.shape
            self.match.take_hashes(hashes_of_group(group.pop(KEY)), (str(inner), spec.dtype.name))
        plain = {name: value.numpy() for name, value in group.items()}
        for index, component in enumerate(self.source.components):
            dtype = dtype_name(self.source.specs[index].dtype)
            tally = tally_of(plain, index, component.part == "y", dtype)
            self.tallies[index] = merged(self.tallies[index], tally)
        rows = int(plain["0/rows"])
        self.rows += rows
        self.source.elements += int(plain["elements"])
        self.watcher.advance(rows)

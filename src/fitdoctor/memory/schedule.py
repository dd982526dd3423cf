"""Runs a step on paper: which buffers live together while TensorFlow's executor goes through its operations."""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Sequence

from fitdoctor.memory import kernels
from fitdoctor.memory.allocator import ROUNDING, Allocator, Chunk
from fitdoctor.memory.step import Operation, Step
from fitdoctor.records import dataclass

_COUNTER = 64
"""Bytes; what is smaller counts the rounds of a loop."""
PARALLEL_ROUNDS = 32
"""How many rounds of a loop TensorFlow may have under way at once."""


class Buffer:
    """A piece of memory, or a list of such pieces."""

    __slots__ = (
        "changes",
        "chunks",
        "cost",
        "items",
        "kind",
        "layer",
        "name",
        "parts",
        "readers",
        "room",
        "size",
        "stays",
    )

    def __init__(self, size: int, cost: int, kind: str, layer: str, name: str, stays: bool = False) -> None:
        self.size = size
        self.cost = cost
        """What it adds to what is in use: 0 for what somebody else has counted already."""
        self.kind = kind
        self.layer = layer
        self.name = name
        self.stays = stays
        """Held from outside the step: a variable, a constant, what a loop was given."""
        self.changes = False
        """Of what a loop was given: each round gets another one."""
        self.readers = 0
        self.items: list[Buffer] | None = None
        self.parts: tuple[int, ...] = ()
        """Of a list that a loop has filled: the sizes of its items, each with a chunk of its own."""
        self.room = -1
        """Of a list: how many items it can hold; -1 where that is not limited."""
        self.chunks: list[Chunk | None] = []


@dataclass(frozen=True)
class Held:
    """What one buffer holds at the peak."""

    kind: str
    layer: str
    name: str
    bytes: int


@dataclass(frozen=True)
class Course:
    """How much memory is in use over the step."""

    peak: int
    at: str
    """The operation that runs at the peak."""
    stage: str
    held: tuple[Held, ...]
    """What is in use then."""
    in_use: int
    """The most that TensorFlow's allocator says is in use: with what is wasted inside its chunks."""
    touched: int
    """What the process has taken from the system after two steps: the allocator gives nothing back."""
    points: tuple[tuple[str, int], ...]
    """(stage, bytes in use) when each operation that does some work has started, in order."""
    guessed: int
    """How many tensors have a size that is not known before the step runs, taken as that of their largest input."""


@dataclass(frozen=True)
class _Body:
    """One round of a loop, or a branch."""

    transient: int
    kept: tuple[tuple[int, ...], ...]
    """For each result that is a list, the sizes of the items that one round adds."""
    popped: tuple[bool, ...]
    """Which arguments are lists that each round takes one item from."""
    ahead: int
    """What a later round can make before this one has ended."""
    guessed: int


def course(step: Step, batch: int, threads: int = 2, beside: Sequence[Held] = ()) -> Course:
    """Go through the step for a batch of that size.

    Args:
        step: the step.
        batch: the batch size.
        threads: how many operations may run at the same time.
        beside: what is held all the time besides the step: batches that wait, data in tensors.
    """
    first = _Execution(step, batch, threads, beside=beside)
    first.run()
    first.end()
    second = _Execution(step, batch, threads, beside=beside, allocator=first.allocator)
    second.run()
    again = _Execution(step, batch, threads, beside=beside, stop_at=first.peak_at)
    again.run()
    held = [Held(buffer.kind, buffer.layer, buffer.name, cost) for buffer, cost in again.alive() if cost > 0]
    held.sort(key=lambda each: -each.bytes)
    return Course(
        first.peak,
        again.last.name,
        again.last.stage,
        tuple(held),
        second.allocator.most_in_use,
        second.allocator.touched,
        tuple(first.points),
        first.guessed,
    )


def most_touched(step: Step, batch: int, threads: int = 2, beside: Sequence[Held] = ()) -> int:
    """What the process has taken from the system after two steps."""
    first = _Execution(step, batch, threads, beside=beside)
    first.run()
    first.end()
    _Execution(step, batch, threads, beside=beside, allocator=first.allocator).run()
    return first.allocator.touched


class _Execution:
    """The executor's threads, queues and buffers."""

    def __init__(
        self,
        step: Step,
        batch: int,
        threads: int,
        *,
        stop_at: int = -1,
        arguments: Sequence[Buffer] = (),
        beside: Sequence[Held] = (),
        allocator: Allocator | None = None,
    ) -> None:
        self.step = step
        self.batch = batch
        self.stop_at = stop_at
        self.allocator = allocator or Allocator()
        self.guessed = 0
        self.used = 0
        self.peak = 0
        self.peak_at = 0
        self.started = 0
        """How many operations have."""
        self.points: list[tuple[str, int]] = []
        self.last = step.operations[0] if step.operations else Operation("", "NoOp", (), ())
        self._threads = max(1, threads)
        self._buffers: dict[int, Buffer] = {}
        """By tensor."""
        self._live: dict[int, Buffer] = {}
        """By identity."""
        self._working: dict[int, Buffer] = {}
        """The workspace of the operations that run now, by operation."""
        self._bodies: dict[int, _Body] = {}
        self._variables: list[Buffer] = []
        self._handles = {tensor for tensor, _variable in step.handles}
        self._readers = self._count_readers()
        self._begin(arguments)
        for each in beside:
            self._new(each.bytes, each.kind, each.layer, each.name).stays = True

    # --- buffers --------------------------------------------------------------------------------------------------

    def _count_readers(self) -> list[int]:
        readers = [0] * len(self.step.tensors)
        for operation in self.step.operations:
            for tensor in operation.inputs:
                readers[tensor] += 1
        for tensor in self.step.results:
            readers[tensor] += 1
        return readers

    def _begin(self, arguments: Sequence[Buffer]) -> None:
        for variable in self.step.variables:
            buffer = self._new(variable.bytes, variable.kind, variable.layer, variable.name)
            buffer.stays = True
            self._variables.append(buffer)
        for tensor, variable_index in self.step.handles:
            self._buffers[tensor] = self._variables[variable_index]
        for position, tensor in enumerate(self.step.arguments):
            if tensor in self._buffers:
                continue
            if arguments:
                buffer = arguments[position]
            else:
                buffer = self._new(self._size(tensor, ()), "input", "", "the batch")
            self._buffers[tensor] = buffer
            buffer.readers += self._readers[tensor]

    def _new(self, size: int, kind: str, layer: str, name: str) -> Buffer:
        rounded = -(-size // ROUNDING) * ROUNDING
        buffer = Buffer(size, rounded, kind, layer, name)
        self._hold(buffer)
        return buffer

    def _hold(self, buffer: Buffer) -> None:
        self._live[id(buffer)] = buffer
        self.used += buffer.cost
        buffer.chunks = [self.allocator.allocate(size) for size in buffer.parts or (buffer.cost,) if size]

    def _size(self, tensor: int, inputs: Sequence[int]) -> int:
        size = self.step.tensors[tensor].bytes(self.batch)
        if size is None:
            self.guessed += 1
            size = max((self._buffers[each].size for each in inputs if each in self._buffers), default=0)
        return size

    def _release(self, buffer: Buffer) -> None:
        buffer.readers -= 1
        if buffer.readers <= 0 and not buffer.stays:
            self._free(buffer)

    def _free(self, buffer: Buffer) -> None:
        if self._live.pop(id(buffer), None) is not None:
            self.used -= buffer.cost
            sizes = [size for size in buffer.parts or (buffer.cost,) if size]
            for chunk, size in zip(buffer.chunks, sizes, strict=True):
                self.allocator.give_back(chunk, size)
        for item in buffer.items or ():
            self._release(item)
        buffer.items = None

    def end(self) -> None:
        """Give everything back: the next step begins with the same variables."""
        for buffer in list(self._live.values()):
            self._free(buffer)

    def alive(self) -> list[tuple[Buffer, int]]:
        """What is in use now, with its bytes."""
        return [(buffer, buffer.cost) for buffer in self._live.values()]

    # --- threads --------------------------------------------------------------------------------------------------

    def run(self) -> None:
        """Go through the operations as the executor's threads would."""
        operations = self.step.operations
        pending, successors = _edges(self.step)
        costs = [kernels.seconds(operation, self.step, self.batch) for operation in operations]
        cheap = [kernels.is_cheap(op, cost) for op, cost in zip(operations, costs, strict=True)]
        inline: list[deque[int]] = [deque() for _ in range(self._threads)]
        pools: list[deque[int]] = [deque() for _ in range(self._threads)]
        inline[0].extend(index for index, waits in enumerate(pending) if not waits)
        idle = set(range(self._threads))
        running: list[tuple[float, int, int]] = []
        now = 0.0
        while True:
            for thread in sorted(idle):
                index = self._next(thread, inline, pools)
                if index is None:
                    continue
                idle.discard(thread)
                self._start(index)
                if self.started == self.stop_at:
                    return
                heapq.heappush(running, (now + costs[index], thread, index))
            if not running:
                return
            now, thread, index = heapq.heappop(running)
            self._finish(index)
            idle.add(thread)
            ready = []
            for successor in successors[index]:
                pending[successor] -= 1
                if not pending[successor]:
                    ready.append(successor)
            self._hand_out(ready, cheap, inline[thread], pools[thread])

    @staticmethod
    def _next(thread: int, inline: list[deque[int]], pools: list[deque[int]]) -> int | None:
        """What a thread does next: its own short work, then what it was handed last, then the oldest of others."""
        if inline[thread]:
            return inline[thread].popleft()
        if pools[thread]:
            return pools[thread].popleft()
        for other in pools:
            if other:
                return other.pop()
        return None

    @staticmethod
    def _hand_out(ready: list[int], cheap: list[bool], inline: deque[int], pool: deque[int]) -> None:
        """Short operations go on in this thread; of the long ones, all but the last are for any thread."""
        long = []
        for index in ready:
            if cheap[index]:
                inline.append(index)
            else:
                long.append(index)
        for index in long[:-1]:
            pool.appendleft(index)
        if long:
            if inline:
                pool.appendleft(long[-1])
            else:
                inline.append(long[-1])

    # --- operations -----------------------------------------------------------------------------------------------

    def _start(self, index: int) -> None:
        operation = self.step.operations[index]
        self.last = operation
        if operation.bodies:
            self._start_bodies(index, operation)
        else:
            for place, tensor in enumerate(operation.outputs):
                self._buffers[tensor] = self._output(operation, place, tensor)
        self._change_variable(operation)
        for tensor in operation.outputs:
            self._buffers[tensor].readers += self._readers[tensor]
        self.started += 1
        if operation.type not in kernels.FREE:
            self.points.append((operation.stage, self.used))
        if self.used > self.peak:
            self.peak = self.used
            self.peak_at = self.started

    def _finish(self, index: int) -> None:
        operation = self.step.operations[index]
        work = self._working.pop(index, None)
        if work is not None:
            self._free(work)
        if operation.type in kernels.LIST_ADDS:
            self._keep_in_list(operation)
        for tensor in operation.inputs:
            if tensor in self._buffers and tensor not in self._handles:
                self._release(self._buffers[tensor])
        self._fill_lists(index, operation)
        for tensor in operation.outputs:
            buffer = self._buffers[tensor]
            if buffer.readers <= 0 and not buffer.stays:
                self._free(buffer)

    def _output(self, operation: Operation, place: int, tensor: int) -> Buffer:
        kind = operation.type
        inputs = operation.inputs
        if kind in kernels.SHARES and inputs:
            return self._seen(inputs[0])
        if kind in kernels.SHARES_EACH and place < len(inputs):
            return self._seen(inputs[place])
        if kind in kernels.READS and inputs:
            return self._seen(inputs[0])
        if kind in kernels.LIST_ADDS or kind in kernels.LIST_POPS and place == 0:
            return self._seen(inputs[0])
        if kind in kernels.LIST_POPS:
            return Buffer(self._size(tensor, ()), 0, "activations", operation.layer, operation.name)
        if kind in kernels.LIST_COPIES:
            return self._new(
                self._size(inputs[0], ()), self._kind(operation, tensor), operation.layer, operation.name
            )
        size = self._size(tensor, inputs)
        if kind in kernels.LIST_STARTS:
            started = self._new(0, self._kind(operation, tensor), operation.layer, operation.name)
            started.room = operation.rounds.at(self.batch)
            return started
        if kind in kernels.REUSES:
            reused = self._reusable(operation, tensor, size)
            if reused is not None:
                return reused
        return self._new(size, self._kind(operation, tensor), operation.layer, operation.name)

    def _seen(self, tensor: int) -> Buffer:
        if tensor not in self._buffers:
            self._buffers[tensor] = Buffer(self._size(tensor, ()), 0, "other", "", "", stays=True)
        return self._buffers[tensor]

    def _reusable(self, operation: Operation, tensor: int, size: int) -> Buffer | None:
        for each in operation.inputs:
            buffer = self._buffers.get(each)
            if buffer is None or buffer.stays or buffer.items is not None:
                continue
            wanted = sum(other is buffer for other in (self._buffers.get(i) for i in operation.inputs))
            if buffer.readers == wanted == 1 and buffer.size == size:
                if buffer.kind == "activations":
                    buffer.kind = self._kind(operation, tensor)
                return buffer
        return None

    def _kind(self, operation: Operation, tensor: int) -> str:
        if tensor in self.step.gradients:
            return "gradients"
        if operation.type == "Const":
            return "other"
        return "activations" if operation.stage == "forward" else "temporary"

    def _change_variable(self, operation: Operation) -> None:
        if operation.type in kernels.UPDATES and operation.inputs:
            variable = self._buffers.get(operation.inputs[0])
            if variable is not None and variable in self._variables and variable.readers > 0:
                self._copy_for_readers(variable)
        elif operation.type in kernels.ASSIGNS and len(operation.inputs) > 1:
            variable = self._buffers.get(operation.inputs[0])
            value = self._buffers.get(operation.inputs[1])
            if variable is None or value is None or variable not in self._variables:
                return
            self._take_over(variable, value)

    def _copy_for_readers(self, variable: Buffer) -> None:
        """A copy becomes the variable; the old value stays for those that still read it."""
        old = Buffer(variable.size, variable.cost, variable.kind, variable.layer, variable.name)
        old.readers = variable.readers
        self._hold(old)
        for tensor, buffer in self._buffers.items():
            if buffer is variable and tensor not in self._handles:
                self._buffers[tensor] = old
        variable.readers = 0

    def _take_over(self, variable: Buffer, value: Buffer) -> None:
        """The value's buffer becomes the variable's own, where nobody else needs it."""
        if value.readers == 1 and not value.stays and value.size == variable.size:
            # The old value goes, the new one stays: as if the new one had been put into the old buffer.
            if variable.readers > 0:
                self._copy_for_readers(variable)
            elif id(value) in self._live:
                self._free(value)
                value.cost = 0

    # --- lists, loops and branches --------------------------------------------------------------------------------

    def _keep_in_list(self, operation: Operation) -> None:
        holder = self._seen(operation.inputs[0])
        item = self._seen(operation.inputs[-1])
        if item.stays and not item.changes:
            return
        if holder.items is None:
            holder.items = []
        holder.items.append(item)
        item.readers += 1

    def _start_bodies(self, index: int, operation: Operation) -> None:
        loops = operation.type in kernels.LOOPS
        given = [self._seen(tensor) for tensor in (operation.inputs if loops else operation.inputs[1:])]
        results = [_round(body, self.batch, given) for body in operation.bodies]
        self.guessed += sum(result.guessed for result in results)
        work = max(result.transient for result in results)
        for place, tensor in enumerate(operation.outputs):
            self._buffers[tensor] = self._body_output(operation, place, tensor)
        if loops:
            body = self._bodies[index] = results[0]
            work += body.ahead * max(0, min(operation.rounds.at(self.batch), PARALLEL_ROUNDS) - 1)
            taken = sum(
                buffer.cost
                for buffer, popped in zip(given, body.popped, strict=False)
                if popped and buffer.readers == 1
            )
            if not taken:
                self._fill_lists(index, operation)
            else:
                # Lists grow while others are used up: only what exceeds those needs more memory.
                kept = sum(map(sum, body.kept)) * operation.rounds.at(self.batch)
                work += max(0, kept - taken)
        self._working[index] = self._new(work, "temporary", operation.layer, operation.name)

    def _body_output(self, operation: Operation, place: int, tensor: int) -> Buffer:
        size = self._size(tensor, ())
        kind = self._kind(operation, tensor)
        if operation.type in kernels.LOOPS and place < len(operation.inputs):
            source = self._seen(operation.inputs[place])
            if not self.step.tensors[tensor].item_bytes and not source.stays:
                passed = self._new(0, kind, operation.layer, operation.name)
                passed.room = source.room
                return passed
            if source.stays and source.size == size and not self.step.tensors[tensor].item_bytes:
                return source
            if source.readers == 1 and source.size == size and size and not source.stays:
                return source
        return self._new(size, kind, operation.layer, operation.name)

    def _fill_lists(self, index: int, operation: Operation) -> None:
        """Give each list that a loop fills its items."""
        body = self._bodies.pop(index, None)
        if body is None:
            return
        rounds = operation.rounds.at(self.batch)
        for tensor, kept in zip(operation.outputs, body.kept, strict=False):
            buffer = self._buffers[tensor]
            if kept and id(buffer) in self._live:
                self._free(buffer)
                times = rounds if buffer.room < 0 else min(rounds, buffer.room)
                buffer.parts = (*buffer.parts, *(kept * times))
                buffer.cost = buffer.size = sum(buffer.parts)
                self._hold(buffer)


def _round(body: Step, batch: int, given: list[Buffer]) -> _Body:
    """One round of a loop on its own: what it needs besides what it was given, and what it leaves in lists."""
    arguments = [_given(buffer) for buffer in given]
    while len(arguments) < len(body.arguments):
        arguments.append(Buffer(0, 0, "other", "", "", stays=True))
    for place, argument in enumerate(arguments[: len(body.results)]):
        argument.changes = body.results[place] != body.arguments[place]
    execution = _Execution(body, batch, 1, arguments=arguments)
    execution.run()
    results = [execution._seen(tensor) for tensor in body.results]
    held = {id(item) for buffer in results if buffer.room != 1 for item in buffer.items or ()}
    counted: set[int] = set()
    for place, argument in enumerate(arguments[: len(results)]):
        # What this round was given is what the last one made: a list that has the one has the other.
        if id(results[place]) in held:
            counted.add(id(argument))
    kept = []
    for buffer in results:
        items = [item for item in buffer.items or () if id(item) not in counted]
        counted.update(map(id, items))
        kept.append(tuple(item.cost or item.size for item in items if item.size))
    popping = {operation.inputs[0] for operation in body.operations if operation.type in kernels.LIST_POPS}
    popped = tuple(tensor in popping for tensor in body.arguments)
    transient = max(0, execution.peak - sum(map(sum, kept)))
    ahead = _made_ahead(body, batch, arguments)
    return _Body(transient, tuple(kept), popped, ahead, execution.guessed)


def _made_ahead(body: Step, batch: int, arguments: list[Buffer]) -> int:
    """Bytes that a round makes without the results of the round before, for operations that do wait for those."""
    waiting = {
        tensor
        for tensor, argument in zip(body.arguments, arguments, strict=False)
        if argument.changes and argument.size > _COUNTER and body.tensors[tensor].item_bytes
    }
    if not waiting:
        return 0
    found: dict[int, int] = {}
    made: dict[int, int] = {}
    for operation in body.operations:
        inputs = set(operation.inputs)
        if inputs & waiting:
            waiting.update(operation.outputs)
            found.update((tensor, made[tensor]) for tensor in inputs & made.keys())
        elif operation.type not in kernels.SHARES | kernels.READS | kernels.LIST_POPS:
            made.update((tensor, body.tensors[tensor].bytes(batch) or 0) for tensor in operation.outputs)
    return sum(found.values())


def _given(buffer: Buffer) -> Buffer:
    copy = Buffer(buffer.size, 0, buffer.kind, buffer.layer, buffer.name, stays=True)
    copy.room = buffer.room
    return copy


def _edges(step: Step) -> tuple[list[int], list[list[int]]]:
    """For each operation how many it waits for, and which wait for it."""
    maker = {tensor: index for index, operation in enumerate(step.operations) for tensor in operation.outputs}
    pending = [0] * len(step.operations)
    successors: list[list[int]] = [[] for _ in step.operations]
    for index, operation in enumerate(step.operations):
        sources = [maker[tensor] for tensor in operation.inputs if tensor in maker]
        for source in dict.fromkeys((*sources, *operation.controls)):
            successors[source].append(index)
            pending[index] += 1
    return pending, successors

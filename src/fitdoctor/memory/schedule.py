"""Runs a step on paper: which buffers live together while TensorFlow's executor goes through its operations."""

from __future__ import annotations

from collections.abc import Sequence

from fitdoctor.memory import kernels
from fitdoctor.memory.allocator import Allocator
from fitdoctor.memory.buffers import Buffer, Buffers, Held
from fitdoctor.memory.executor import course_of_threads
from fitdoctor.memory.step import Operation, Step
from fitdoctor.records import dataclass

_COUNTER = 64
"""Bytes; what is smaller counts the rounds of a loop."""
PARALLEL_ROUNDS = 32
"""How many rounds of a loop TensorFlow may have under way at once."""


@dataclass(frozen=True)
class Course:
    """How much memory is in use over the step."""

    peak: int
    at: str
    """The operation that runs at the peak."""
    stage: str
    held: tuple[Held, ...]
    """What is in use then."""
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
        beside: what is held permanently besides the step: waiting batches, data in tensors.
    """
    first = _Execution(step, batch, threads, beside=beside)
    first.run()
    again = _Execution(step, batch, threads, beside=beside, stop_at=first.peak_at)
    again.run()
    held = [
        Held(buffer.kind, buffer.layer, buffer.name, buffer.cost)
        for buffer in again.memory.alive()
        if buffer.cost > 0
    ]
    held.sort(key=lambda each: -each.bytes)
    return Course(
        first.peak,
        again.last.name,
        again.last.stage,
        tuple(held),
        tuple(first.points),
        first.guessed,
    )


def after_two_steps(step: Step, batch: int, threads: int = 2, beside: Sequence[Held] = ()) -> Allocator:
    """The allocator after two steps; it keeps what it has taken from the system."""
    first = _Execution(step, batch, threads, beside=beside)
    first.run()
    first.memory.free_all()
    _Execution(step, batch, threads, beside=beside, allocator=first.memory.allocator).run()
    return first.memory.allocator


class _Execution:
    """One step, operation by operation, and the buffers that it holds."""

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
        self.memory = Buffers(allocator or Allocator())
        self.guessed = 0
        self.peak = 0
        self.peak_at = 0
        self.started = 0
        """How many operations have."""
        self.points: list[tuple[str, int]] = []
        self.last = step.operations[0] if step.operations else Operation("", "NoOp", (), ())
        self._threads = threads
        self._buffers: dict[int, Buffer] = {}
        """By tensor."""
        self._working: dict[int, Buffer] = {}
        """The workspace of the operations that run now, by operation."""
        self._bodies: dict[int, _Body] = {}
        self._variables: list[Buffer] = []
        self._handles = {tensor for tensor, _variable in step.handles}
        self._readers = self._count_readers()
        self._begin(arguments)
        for each in beside:
            self.memory.new(each.bytes, each.kind, each.layer, each.name).stays = True

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
            buffer = self.memory.new(variable.bytes, variable.kind, variable.layer, variable.name)
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
                buffer = self.memory.new(self._size(tensor, ()), "input", "", "the batch")
            self._buffers[tensor] = buffer
            buffer.readers += self._readers[tensor]

    def _size(self, tensor: int, inputs: Sequence[int]) -> int:
        size = self.step.tensors[tensor].bytes(self.batch)
        if size is None:
            self.guessed += 1
            size = max((self._buffers[each].size for each in inputs if each in self._buffers), default=0)
        return size

    def run(self) -> None:
        """Go through the operations as the executor's threads would."""
        for index, starts in course_of_threads(self.step, self.batch, self._threads):
            if not starts:
                self._finish(index)
                continue
            self._start(index)
            if self.started == self.stop_at:
                return

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
            self.points.append((operation.stage, self.memory.used))
        if self.memory.used > self.peak:
            self.peak = self.memory.used
            self.peak_at = self.started

    def _finish(self, index: int) -> None:
        operation = self.step.operations[index]
        work = self._working.pop(index, None)
        if work is not None:
            self.memory.free(work)
        if operation.type in kernels.LIST_ADDS:
            self._keep_in_list(operation)
        for tensor in operation.inputs:
            if tensor in self._buffers and tensor not in self._handles:
                self.memory.release(self._buffers[tensor])
        self._fill_lists(index, operation)
        for tensor in operation.outputs:
            self.memory.free_unread(self._buffers[tensor])

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
            return self.memory.new(
                self._size(inputs[0], ()), self._kind(operation, tensor), operation.layer, operation.name
            )
        size = self._size(tensor, inputs)
        if kind in kernels.LIST_STARTS:
            started = self.memory.new(0, self._kind(operation, tensor), operation.layer, operation.name)
            started.room = operation.rounds.at(self.batch)
            return started
        if kind in kernels.REUSES:
            reused = self._reusable(operation, tensor, size)
            if reused is not None:
                return reused
        return self.memory.new(size, self._kind(operation, tensor), operation.layer, operation.name)

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
        self.memory.hold(old)
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
            elif value in self.memory:
                self.memory.free(value)
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
        self._working[index] = self.memory.new(work, "temporary", operation.layer, operation.name)

    def _body_output(self, operation: Operation, place: int, tensor: int) -> Buffer:
        size = self._size(tensor, ())
        kind = self._kind(operation, tensor)
        if operation.type in kernels.LOOPS and place < len(operation.inputs):
            source = self._seen(operation.inputs[place])
            if not self.step.tensors[tensor].item_bytes and not source.stays:
                passed = self.memory.new(0, kind, operation.layer, operation.name)
                passed.room = source.room
                return passed
            if source.stays and source.size == size and not self.step.tensors[tensor].item_bytes:
                return source
            if source.readers == 1 and source.size == size and size and not source.stays:
                return source
        return self.memory.new(size, kind, operation.layer, operation.name)

    def _fill_lists(self, index: int, operation: Operation) -> None:
        """Give each list that a loop fills its items."""
        body = self._bodies.pop(index, None)
        if body is None:
            return
        rounds = operation.rounds.at(self.batch)
        for tensor, kept in zip(operation.outputs, body.kept, strict=False):
            buffer = self._buffers[tensor]
            if kept and buffer in self.memory:
                self.memory.free(buffer)
                times = rounds if buffer.room < 0 else min(rounds, buffer.room)
                buffer.parts = (*buffer.parts, *(kept * times))
                buffer.cost = buffer.size = sum(buffer.parts)
                self.memory.hold(buffer)


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

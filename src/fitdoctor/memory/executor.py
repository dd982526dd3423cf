"""The order in which the threads of TensorFlow's executor start and finish the operations of a step."""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Iterator

from fitdoctor.memory import kernels
from fitdoctor.memory.step import Step


def course_of_threads(step: Step, batch: int, threads: int) -> Iterator[tuple[int, bool]]:
    """(operation, whether it starts or has finished), in time.

    Args:
        step: the step.
        batch: the batch size.
        threads: how many operations may run at the same time.
    """
    threads = max(1, threads)
    pending, successors = _edges(step)
    costs = [kernels.seconds(operation, step, batch) for operation in step.operations]
    cheap = [kernels.is_cheap(op, cost) for op, cost in zip(step.operations, costs, strict=True)]
    inline: list[deque[int]] = [deque() for _ in range(threads)]
    pools: list[deque[int]] = [deque() for _ in range(threads)]
    inline[0].extend(index for index, waits in enumerate(pending) if not waits)
    idle = set(range(threads))
    running: list[tuple[float, int, int]] = []
    now = 0.0
    while True:
        for thread in sorted(idle):
            index = _next(thread, inline, pools)
            if index is None:
                continue
            idle.discard(thread)
            yield index, True
            heapq.heappush(running, (now + costs[index], thread, index))
        if not running:
            return
        now, thread, index = heapq.heappop(running)
        yield index, False
        idle.add(thread)
        ready = []
        for successor in successors[index]:
            pending[successor] -= 1
            if not pending[successor]:
                ready.append(successor)
        _hand_out(ready, cheap, inline[thread], pools[thread])


def _next(thread: int, inline: list[deque[int]], pools: list[deque[int]]) -> int | None:
    """Return what a thread does next: its own short work, then its most recent task, then the oldest of others."""
    if inline[thread]:
        return inline[thread].popleft()
    if pools[thread]:
        return pools[thread].popleft()
    for other in pools:
        if other:
            return other.pop()
    return None


def _hand_out(ready: list[int], cheap: list[bool], inline: deque[int], pool: deque[int]) -> None:
    """Keep short operations in this thread; of the long ones, all but the last go to any thread."""
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


def _edges(step: Step) -> tuple[list[int], list[list[int]]]:
    """Return, for each operation, how many it waits for, and which ones wait for it."""
    maker = {tensor: index for index, operation in enumerate(step.operations) for tensor in operation.outputs}
    pending = [0] * len(step.operations)
    successors: list[list[int]] = [[] for _ in step.operations]
    for index, operation in enumerate(step.operations):
        sources = [maker[tensor] for tensor in operation.inputs if tensor in maker]
        for source in dict.fromkeys((*sources, *operation.controls)):
            successors[source].append(index)
            pending[index] += 1
    return pending, successors

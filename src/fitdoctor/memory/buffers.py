"""Buffers that a step holds, and how much of them is in use."""

from __future__ import annotations

from fitdoctor.memory.allocator import ROUNDING, Allocator, Chunk
from fitdoctor.records import dataclass


class Buffer:
    """A piece of memory, or a list of pieces."""

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
        """The bytes it adds to the memory in use; 0 if they are counted elsewhere."""
        self.kind = kind
        self.layer = layer
        self.name = name
        self.stays = stays
        """Whether it is held from outside the step: a variable, a constant, an input of a loop."""
        self.changes = False
        """For an input of a loop: each iteration gets another one."""
        self.readers = 0
        self.items: list[Buffer] | None = None
        self.parts: tuple[int, ...] = ()
        """For a list filled by a loop: the sizes of its items, each in its own chunk."""
        self.room = -1
        """For a list: how many items it can hold; -1 if unlimited."""
        self.chunks: list[Chunk | None] = []


@dataclass(frozen=True)
class Held:
    """What one buffer holds at the peak."""

    kind: str
    layer: str
    name: str
    bytes: int


class Buffers:
    """The buffers in use."""

    def __init__(self, allocator: Allocator) -> None:
        self.allocator = allocator
        self.used = 0
        self._live: dict[int, Buffer] = {}
        """Buffers by identity."""

    def __contains__(self, buffer: Buffer) -> bool:
        return id(buffer) in self._live

    def new(self, size: int, kind: str, layer: str, name: str) -> Buffer:
        """Return a new buffer."""
        rounded = -(-size // ROUNDING) * ROUNDING
        buffer = Buffer(size, rounded, kind, layer, name)
        self.hold(buffer)
        return buffer

    def hold(self, buffer: Buffer) -> None:
        """Allocate memory for a buffer."""
        self._live[id(buffer)] = buffer
        self.used += buffer.cost
        buffer.chunks = [self.allocator.allocate(size) for size in buffer.parts or (buffer.cost,) if size]

    def release(self, buffer: Buffer) -> None:
        """Remove one reader; without readers, free the buffer."""
        buffer.readers -= 1
        self.free_unread(buffer)

    def free_unread(self, buffer: Buffer) -> None:
        """Free a buffer that is neither read nor held from outside."""
        if buffer.readers <= 0 and not buffer.stays:
            self.free(buffer)

    def free(self, buffer: Buffer) -> None:
        """Free a buffer."""
        if self._live.pop(id(buffer), None) is not None:
            self.used -= buffer.cost
            sizes = [size for size in buffer.parts or (buffer.cost,) if size]
            for chunk, size in zip(buffer.chunks, sizes, strict=True):
                self.allocator.give_back(chunk, size)
        for item in buffer.items or ():
            self.release(item)
        buffer.items = None

    def free_all(self) -> None:
        """Free everything: the next step starts with the same variables."""
        for buffer in list(self._live.values()):
            self.free(buffer)

    def alive(self) -> list[Buffer]:
        """Return the buffers in use."""
        return list(self._live.values())

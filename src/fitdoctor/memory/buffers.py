"""Pieces of memory that a step holds, and how much of them is in use."""

from __future__ import annotations

from fitdoctor.memory.allocator import ROUNDING, Allocator, Chunk
from fitdoctor.records import dataclass


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


class Buffers:
    """Those that are in use now."""

    def __init__(self, allocator: Allocator) -> None:
        self.allocator = allocator
        self.used = 0
        self._live: dict[int, Buffer] = {}
        """By identity."""

    def __contains__(self, buffer: Buffer) -> bool:
        return id(buffer) in self._live

    def new(self, size: int, kind: str, layer: str, name: str) -> Buffer:
        """One more."""
        rounded = -(-size // ROUNDING) * ROUNDING
        buffer = Buffer(size, rounded, kind, layer, name)
        self.hold(buffer)
        return buffer

    def hold(self, buffer: Buffer) -> None:
        """Take memory for a buffer."""
        self._live[id(buffer)] = buffer
        self.used += buffer.cost
        buffer.chunks = [self.allocator.allocate(size) for size in buffer.parts or (buffer.cost,) if size]

    def release(self, buffer: Buffer) -> None:
        """One reader less; without readers it goes."""
        buffer.readers -= 1
        self.free_unread(buffer)

    def free_unread(self, buffer: Buffer) -> None:
        """Give its memory back where nobody reads it or holds it from outside."""
        if buffer.readers <= 0 and not buffer.stays:
            self.free(buffer)

    def free(self, buffer: Buffer) -> None:
        """Give its memory back."""
        if self._live.pop(id(buffer), None) is not None:
            self.used -= buffer.cost
            sizes = [size for size in buffer.parts or (buffer.cost,) if size]
            for chunk, size in zip(buffer.chunks, sizes, strict=True):
                self.allocator.give_back(chunk, size)
        for item in buffer.items or ():
            self.release(item)
        buffer.items = None

    def free_all(self) -> None:
        """Give everything back: the next step begins with the same variables."""
        for buffer in list(self._live.values()):
            self.free(buffer)

    def alive(self) -> list[Buffer]:
        """What is in use now."""
        return list(self._live.values())

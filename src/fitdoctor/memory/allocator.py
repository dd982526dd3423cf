"""A model of TensorFlow's allocator: best fit with coalescing, which never returns memory to the system.

The rules are those of TensorFlow's `BFCAllocator`, which serves GPUs, and CPUs where oneDNN is built in: a chunk is
split only when at least half of it, or 128 MiB, would stay unused; new regions double in size; free neighbors
are merged.
"""

from __future__ import annotations

from bisect import bisect_left, insort

ROUNDING = 256
SMALL = 256 << 10
"""On a CPU, smaller allocations come from the C library."""
MOST_WASTE = 128 << 20
FIRST_REGION = 2 << 20


class Chunk:
    """A part of a region."""

    __slots__ = ("after", "before", "free", "size", "start")

    def __init__(self, start: int, size: int) -> None:
        self.start = start
        self.size = size
        self.free = True
        self.before: Chunk | None = None
        self.after: Chunk | None = None


class Allocator:
    """Allocates chunks and keeps account of them."""

    def __init__(self) -> None:
        self.in_use = 0
        """Bytes in allocated chunks, with internal waste; TensorFlow does not count small ones."""
        self.most_in_use = 0
        self._next_region = FIRST_REGION
        self._address = 0
        self._free: list[tuple[int, int]] = []
        """(size, start) of the free chunks."""
        self._chunks: dict[int, Chunk] = {}
        self._touched: list[tuple[int, int]] = []
        """Disjoint ranges (start, end) that were ever written, in order."""
        self._small = 0
        self._most_small = 0

    @property
    def touched(self) -> int:
        """Bytes that the system had to provide: everything ever written."""
        return sum(end - start for start, end in self._touched) + self._most_small

    def allocate(self, size: int) -> Chunk | None:
        """Return a chunk of at least that many bytes; None for what the C library provides."""
        rounded = max(ROUNDING, -(-size // ROUNDING) * ROUNDING)
        if rounded < SMALL:
            self._count_small(rounded)
            return None
        place = bisect_left(self._free, (rounded, -1))
        if place == len(self._free):
            self._extend(rounded)
            place = bisect_left(self._free, (rounded, -1))
        _size, start = self._free.pop(place)
        chunk = self._chunks[start]
        if chunk.size >= 2 * rounded or chunk.size - rounded >= MOST_WASTE:
            self._split(chunk, rounded)
        chunk.free = False
        self._use(chunk.size)
        self._touch(chunk.start, chunk.start + rounded)
        return chunk

    def give_back(self, chunk: Chunk | None, size: int) -> None:
        """Free a chunk and merge it with its free neighbors."""
        if chunk is None:
            rounded = max(ROUNDING, -(-size // ROUNDING) * ROUNDING)
            self._small -= rounded
            return
        self.in_use -= chunk.size
        chunk.free = True
        after, before = chunk.after, chunk.before
        if after is not None and after.free:
            self._remove(after)
            self._join(chunk, after)
        if before is not None and before.free:
            self._remove(before)
            self._join(before, chunk)
            chunk = before
        insort(self._free, (chunk.size, chunk.start))

    def _count_small(self, size: int) -> None:
        self._small += size
        self._most_small = max(self._most_small, self._small)

    def _use(self, size: int) -> None:
        self.in_use += size
        self.most_in_use = max(self.most_in_use, self.in_use)

    def _extend(self, size: int) -> None:
        increased = False
        while size > self._next_region:
            self._next_region *= 2
            increased = True
        region = Chunk(self._address, self._next_region)
        # Regions never touch, so that chunks of two of them are never joined.
        self._address += self._next_region + ROUNDING
        self._chunks[region.start] = region
        insort(self._free, (region.size, region.start))
        if not increased:
            self._next_region *= 2

    def _split(self, chunk: Chunk, size: int) -> None:
        rest = Chunk(chunk.start + size, chunk.size - size)
        rest.before, rest.after = chunk, chunk.after
        if chunk.after is not None:
            chunk.after.before = rest
        chunk.after = rest
        chunk.size = size
        self._chunks[rest.start] = rest
        insort(self._free, (rest.size, rest.start))

    def _join(self, first: Chunk, second: Chunk) -> None:
        first.size += second.size
        first.after = second.after
        if second.after is not None:
            second.after.before = first
        del self._chunks[second.start]

    def _remove(self, chunk: Chunk) -> None:
        del self._free[bisect_left(self._free, (chunk.size, chunk.start))]

    def _touch(self, start: int, end: int) -> None:
        first = bisect_left(self._touched, (start, -1))
        if first and self._touched[first - 1][1] >= start:
            first -= 1
        last = first
        while last < len(self._touched) and self._touched[last][0] <= end:
            start = min(start, self._touched[last][0])
            end = max(end, self._touched[last][1])
            last += 1
        self._touched[first:last] = [(start, end)]

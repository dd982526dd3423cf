"""The program's names and mutable objects at one point, and the join of two branches."""

from __future__ import annotations

from fitdoctor.records import dataclass, field
from fitdoctor.source.interpreter.joining import join, join_records, same_history
from fitdoctor.source.interpreter.values import (
    UNTOLD,
    Array,
    DictRecord,
    InstanceRecord,
    Items,
    LayerRecord,
    ListRecord,
    Made,
    Mapping,
    Method,
    ModelRecord,
    Record,
    Ref,
    Super,
    Value,
    opened,
)

OBJECTS_PER_TICK = 64
"""A branch copies and joins this many objects in the time of one evaluated node."""


class State:
    """Names by frame, records by number, and the memory that was written to after it was made."""

    def __init__(
        self,
        frames: dict[int, dict[str, Value]] | None = None,
        heap: dict[int, Record] | None = None,
        written: set[int] | None = None,
    ) -> None:
        self.frames = {} if frames is None else frames
        self.heap = {} if heap is None else heap
        self.written = set() if written is None else written
        self._own: set[int] = set()
        """The frames whose names no other state shares."""

    def copy(self) -> State:
        """Return an independent copy of the state; a frame's names are copied when one of them is bound."""
        self._own.clear()
        return State(dict(self.frames), dict(self.heap), set(self.written))

    def names(self, frame: int) -> dict[str, Value]:
        """Return a frame's names, to bind some of them."""
        if frame not in self._own or frame not in self.frames:
            self.frames[frame] = dict(self.frames.get(frame, {}))
            self._own.add(frame)
        return self.frames[frame]

    def same_as(self, other: State, *, written: bool = True) -> bool:
        """Whether nothing differs; `written` says whether the written memory counts."""
        return (
            (not written or self.written == other.written)
            and self.frames == other.frames
            and _same_heap(self.heap, other.heap)
        )

    def touch(self, value: Value | None) -> None:
        """Forget everything that unknown code may change through a value."""
        pending: list[Value | None] = [value]
        seen: set[int] = set()
        while pending:
            current = pending.pop()
            if isinstance(current, Array):
                self.written.add(current.buffer)
            elif isinstance(current, Items):
                pending.extend(current.items)
            elif isinstance(current, Mapping):
                pending.extend(item for _, item in current.items)
            elif isinstance(current, (Method, Super)):
                pending.append(current.receiver)
            elif isinstance(current, Made):
                pending.extend((*current.positional, *(value for _, value in current.keywords)))
            elif isinstance(current, Ref) and current.id not in seen:
                seen.add(current.id)
                record = self.heap.get(current.id)
                if record is None:
                    continue
                pending.extend(_held_by(record))
                self.heap[current.id] = opened(record)


def _held_by(record: Record) -> list[Value]:
    if isinstance(record, ListRecord):
        return list(record.items or ())
    if isinstance(record, DictRecord):
        return [value for _, value in record.items or ()]
    if isinstance(record, ModelRecord):
        return [*(record.layers or ()), *(value for _, value in record.attributes)]
    if isinstance(record, (InstanceRecord, LayerRecord)):
        return [value for _, value in record.attributes]
    return []


def _same_heap(one: dict[int, Record], other: dict[int, Record]) -> bool:
    if len(one) != len(other):
        return False
    return all(
        number in other and (other[number] is record or other[number] == record)
        for number, record in one.items()
    )


def join_states(one: State, other: State) -> State:
    """Return what holds in either state."""
    frames: dict[int, dict[str, Value]] = {}
    for number, names in one.frames.items():
        if number not in other.frames:
            frames[number] = names
            continue
        right = other.frames[number]
        if names is right:
            frames[number] = names
            continue
        if names == right:  # usually equal: a branch binds names in one frame, rarely in outer ones
            alike = all(map(same_history, names.values(), map(right.__getitem__, names)))
            frames[number] = (
                names if alike else {name: join(value, right[name]) for name, value in names.items()}
            )
            continue
        merged = {
            name: join(value, right[name]) if name in right else UNTOLD for name, value in names.items()
        }
        merged.update({name: UNTOLD for name in right if name not in names})
        frames[number] = merged
    for number, names in other.frames.items():
        frames.setdefault(number, names)
    heap = {**one.heap, **other.heap}
    changed = [key for key, record in one.heap.items() if heap[key] is not record]
    heap.update({key: join_records(one.heap[key], heap[key]) for key in changed})
    return State(frames, heap, one.written | other.written)


def joined(states: list[State]) -> State:
    """What is true in all of these states."""
    merged = states[0]
    for state in states[1:]:
        merged = join_states(merged, state)
    return merged


@dataclass
class Control:
    """The exits of a function's body."""

    returns: list[tuple[Value, State]] = field(default_factory=list)
    breaks: list[State] = field(default_factory=list)
    continues: list[State] = field(default_factory=list)
    yields: list[Value] = field(default_factory=list)

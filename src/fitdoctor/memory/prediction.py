"""The prediction: peak, kinds, layers, available memory, the largest batch that fits, and what would help."""

from __future__ import annotations

import math
import sys
from collections import defaultdict
from collections.abc import Callable, Sequence

from fitdoctor.facts import MemoryLimit, Unknown
from fitdoctor.memory.buffers import Held
from fitdoctor.memory.pipeline import Feed, at_conversion, beside
from fitdoctor.memory.schedule import Course, after_two_steps, course
from fitdoctor.memory.step import Step, Tensor
from fitdoctor.records import dataclass, replace

KINDS = {
    "weights": "trainable weights",
    "frozen weights": "other weights",
    "gradients": "gradients",
    "optimizer": "optimizer state",
    "activations": "activations kept for the backward pass",
    "temporary": "temporary tensors",
    "input": "batches",
    "data": "data copied into tensors",
    "metrics": "metrics",
    "other": "constants",
}
"""The description of each kind, in the order of the tables."""

MARGIN = 0.1
"""The share of free memory that the largest batch keeps in reserve."""
MOST_BATCH = 1 << 24
_MOST_TRIED = 20
SHOWN_POINTS = 600

# What a process takes besides its tensors, measured over the models of benchmarks/bench_memory.py.
_TRACING = 37_000_000
_EACH_OPERATION = 34_000
_FRAGMENTS = 0.09
XLA = 2.0
"""How much more a process takes on a CPU if XLA compiles the step: 1.6 to 2.8 times for four models."""


@dataclass(frozen=True)
class Share:
    """A part of the peak."""

    name: str
    bytes: int


@dataclass(frozen=True)
class Remedy:
    """Something that would lower the peak, and the peak with it."""

    title: str
    peak: int
    """The need with it, in bytes."""


@dataclass(frozen=True)
class Prediction:
    """What one training step needs."""

    model: str
    batch_size: int
    how: str
    """`traced` from the step itself, or `quick` from the layer shapes."""
    peak: int
    """Bytes of tensors at the peak."""
    needed: int
    """Bytes that must be available: the peak plus the allocator, the graph and the copies of the data."""
    device: str = "CPU"
    kinds: tuple[Share, ...] = ()
    layers: tuple[Share, ...] = ()
    """The layers with the most memory at the peak."""
    at: str = ""
    """The operation that runs at the peak."""
    stage: str = ""
    points: tuple[tuple[str, int], ...] = ()
    """(stage, bytes) over the step."""
    limit: MemoryLimit | Unknown = Unknown()
    largest_batch: int | Unknown = Unknown()
    remedies: tuple[Remedy, ...] = ()
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        from fitdoctor.report.memory import verdict

        return f"<Prediction: {verdict(self)}>"

    def __str__(self) -> str:
        from fitdoctor.report.memory import text
        from fitdoctor.report.paint import terminal_width

        return text(self, terminal_width(sys.stdout)).rstrip("\n")

    @property
    def fits(self) -> bool | None:
        """Whether it fits into the free memory; None if that is unknown."""
        return None if isinstance(self.limit, Unknown) else self.needed <= self.limit.free

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        """Return what a notebook shows: a card, and the same as text."""
        from fitdoctor.report.memory_card import memory_card

        return {"text/html": memory_card(self), "text/plain": str(self)}


@dataclass(frozen=True)
class Circumstances:
    """What the prediction depends on besides the step."""

    model: str
    batch_size: int
    feed: Feed = Feed()
    threads: int = 2
    device: str = "CPU"
    limit: MemoryLimit | Unknown = Unknown()
    present: int = 0
    """Bytes of variables that are already in memory."""
    weights_after_pooling: int | None = None
    """Bytes that pooling instead of flattening before a Dense layer would save in its kernel."""
    slots: int = 2
    """How many values the optimizer keeps per weight."""
    symbolic: bool = True
    """Whether the step is known for every batch size, not only for this one."""
    factor: float = 1.0
    """How much more than the traced step it takes: `XLA` if that compiles it."""
    replicas: int = 1
    """Replicas that share the batch."""
    notes: tuple[str, ...] = ()


def predict(step: Step, about: Circumstances) -> Prediction:
    """Return the whole prediction for a traced step."""
    batch = about.batch_size
    ran = course(step, batch, about.threads, _beside(step, about, batch))
    need = _need(step, about)
    largest = _largest(need, about)
    return Prediction(
        about.model,
        batch,
        "traced",
        ran.peak,
        need(batch),
        about.device,
        _kinds(ran),
        _layers(ran),
        ran.at,
        ran.stage,
        _thinned(ran.points),
        about.limit,
        largest,
        _remedies(step, about, need, largest),
        (*about.notes, *_notes(ran)),
    )


def _beside(step: Step, about: Circumstances, batch: int) -> tuple[Held, ...]:
    return beside(about.feed, batch_bytes(step, batch), about.threads)


def batch_bytes(step: Step, batch: int) -> int:
    """The bytes of one batch of data."""
    return sum(step.tensors[tensor].bytes(batch) or 0 for tensor in step.arguments)


def _need(step: Step, about: Circumstances) -> Callable[[int], int]:
    """Return the memory needed for a batch size."""

    def need(batch: int) -> int:
        if batch not in known:
            allocator = after_two_steps(step, batch, about.threads, _beside(step, about, batch))
            known[batch] = round(about.factor * process_bytes(step, allocator.touched, about.feed))
        return known[batch] - about.present

    known: dict[int, int] = {}
    return need


def process_bytes(step: Step, touched: int, feed: Feed) -> int:
    """Return how much a process grows by training, from the traced step."""
    weights = sum(variable.bytes for variable in step.variables)
    return grown_process(step.traced, touched, weights, feed)


def grown_process(operations: int, touched: int, weights: int, feed: Feed) -> int:
    """Return how much a process grows by training: tensors, the graph, and fragmentation.

    Args:
        operations: the number of operations of the traced step.
        touched: bytes that tensors take at the peak.
        weights: bytes of all variables.
        feed: how the data reaches the step.
    """
    training = _TRACING + operations * _EACH_OPERATION + round(touched * (1 + _FRAGMENTS))
    return max(training, at_conversion(feed) + weights)


def _kinds(ran: Course) -> tuple[Share, ...]:
    totals: dict[str, int] = defaultdict(int)
    for held in ran.held:
        totals[held.kind] += held.bytes
    return tuple(Share(kind, totals[kind]) for kind in KINDS if totals.get(kind, 0) >= 1024)


def _layers(ran: Course) -> tuple[Share, ...]:
    totals: dict[str, int] = defaultdict(int)
    for held in ran.held:
        if held.layer:
            totals[held.layer] += held.bytes
    largest = sorted(totals.items(), key=lambda pair: -pair[1])[:5]
    return tuple(Share(layer, size) for layer, size in largest)


def _thinned(points: Sequence[tuple[str, int]]) -> tuple[tuple[str, int], ...]:
    """Return as many points as a drawing can show: the highest of each interval."""
    stretch = -(-len(points) // SHOWN_POINTS)
    if stretch <= 1:
        return tuple(points)
    return tuple(
        max(points[start : start + stretch], key=lambda point: point[1])
        for start in range(0, len(points), stretch)
    )


def _notes(ran: Course) -> list[str]:
    if not ran.guessed:
        return []
    return [
        f"{ran.guessed} tensors have no known size before the step runs; each is counted as large as its largest input"
    ]


# --- the largest batch that fits ----------------------------------------------------------------------------------


def _largest(need: Callable[[int], int], about: Circumstances) -> int | Unknown:
    if isinstance(about.limit, Unknown):
        return about.limit
    if not about.symbolic:
        return Unknown("the step could be traced for this batch size only")
    return largest_batch(need, round(about.limit.free * (1 - MARGIN)), about.batch_size)


def largest_batch(need: Callable[[int], int], room: int, start: int) -> int:
    """Return the largest batch whose need is within the limit; 0 if not even one sample fits.

    The need grows almost linearly with the batch size: a line through two sizes leads close to the answer.
    """
    least = need(1)
    if least > room:
        return 0
    fits, too_large = (1, least), (MOST_BATCH + 1, 0)
    guess, same = min(max(2, start), MOST_BATCH), 0
    for _round in range(_MOST_TRIED):
        taken = need(guess)
        line = (guess, taken) if too_large[1] == 0 else too_large
        if taken <= room:
            fits, same = (guess, taken), max(same, 0) + 1
        else:
            line = too_large = (guess, taken)
            same = min(same, 0) - 1
        if too_large[0] - fits[0] <= max(1, fits[0] // 64):
            break
        start_of_line = (1, least) if line == fits else fits
        rise = (line[1] - start_of_line[1]) / max(1, line[0] - start_of_line[0])
        further = int(fits[0] + (room - fits[1]) / rise) if rise > 0 else MOST_BATCH
        if abs(same) > 2:
            # The line misleads: half of the way in powers.
            further = math.isqrt(fits[0] * too_large[0])
        guess = min(max(further, fits[0] + 1), too_large[0] - 1)
    return fits[0]


# --- what would help ----------------------------------------------------------------------------------------------


def _remedies(
    step: Step, about: Circumstances, need: Callable[[int], int], largest: int | Unknown
) -> tuple[Remedy, ...]:
    batch = about.batch_size
    now = need(batch)
    found = []
    if about.symbolic and batch > 1:
        # What fits, where this batch does not; else half of it.
        too_large = isinstance(largest, int) and 0 < largest < batch
        less = largest if too_large and isinstance(largest, int) else batch // 2
        parts = -(-batch // less)
        found.append(Remedy(f"a batch size of {less:,}", need(less)))
        found.append(
            Remedy(
                f"a batch size of {less:,} with `gradient_accumulation_steps={parts}` in the optimizer: the same updates",
                need(less) + _trainable(step),
            )
        )
    halved = _in_half_precision(step)
    if halved is not step:
        found.append(
            Remedy(
                "mixed precision (`mixed_bfloat16`; on a GPU `mixed_float16`)", _need(halved, about)(batch)
            )
        )
    if about.weights_after_pooling:
        saved = about.weights_after_pooling * (2 + about.slots)
        found.append(Remedy("pooling instead of `Flatten` before the Dense layer", now - saved))
    found.extend(_data_remedies(step, about))
    return tuple(remedy for remedy in found if remedy.peak < 0.97 * now)


def _data_remedies(step: Step, about: Circumstances) -> list[Remedy]:
    feed = about.feed
    if not feed.copies:
        return []
    streamed = replace(feed, form="pydataset", arrays=(), copies=0, prefetch=0)
    less = _need(step, replace(about, feed=streamed))(about.batch_size)
    if feed.form == "arrays":
        title = (
            "batches from a `keras.utils.PyDataset` or a generator: `fit` copies whole arrays into tensors"
        )
    elif feed.copies > 1:
        title = "reading files in the pipeline instead of `from_tensor_slices` or `cache`, which keep all the data in memory"
    else:
        title = "a generator or files instead of a pipeline that keeps all the data in memory"
    return [Remedy(title, less)]


def _trainable(step: Step) -> int:
    return sum(variable.bytes for variable in step.variables if variable.kind == "weights")


def _in_half_precision(step: Step) -> Step:
    """Return the step with float32 tensors of the batch in two bytes; the same step if there are none."""
    if any(tensor.by_batch and tensor.item_bytes == 2 for tensor in step.tensors):
        return step
    data = set(step.arguments)

    def halved(tensors: tuple[Tensor, ...], kept: set[int]) -> tuple[Tensor, ...]:
        return tuple(
            Tensor(2, tensor.dims)
            if tensor.item_bytes == 4 and tensor.by_batch and place not in kept
            else tensor
            for place, tensor in enumerate(tensors)
        )

    operations = tuple(
        replace(op, bodies=tuple(replace(body, tensors=halved(body.tensors, set())) for body in op.bodies))
        if op.bodies
        else op
        for op in step.operations
    )
    return replace(step, operations=operations, tensors=halved(step.tensors, data))

"""Batch that needs more memory than is available.

## What happens

`ResourceExhaustedError: OOM when allocating tensor with shape[…]`; or the system kills the process (`Killed`); or,
on a CPU with an address space limit, TensorFlow's oneDNN kernels crash (`Segmentation fault`) when an allocation
fails.

## Why

The backward pass needs the inputs that every trained layer received in the forward pass. All of these tensors are in
memory at once, together with the weights, their gradients and the optimizer state. Everything except weights,
gradients and optimizer state grows with the batch size.

## Fix

Use a smaller batch. `fitdoctor memory MODULE:NAME` computes the largest one that fits, and what else would help:
gradient accumulation, mixed precision, pooling.

## Known limits

Reported only if the minimum that any implementation needs exceeds the whole memory of the machine (including swap),
the container or the process. A batch that is merely tight is not reported. For subclassed models and custom training
steps only the weights are counted. Nothing is reported under `jit_compile`, rematerialization or a distribution
strategy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from fitdoctor.catalogue import Cause
from fitdoctor.catalogue.words import place
from fitdoctor.diagnosis import Confidence, Evidence, Finding, Fix, Location, Severity
from fitdoctor.edits import set_argument, unsafe
from fitdoctor.facts import (
    Code,
    DataFacts,
    EnvironmentFacts,
    FitFacts,
    LayerFacts,
    MemoryLimit,
    ModelFacts,
    Unknown,
)
from fitdoctor.memory.estimate import Estimate, attention_sizes, estimate, scores

CAUSE = Cause(
    id="FIT801",
    slug="batch-will-not-fit",
    severity=Severity.ERROR,
    raises=("ResourceExhaustedError", "InternalError", "MemoryError"),
    explains=("FIT806",),
)

SHORTER = "shorten the sequence before this layer (pooling, strided convolutions), or split it into windows"
_SLACK = 256 << 20
"""Address space that a process may have reserved and not used yet."""


@CAUSE.before_fit
def from_layers(
    model: ModelFacts, fit: FitFacts, data: DataFacts, environment: EnvironmentFacts
) -> Iterator[Finding]:
    """The least that a step needs is more than all the memory there is."""
    if fit.method not in ("fit", "train_on_batch") or data.role != "training" or model.strategy:
        return
    batch = data.batch_size
    if not isinstance(batch, int) or batch < 1:
        return
    for limit, certain in _limits(environment):
        layer = max(model.every_layer(), key=scores, default=None)
        if layer is not None and scores(layer) > _room(limit):
            yield _attention(layer, limit, certain)
            return
    guess = estimate(model)
    if isinstance(guess, Unknown):
        return
    for limit, certain in _limits(environment):
        if guess.least(batch) - _there(guess, limit) > _room(limit):
            yield _finding(guess, batch, limit, fit, data, certain)
            return


def _attention(layer: LayerFacts, limit: MemoryLimit, certain: bool) -> Finding:
    """Report attention whose scores for a single sample exceed the memory."""
    sizes = attention_sizes(layer)
    assert sizes is not None
    _heads, queries, keys = sizes
    needs, room = scores(layer), _room(limit)
    return CAUSE.finding(
        f"layer `{layer.name}` needs {_words(needs)} per sample for attention over {queries:,} x {keys:,} positions, "
        f"but {_whose(limit)} has {_words(room)}: no batch size fits",
        place(layer.code),
        Evidence(
            f"memory for one sample, compared with {limit.name}",
            f"at least {_words(needs)}",
            f"at most {_words(room)}",
            fact="environment.memory",
        ),
        unsafe(SHORTER),
        subject="memory of a step",
        notes=["the memory grows with the square of the sequence length"],
        confidence=Confidence.CERTAIN if certain else Confidence.LIKELY,
    )


def _limits(environment: EnvironmentFacts) -> list[tuple[MemoryLimit, bool]]:
    """Return the memory limits, and whether each certainly applies to the step."""
    own = [limit for limit in environment.memory if not limit.name.startswith("GPU")]
    gpus = [limit for limit in environment.memory if limit.name.startswith("GPU")]
    if not gpus:
        return [(limit, True) for limit in own]
    # The program may place its operations on the CPU.
    return [(max(gpus, key=lambda limit: limit.total), False)]


def _room(limit: MemoryLimit) -> int:
    return limit.free + _SLACK if limit.name == "RLIMIT_AS" else limit.total


def _there(guess: Estimate, limit: MemoryLimit) -> int:
    """Return the bytes of the step that are already allocated and not part of the free memory."""
    return guess.weights if limit.name == "RLIMIT_AS" else 0


def _finding(
    guess: Estimate, batch: int, limit: MemoryLimit, fit: FitFacts, data: DataFacts, certain: bool
) -> Finding:
    room = _room(limit)
    fixed = guess.least(0) - _there(guess, limit)
    what = f"a batch of {batch:,}" if fixed <= room else "the model with its optimizer"
    needs = guess.least(batch if fixed <= room else 0) - _there(guess, limit)
    return CAUSE.finding(
        f"{what} needs at least {_words(needs)}, but {_whose(limit)} has {_words(room)}",
        _location(fit, data),
        Evidence(
            f"memory per step, compared with {limit.name}",
            f"at least {_words(needs)}",
            f"at most {_words(room)}",
            fact="environment.memory",
        ),
        Evidence(f"weights and optimizer state need {_words(guess.weights + guess.optimizer)}"),
        Evidence(f"each sample needs at least {_words(guess.surely)} when the backward pass starts"),
        _smaller(guess, room, fit, data, limit),
        subject="memory of a step",
        confidence=Confidence.CERTAIN if certain else Confidence.LIKELY,
    )


def _whose(limit: MemoryLimit) -> str:
    return "the process (RLIMIT_AS)" if limit.name == "RLIMIT_AS" else limit.name


def _location(fit: FitFacts, data: DataFacts) -> Location | None:
    """Return the location of the batch size, else of the call."""
    if data.form == "dataset":
        for step in reversed(data.pipeline):
            if step.operation in ("batch", "padded_batch", "ragged_batch"):
                return place(step.code, fit.code)
    if isinstance(fit.code, Code):
        argument = fit.code.argument("batch_size")
        if argument is not None:
            return argument.location
    return place(fit.code)


def _smaller(guess: Estimate, room: int, fit: FitFacts, data: DataFacts, limit: MemoryLimit) -> Fix:
    fitting = _largest(lambda size: guess.peak(size) - _there(guess, limit) <= 0.9 * room)
    if not fitting:
        return unsafe("make the model smaller: not even a batch of 1 fits")
    title = f"use a batch size of at most {fitting:,}"
    if data.form == "arrays" and isinstance(fit.code, Code) and fit.method == "fit":
        return unsafe(title, set_argument(fit.code, "batch_size", str(fitting)))
    return unsafe(title)


def _largest(fits: Callable[[int], bool]) -> int:
    """Return the largest power of two that fits, 0 if none does."""
    size = 1 << 20
    while size and not fits(size):
        size >>= 1
    return size


def _words(size: int) -> str:
    return f"{size / 2**30:,.1f} GiB" if size >= 2**30 else f"{size / 2**20:.0f} MiB"

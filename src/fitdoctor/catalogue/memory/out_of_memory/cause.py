"""Out of memory.

## What happens

`ResourceExhaustedError: OOM when allocating tensor with shape[3200000,3200000]` from TensorFlow's allocator; or the
system kills the process (`Killed`, SIGKILL), without a traceback; or, with an address space limit (`ulimit -v`), a
oneDNN kernel of TensorFlow crashes (SIGSEGV) when an allocation fails.

## Why

A tensor whose first axis is the batch is an activation: it shrinks with the batch size. A tensor without a batch
axis is a weight: a smaller batch does not help. A killed process used more memory than the machine or the container
allows, often for the data, which `fit` and `from_tensor_slices` copy as a whole.

## Fix

For activations: use a smaller batch (or gradient accumulation, or mixed precision). For weights: pool, or use fewer
units. For data: use a `PyDataset`, a generator or files instead of arrays in memory. `fitdoctor memory MODULE:NAME`
predicts the memory before training.

## Known limits

If the system kills the process, the last allocated tensor is unknown. The report is then based on the shapes of the
layers and the available memory.
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Iterator

from fitdoctor.catalogue import Cause
from fitdoctor.catalogue.memory.batch_will_not_fit.cause import SHORTER
from fitdoctor.catalogue.words import place, shape_words
from fitdoctor.diagnosis import Evidence, Finding, Fix, Severity
from fitdoctor.edits import fix, unsafe
from fitdoctor.facts import (
    DataFacts,
    EnvironmentFacts,
    FailureFacts,
    FitFacts,
    LayerFacts,
    ModelFacts,
    Shape,
    Unknown,
)
from fitdoctor.failure.patterns import AllocationFailed, allocation_failed
from fitdoctor.memory.estimate import Estimate, estimate, scores
from fitdoctor.records import dataclass

CAUSE = Cause(
    id="FIT806",
    slug="out-of-memory",
    severity=Severity.ERROR,
    raises=("ResourceExhaustedError", "InternalError", "MemoryError"),
)

NATIVE = ("SIGSEGV", "SIGABRT", "SIGBUS")


@dataclass(frozen=True)
class _Owner:
    """What the tensor that could not be allocated belongs to."""

    words: str
    kind: str
    """`activation`, `attention` (over pairs of positions), `weight`, `data`, `host` (the program's memory) or `unknown`."""
    layer: LayerFacts | None = None


_NO_ROOM = re.compile(r"Dst tensor is not initialized|CUDA_ERROR_OUT_OF_MEMORY")
"""What TensorFlow reports if a GPU is full (from its messages; not run here)."""
_WEIGHT_NODE = re.compile(
    r"/(?:(?:\w+_)?kernel|bias|embeddings|gamma|beta)(?:/\w+)*$|/Initializer/|/Assign$"
    r"|/Adam/\w+/(?:m|v)\b|(?:^|/)training(?:_\d+)?/(?:Ada\w+|SGD|RMSprop|Nadam)/(?!gradients)"
)
"""The node of a graph that creates, initializes or reads a weight."""
_HELD = re.compile(r"it was using ([\d.]+) GiB of ([\d.]+) GiB")


@CAUSE.after_failure
def from_failure(
    failure: FailureFacts,
    model: ModelFacts | Unknown,
    fit: FitFacts | Unknown,
    data: DataFacts | Unknown,
    environment: EnvironmentFacts | Unknown,
) -> Iterator[Finding]:
    """Report the tensor TensorFlow names, or a killed process by its last facts."""
    if isinstance(data, DataFacts) and data.role != "training":
        return
    failed = allocation_failed(failure.message)
    refused = failed is not None or _NO_ROOM.search(failure.message)
    if failure.type in ("ResourceExhaustedError", "MemoryError") or refused:
        yield _refused(failure, failed or AllocationFailed(), model, fit, data)
    elif (
        failure.type == "SIGKILL"
        and not _held_little(failure)
        or (failure.type in NATIVE and _was_tight(model, data, environment))
    ):
        yield _killed(failure, model, fit, data)


# --- an allocation was refused ------------------------------------------------------------------------------------


def _refused(
    failure: FailureFacts,
    failed: AllocationFailed,
    model: ModelFacts | Unknown,
    fit: FitFacts | Unknown,
    data: DataFacts | Unknown,
) -> Finding:
    shape = failed.shape
    owner = _pairs_of_positions(failure, shape, model) or _owner(shape, model, fit, data)
    creates = "variables_initializer(" in failure.raw_message or any(
        frame.library and (frame.function == "add_weight" or "variables_initializer(" in frame.text)
        for frame in failure.frames
    )
    if creates or _WEIGHT_NODE.search(_node(failure)):
        owner = _Owner("a weight", "weight", owner.layer)
    elif _is_outer(failed.shape) and _ELEMENTWISE.search(_node(failure)):
        owner = _Owner("the result of an elementwise operation", "broadcast")
    elif failed.by_numpy or failure.type == "MemoryError" and "device memory" not in failure.message:
        owner = _Owner("a NumPy array" if failed.by_numpy else "memory for the program", "host")
    frame = failure.last_user_frame
    code = fit.code if isinstance(fit, FitFacts) else None
    to_blame = owner.layer if owner.kind in ("weight", "attention") else None
    location = place(to_blame.code if to_blame is not None else None, code)
    return CAUSE.certain(
        f"out of memory: cannot allocate {owner.words}"
        + (f" of shape {shape_words(shape)}" if shape else ""),
        location or (frame.location if frame else None),
        Evidence("failed allocation", shape_words(shape) if shape else failure.first_line),
        *_size_of(shape),
        _FULL if owner.kind == "weight" and _is_small(shape) else _remedy(owner),
        subject="memory",
        notes=[_helps(owner)] if owner.kind not in ("unknown", "host", "broadcast") else [],
    )


def _size_of(shape: Shape | None) -> list[Evidence]:
    if not shape or None in shape:
        return []
    size = 4 * math.prod(axis for axis in shape if axis is not None)
    return [Evidence(f"this is {size / 2**30:,.1f} GiB as float32")] if size >= 2**28 else []


_ELEMENTWISE = re.compile(r"(?:^|/)(?:sub|add|mul|truediv|SquaredDifference|Equal|Maximum|Minimum)(?:_\d+)?$")


def _node(failure: FailureFacts) -> str:
    """Return the node that TensorFlow names, also in a message that was cut behind it."""
    named = re.search(r"\[\[(?:\{\{)?[Nn]ode:? (?P<node>[^\s}]+)", failure.raw_message or failure.message)
    return failure.node or (named["node"] if named is not None else "")


def _is_outer(shape: Shape | None) -> bool:
    """Whether a tensor has a row and a column per sample, as when (n,) and (n, 1) are combined."""
    return shape is not None and len(shape) == 2 and shape[0] == shape[1] and (shape[0] or 0) > _LONG


_FULL = fix(
    "free the memory first: it was full before this small tensor; end other processes and notebooks (`nvidia-smi` lists "
    "them), or make the model smaller"
)


def _is_small(shape: Shape | None) -> bool:
    return bool(shape) and math.prod(axis or 0 for axis in shape or ()) < _SMALL


_SMALL = 2**24
"""Numbers in a tensor that any GPU has room for."""
_LONG = 1024
"""Positions from which pairs of positions take more memory than everything else."""
_MUCH = 2**32
"""Bytes per sample for which no batch size is small enough."""


def _pairs_of_positions(
    failure: FailureFacts, shape: Shape | None, model: ModelFacts | Unknown
) -> _Owner | None:
    """Return the layer that compares every position with every other one, if the tensor is that comparison."""
    if not shape or None in shape or len(shape) < 3 or shape[-1] != shape[-2] or (shape[-1] or 0) < _LONG:
        return None
    each = 4 * math.prod(axis for axis in shape[1:] if axis is not None)
    if shape[0] != 1 and each < _MUCH:
        return None
    named = failure.message + failure.raw_message
    layers = model.every_layer() if isinstance(model, ModelFacts) else ()
    found = [layer for layer in layers if f"/{layer.name}/" in named or layer.name == failure.layer]
    layer = next((one for one in found if scores(one)), found[-1] if found else None)
    whose = f" of layer `{layer.name}`" if layer is not None else ""
    return _Owner(f"the attention scores{whose}", "attention", layer)


def _owner(
    shape: Shape | None, model: ModelFacts | Unknown, fit: FitFacts | Unknown, data: DataFacts | Unknown
) -> _Owner:
    if not shape:
        return _Owner("a tensor", "unknown")
    if isinstance(data, DataFacts) and any(array.shape == shape for array in (*data.x, *data.y)):
        return _Owner("the whole data", "data")
    layers = model.every_layer() if isinstance(model, ModelFacts) else ()
    for layer in layers:
        if _kernel(layer) == shape:
            return _Owner(f"a weight of layer `{layer.name}`", "weight", layer)
    batch = _batch(fit, data)
    of_the_batch = len(shape) > 1 and (batch is None or shape[0] == batch)
    for layer in layers if of_the_batch else ():
        outputs = layer.output_shapes
        if layer.class_name == "InputLayer" or isinstance(outputs, Unknown):
            continue
        if any(output[1:] == shape[1:] for output in outputs):
            return _Owner(f"an activation of layer `{layer.name}`", "activation", layer)
    return _Owner("an activation", "activation") if of_the_batch else _Owner("a tensor", "unknown")


def _batch(fit: FitFacts | Unknown, data: DataFacts | Unknown) -> int | None:
    if isinstance(data, DataFacts) and isinstance(data.batch_size, int):
        return data.batch_size
    return fit.batch_size if isinstance(fit, FitFacts) else None


def _kernel(layer: LayerFacts) -> Shape | None:
    """Return the shape of the largest weight of a layer, as far as its settings show."""
    inputs = layer.input_shapes
    channels = None if isinstance(inputs, Unknown) or not inputs or not inputs[0] else inputs[0][-1]
    if layer.class_name == "Dense":
        return (channels, _integer(layer, "units"))
    if layer.class_name == "Embedding":
        return (_integer(layer, "input_dim"), _integer(layer, "output_dim"))
    if layer.class_name in ("Conv1D", "Conv2D", "Conv3D"):
        try:
            size = ast.literal_eval(layer.setting("kernel_size") or "()")
        except (SyntaxError, ValueError):
            return None
        sizes = size if isinstance(size, tuple) else (size,)
        return (*sizes, channels, _integer(layer, "filters"))
    return None


def _integer(layer: LayerFacts, name: str) -> int | None:
    value = layer.setting(name) or ""
    return int(value) if value.isdigit() else None


def _helps(owner: _Owner) -> str:
    if owner.kind == "activation":
        return "its size grows with the batch: a smaller batch helps"
    if owner.kind == "attention":
        return "it grows with the square of the sequence length: no batch size is small enough"
    return "its size does not depend on the batch: a smaller batch does not help"


def _remedy(owner: _Owner) -> Fix:
    if owner.kind == "activation":
        return unsafe("use a smaller batch")
    if owner.kind == "attention":
        return unsafe(SHORTER)
    if owner.kind == "weight":
        return unsafe("make the layer smaller: use fewer units, or pool before it")
    if owner.kind == "data":
        return unsafe(
            "load the data in batches: use a `keras.utils.PyDataset`, a generator, or files in a pipeline"
        )
    if owner.kind == "broadcast":
        return fix(
            "give both operands the same shape: (n,) and (n, 1) broadcast to (n, n), so add or remove the last axis of one, "
            "such as of the labels"
        )
    if owner.kind == "host":
        return fix(
            "keep less data in memory: load it in batches, use a smaller dtype (`float32`, `uint8`), and delete arrays that "
            "are no longer needed"
        )
    return unsafe("use a smaller batch, shorter sequences or smaller images, or a smaller model")


# --- the process was ended ----------------------------------------------------------------------------------------


def _held_little(failure: FailureFacts) -> bool:
    """Whether the process was killed outside fit while using little memory, so not for lack of memory."""
    held = _HELD.search(failure.message)
    return held is not None and not failure.called and float(held[1]) < 0.1 * float(held[2])


def _was_tight(
    model: ModelFacts | Unknown, data: DataFacts | Unknown, environment: EnvironmentFacts | Unknown
) -> bool:
    """Whether the step needs more than the free memory, so that a crash can be attributed to it."""
    guess, batch = _step(model, data)
    if guess is None or isinstance(environment, Unknown):
        return False
    return any(guess.peak(batch) - guess.weights > 0.9 * limit.free for limit in environment.memory)


def _step(model: ModelFacts | Unknown, data: DataFacts | Unknown) -> tuple[Estimate | None, int]:
    if isinstance(model, Unknown) or isinstance(data, Unknown) or not isinstance(data.batch_size, int):
        return None, 0
    guess = estimate(model)
    return (None if isinstance(guess, Unknown) else guess), data.batch_size


def _killed(
    failure: FailureFacts,
    model: ModelFacts | Unknown,
    fit: FitFacts | Unknown,
    data: DataFacts | Unknown,
) -> Finding:
    frame = failure.last_user_frame
    code = fit.code if isinstance(fit, FitFacts) else None
    guess, batch = _step(model, data)
    evidence = [
        Evidence("signal", failure.type, fact="failure.type"),
        *(Evidence(part.strip()) for part in failure.message.split(";")[1:]),
    ]
    copied = _data_bytes(data)
    remedy = "use a smaller batch, or keep less data in memory"
    if guess is not None:
        fixed = guess.weights + guess.optimizer + guess.gradients
        each = guess.peak(batch) - fixed
        evidence.append(
            Evidence(
                f"the step needs about {_words(fixed)} for weights, gradients and optimizer state, "
                f"and {_words(each)} for a batch of {batch}; the data takes {_words(copied)}"
            )
        )
        largest = max((each, "activation"), (fixed, "weight"), (copied, "data"))[1]
        remedy = {
            "activation": "use a smaller batch",
            "weight": "make the model smaller: a smaller batch hardly helps",
            "data": "load the data in batches: use a `keras.utils.PyDataset`, a generator, or files in a pipeline",
        }[largest]
    return CAUSE.finding(
        "the system killed the program, probably because memory ran out"
        if failure.type == "SIGKILL"
        else "native code crashed, probably because memory ran out",
        place(code) or (frame.location if frame else None),
        *evidence,
        unsafe(remedy),
        subject="memory",
    )


def _data_bytes(data: DataFacts | Unknown) -> int:
    """Return the bytes of the data as float32 tensors."""
    if isinstance(data, Unknown) or not isinstance(data.samples, int):
        return 0
    sizes = [
        math.prod(axis or 0 for axis in array.shape[1:])
        for array in (*data.x, *data.y)
        if not isinstance(array.shape, Unknown)
    ]
    return 4 * data.samples * sum(sizes) if data.form in ("arrays", "dataset") else 0


def _words(size: int) -> str:
    return f"{size / 2**30:,.1f} GiB" if size >= 2**30 else f"{size / 2**20:.0f} MiB"

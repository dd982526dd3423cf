"""Which parts of a tf.data pipeline workers can run, known before anything is sent."""

from __future__ import annotations

from typing import Any

from fitdoctor.collect.pipelines import chain, inputs_of, operation_of
from fitdoctor.scan.opening import BATCHES, length_of
from fitdoctor.scan.pieces import CannotScan
from fitdoctor.scan.python_steps import python_step

KEEPS_ROWS = frozenset(
    "map prefetch cache shuffle options batch padded_batch ragged_batch rebatch model adapter".split()
)
EACH_FOR_ITSELF = {
    "take": "takes that many elements from its shard",
    "skip": "skips that many elements in its shard",
    "shard": "shards its shard again",
    "enumerate": "numbers the elements of its shard",
    "zip": "pairs elements of its shards, which may not match",
}


def refuse_unshippable(name: str, dataset: Any) -> None:
    """Reject a pipeline that cannot be sent to workers.

    Raises:
        CannotScan: part of the pipeline lives in this Python process.
    """
    made = python_step(dataset)
    if made is not None:
        raise CannotScan(
            f"`{name}` cannot be sent to workers: {made} calls Python (a generator, `py_function` or "
            "`numpy_function`), which runs in this process only; write that step with TensorFlow operations, "
            "let the workers read files, or scan without a service"
        )


def expected_rows(dataset: Any) -> int | None:
    """Return the number of rows of a pipeline, if it can be computed from the step before batching."""
    step = dataset
    while operation_of(step) in KEEPS_ROWS:
        inner = inputs_of(step)
        if len(inner) != 1:
            return None
        batch = operation_of(step) in BATCHES
        step = inner[0]
        if batch:
            break
    length = length_of(step)
    return length if length is not None and length >= 0 else None


def done_by_each(dataset: Any) -> list[str]:
    """The steps that each worker applies to its own shard, so that its rows differ from those of a single process."""
    return [operation for step in chain(dataset) if (operation := operation_of(step)) in EACH_FOR_ITSELF]


def shared_by_each(dataset: Any) -> list[str]:
    """Remarks on what workers do differently from one process."""
    said = []
    for operation in done_by_each(dataset):
        said.append(f"on a service, each worker's `{operation}` {EACH_FOR_ITSELF[operation]}")
    for step in chain(dataset):
        if operation_of(step) in BATCHES and _drops(step):
            said.append(
                "on a service, each worker drops its last incomplete batch; those rows are not counted"
            )
    return list(dict.fromkeys(said))


def _drops(step: Any) -> bool:
    value = getattr(step, "_drop_remainder", False)
    try:
        return bool(value.numpy()) if hasattr(value, "numpy") else bool(value)
    except (AttributeError, TypeError, ValueError):
        return False

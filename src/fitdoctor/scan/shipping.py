"""What of a tf.data pipeline workers can run: known before anything is sent."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fitdoctor.collect.pipelines import chain, inputs_of, operation_of
from fitdoctor.scan.opening import BATCHES, length_of
from fitdoctor.scan.pieces import CannotScan

PYTHON = frozenset(("PyFunc", "EagerPyFunc", "PyFuncStateless"))
"""Operations that call back into the Python process that made them."""
KEEPS_ROWS = frozenset(
    "map prefetch cache shuffle options batch padded_batch ragged_batch rebatch model adapter".split()
)
EACH_FOR_ITSELF = {
    "take": "takes so many of its own share",
    "skip": "skips so many of its own share",
    "shard": "shards its own share",
    "enumerate": "numbers its own share",
    "zip": "pairs its own shares, which need not go together",
}


def refuse_unshippable(name: str, dataset: Any) -> None:
    """Say at once what cannot be sent to workers.

    Raises:
        CannotScan: part of the pipeline lives in this Python process.
    """
    for step in chain(dataset):
        for function, graph in _functions(step):
            if not any(node.op in PYTHON for node in _nodes(graph)):
                continue
            where = _place(function)
            made = (
                "`from_generator`"
                if "generator" in where or _is_generator(step)
                else f"`{operation_of(step)}`"
            )
            raise CannotScan(
                f"`{name}` cannot be sent to workers: {made}{where} calls Python (a generator, `py_function` or "
                "`numpy_function`), which runs in this process only; write that step with TensorFlow operations, "
                "let the workers read files, or scan without a service"
            )


def _is_generator(step: Any) -> bool:
    return operation_of(step) in ("generator", "flat_map") and any(
        operation_of(inner) in ("from_tensors", "from_tensor_slices") for inner in inputs_of(step)
    )


def _functions(step: Any) -> Iterator[tuple[Any, Any]]:
    try:
        wrappers = step._functions()
    # A private method of tf.data: another version may have another.
    except Exception:
        return
    for wrapper in wrappers:
        concrete = getattr(wrapper, "function", None)
        graph = getattr(concrete, "graph", None)
        if graph is not None:
            yield getattr(wrapper, "_func", None), graph


def _nodes(graph: Any) -> Iterator[Any]:
    try:
        definition = graph.as_graph_def()
    # A graph too large to write down is too large to look through.
    except Exception:
        return
    yield from definition.node
    for inner in definition.library.function:
        yield from inner.node_def


def _place(function: Any) -> str:
    code = getattr(function, "__code__", None)
    if code is None or "tensorflow" in code.co_filename:
        return ""
    return f" with `{function.__name__}` ({code.co_filename}:{code.co_firstlineno})"


def expected_rows(dataset: Any) -> int | None:
    """How many rows a pipeline gives, where that can be told: batches are counted before they are made."""
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


def shared_by_each(dataset: Any) -> list[str]:
    """What workers do otherwise than one process does."""
    said = []
    for step in chain(dataset):
        operation = operation_of(step)
        if operation in EACH_FOR_ITSELF:
            said.append(f"on a service, each worker's `{operation}` {EACH_FOR_ITSELF[operation]}")
        if operation in BATCHES and _drops(step):
            said.append(
                "on a service, each worker drops the rest that does not fill a batch: those rows are not counted"
            )
    return list(dict.fromkeys(said))


def _drops(step: Any) -> bool:
    value = getattr(step, "_drop_remainder", False)
    try:
        return bool(value.numpy()) if hasattr(value, "numpy") else bool(value)
    except (AttributeError, TypeError, ValueError):
        return False

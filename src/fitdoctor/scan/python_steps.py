"""Steps of a tf.data pipeline that call back into Python: a generator, `py_function`, `numpy_function`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fitdoctor.collect.pipelines import chain, inputs_of, operation_of

PYTHON = frozenset(("PyFunc", "EagerPyFunc", "PyFuncStateless"))
"""Operations that call back into the Python process that created them."""


def python_step(dataset: Any) -> str | None:
    """Return the first step that calls Python, in words with its location; None if there is none."""
    for step in chain(dataset):
        for function, graph in _functions(step):
            if not any(node.op in PYTHON for node in _nodes(graph)):
                continue
            where = _place(function)
            generates = "generator" in where or _is_generator(step)
            return f"{'`from_generator`' if generates else f'`{operation_of(step)}`'}{where}"
    return None


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

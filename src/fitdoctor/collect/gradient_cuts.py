"""Finds, in a traced training step, the operations that block the gradient of some layers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from fitdoctor.facts import Frame
from fitdoctor.failure.leaks import made_at

_MOST = 4
_ZERO = frozenset("Floor Ceil Round Rint Sign".split())
"""Operations with a registered gradient that is nothing."""
_OF_SHAPES = frozenset("Shape ShapeN Size Rank ZerosLike OnesLike NoOp".split())


def gradient_cuts(model: Any, layers: Iterable[Any]) -> tuple[Frame, ...]:
    """Return the user's lines whose operations lie between the weights of layers and the loss, and have no gradient."""
    handles = {
        id(getattr(getattr(one, "_value", one), "handle", one))
        for layer in layers
        for one in layer.trainable_variables
    }
    found: dict[tuple[str, int], Frame] = {}
    for graph in _graphs(getattr(model, "train_function", None)):
        starts = [inner for outer, inner in graph.captures if id(outer) in handles]
        for operation in _blocking(starts):
            lines = [frame for frame in made_at(operation.outputs[0]) if not frame.library]
            if lines:
                found.setdefault((lines[-1].path, lines[-1].line), lines[-1])
    return tuple(found.values())[:_MOST]


def _graphs(function: Any) -> Iterator[Any]:
    """Yield the graphs of the `tf.function`s that a function calls through its closures."""
    pending, seen = [function], set[int]()
    while pending:
        one = pending.pop()
        if id(one) in seen or not callable(one):
            continue
        seen.add(id(one))
        if hasattr(one, "_list_all_concrete_functions"):
            yield from (each.graph for each in one._list_all_concrete_functions())
            one = one.python_function
        pending.append(getattr(one, "__wrapped__", None))
        for cell in getattr(one, "__closure__", None) or ():
            try:
                pending.append(cell.cell_contents)
            except ValueError:  # an empty cell
                continue


def _blocking(starts: list[Any]) -> Iterator[Any]:
    """Yield the first operations after the tensors that have no gradient, if the loss depends on them."""
    for operation in _after(starts, through_cuts=False):
        if _is_cut(operation) and any(
            "gradient_tape/" in each.name for each in _after(operation.outputs, through_cuts=True)
        ):
            yield operation


def _after(starts: Iterable[Any], *, through_cuts: bool) -> Iterator[Any]:
    """Yield the operations that use tensors, directly or through others."""
    pending, seen = list(starts), set[int]()
    while pending:
        for operation in pending.pop(0).consumers():
            if id(operation) in seen or operation.type in _OF_SHAPES:
                continue
            seen.add(id(operation))
            yield operation
            if through_cuts or not _is_cut(operation):
                pending.extend(operation.outputs)


def _is_cut(operation: Any) -> bool:
    from tensorflow.python.framework import ops

    if operation.type == "StopGradient" or operation.type in _ZERO:
        return True
    kinds = [one.dtype for one in operation.outputs]
    if not kinds or operation.type.startswith(("Assign", "ReadVariable", "ResourceGather")):
        return False
    if not any(kind.is_floating or kind.is_complex or kind.name in ("variant", "resource") for kind in kinds):
        return True
    try:
        return ops.get_gradient_function(operation) is None
    except LookupError:
        return operation.type in ("PyFunc", "PyFuncStateless")

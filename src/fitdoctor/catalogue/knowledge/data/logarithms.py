"""Fix the logarithm of counts that include 0."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fitdoctor.catalogue.knowledge.data.data_trail import Link
from fitdoctor.diagnosis import Edit, Fix
from fitdoctor.edits import unsafe
from fitdoctor.facts import Statistics

_BACK = ("numpy.exp", "tensorflow.exp", "tensorflow.math.exp", "keras.ops.exp", "math.exp")


def of_one_more(step: Link | None, statistics: Statistics, labels: bool) -> Iterator[Fix]:
    """Replace `np.log`, which is infinite at 0, by `np.log1p`; neither accepts negative numbers.

    Args:
        step: what produced the non-finite values.
        statistics: of the array passed to fit.
        labels: whether the array is the labels; then the inverse transform of predictions would have to change too.
    """
    node = step.node if step is not None else None
    if step is None or statistics.nan or not isinstance(node, ast.Call):
        return
    module = step.module
    if module.resolve(node.func) != "numpy.log" or labels and module.calls_to(*_BACK):
        return
    # Training and validation data are usually computed together and must stay on one scale.
    alike = [
        call.node for call in module.calls_to("numpy.log") if module.scope(call.node) is module.scope(node)
    ]
    edits = [
        Edit(module.location(call.func), f"{module.segment(call.func)}1p")
        for call in alike
        if isinstance(call.func, ast.Attribute)
    ]
    name = f"{module.segment(node.func)}1p"
    yield unsafe(
        f"use `{name}`, which is log(1 + x): it maps 0 to 0", edits if len(edits) == len(alike) else ()
    )

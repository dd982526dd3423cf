"""Whether a repaired program only runs because it lost what it was for: data, validation, layers, metrics or a fit."""

from __future__ import annotations

from collections.abc import Iterator

from fitdoctor.diagnosis import Finding
from fitdoctor.engine_inputs import SeenCall
from fitdoctor.facts import ModelFacts

_LEFT = 0.5
"""The smallest share of the samples that a repair may leave: rows with gaps or wrong labels may go."""
_OF_METRICS = frozenset({"FIT218", "FIT216", "FIT322"})
"""Causes that lie in the metrics themselves."""


def emptied(before: SeenCall | None, after: SeenCall | None, finding: Finding) -> str:
    """Return what a repair took out of the program, as the end of "it …"; "" if nothing.

    Args:
        before: the `fit` call as it was.
        after: the same call of the repaired program.
        finding: what the repair is for; it may remove what is wrong itself.
    """
    if before is None or after is None or before.fit.method != after.fit.method:
        return ""
    return next(_losses(before, after, finding.id), "")


def _losses(before: SeenCall, after: SeenCall, cause: str) -> Iterator[str]:
    rows, left = _samples(before), _samples(after)
    if rows is not None and left is not None and left < rows * _LEFT:
        yield f"leaves {left:,} of {rows:,} samples"
    if before.fit.has_validation and not after.fit.has_validation:
        yield "removes the validation data"
    if not isinstance(before.model, ModelFacts) or not isinstance(after.model, ModelFacts):
        return
    metrics = len(before.model.metrics), len(after.model.metrics)
    if metrics[1] < metrics[0] and cause not in _OF_METRICS:
        yield "removes a metric"
    if _learning(after.model) < _learning(before.model):
        yield "removes a layer with weights"


def _samples(call: SeenCall) -> int | None:
    counts = [data.samples for data in call.data if data.role == "training"]
    return counts[0] if counts and isinstance(counts[0], int) else None


def _learning(model: ModelFacts) -> int:
    """Count the layers that learn."""
    return sum(layer.trainable_parameters > 0 for layer in model.every_layer())

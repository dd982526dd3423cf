"""Custom losses that compare labels and outputs directly, flattened or not."""

from __future__ import annotations

import math
from collections.abc import Iterator

from fitdoctor.catalogue.knowledge.labels.label_shapes import LENGTHS, UNITS, UNTOLD, Refused, verdict
from fitdoctor.catalogue.knowledge.labels.targets import targets
from fitdoctor.diagnosis import Confidence, Location
from fitdoctor.facts import DataFacts, ModelFacts, Shape
from fitdoctor.failure.patterns import operation_shapes


def refused_by_own_loss(
    message: str, model: ModelFacts, data: DataFacts, raised_at: Location | None = None
) -> Iterator[tuple[str, Refused]]:
    """Yield the targets whose sizes an operation rejected, with the kind of mismatch."""
    met = operation_shapes(message)
    if met is None or len(met.shapes) != 2 or data.role != "training":
        return
    for target in targets(model, data):
        labels, output = target.label_shape, target.output_shape
        if labels is None or output is None or len(labels) != len(output) or target.loss is None:
            continue
        if labels[1:] == output[1:] or verdict(target.loss_name, labels, output) != UNTOLD:
            continue
        pair = met.shapes
        if _hold(pair, labels, output) or _hold((pair[1], pair[0]), labels, output):
            kind = UNITS if labels[1:-1] == output[1:-1] else LENGTHS
            yield kind, Refused(target, labels, output, Confidence.CERTAIN, raised_at)


def _hold(pair: tuple[Shape, ...], labels: Shape, output: Shape) -> bool:
    """Whether one shape is a batch of labels and the other the same number of outputs."""
    if len(pair[0]) == len(labels) == len(pair[1]):
        return pair[0][1:] == labels[1:] and pair[1][1:] == output[1:]
    if len(pair[0]) != 1 or len(pair[1]) != 1:
        return False
    counts = [_samples(one[0], sample[1:]) for one, sample in zip(pair, (labels, output), strict=True)]
    return counts[0] is not None and counts[0] == counts[1]


def _samples(values: int | None, sample: Shape) -> int | None:
    """Return the number of samples for a number of values, None if it does not divide evenly."""
    known = [length for length in sample if length is not None]
    if values is None or len(known) != len(sample):
        return None
    return values // math.prod(known) if values % math.prod(known) == 0 else None

"""Compare the shape of the labels with the output, as each loss reads them: one verdict for all causes."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

from fitdoctor.catalogue import Cause
from fitdoctor.catalogue.knowledge.labels.called_losses import called_loss
from fitdoctor.catalogue.knowledge.labels.classes_of_a_batch import counted_in_each_batch
from fitdoctor.catalogue.knowledge.labels.targets import (
    BINARY_LOSSES,
    REGRESSION,
    ROW_LOSSES,
    SPARSE,
    Target,
    loss_accepted,
    loss_failure,
    targets,
)
from fitdoctor.catalogue.words import place
from fitdoctor.diagnosis import Confidence, Evidence, Finding, Fix, Location
from fitdoctor.facts import (
    Code,
    DataFacts,
    FailureFacts,
    FailureSummary,
    FitFacts,
    ModelFacts,
    Shape,
    Statistics,
    Unknown,
)
from fitdoctor.failure.patterns import TargetOutput, operation_shapes, target_and_output
from fitdoctor.records import dataclass, replace
from fitdoctor.source.project import Project

FITS = "fits"
CLASS_NUMBERS = "integer classes"
"""Integer class labels, but the loss expects one column per unit."""
ONE_HOT = "one-hot labels"
"""One-hot labels, but the loss expects one integer per sample."""
UNITS = "units"
"""The number of targets differs from the number of units."""
LENGTHS = "lengths"
"""Lengths or rank differ before the last axis: images of another size, more or fewer time steps."""
SEQUENCE = "sequence"
"""One target per sample, but an output for every time step."""
BROADCAST = "broadcast"
"""The shapes broadcast without an error."""
UNTOLD = ""

_ROWS = ROW_LOSSES | {"kl_divergence", "categorical_hinge"}
_ELEMENTWISE = REGRESSION | {"poisson", "hinge", "squared_hinge"}


def verdict(loss: str, labels: Shape, output: Shape, statistics: Statistics | None = None) -> str:
    """Return how the label shape mismatches the output shape, as one of the constants above."""
    if not labels or len(output) < 2:
        return UNTOLD
    if _one_target_for_all_steps(labels, output):
        return SEQUENCE
    if output[-1] is None and loss == SPARSE:
        # One-hot labels are not integer labels, whatever their width.
        one_hot = statistics is not None and statistics.row_sums == (1.0, 1.0) and statistics.integral
        return ONE_HOT if one_hot and len(labels) == len(output) and labels[-1] != 1 else UNTOLD
    if output[-1] is None and loss not in _ROWS:
        return UNTOLD
    if loss == SPARSE:
        return _sparse(labels[1:], output[1:], statistics)
    if loss in _ROWS:
        return _rows(labels[1:], output[1:], statistics)
    if loss in BINARY_LOSSES:
        return FITS if _aligned(labels[1:], output[1:]) else _widths(labels[1:], output[1:])
    if loss in _ELEMENTWISE:
        return _elementwise(labels[1:], output[1:])
    return UNTOLD


def _one_target_for_all_steps(labels: Shape, output: Shape) -> bool:
    if len(output) != 3 or output[1] == 1 or len(labels) > 2:
        return False
    steps, width = output[1:]
    if len(labels) == 1 or labels[1] == 1:
        return True
    return labels[1] == width and steps is not None and labels[1] != steps


def _same(first: Shape, second: Shape) -> bool:
    return len(first) == len(second) and all(
        one is None or other is None or one == other for one, other in zip(first, second, strict=True)
    )


def _aligned(labels: Shape, output: Shape) -> bool:
    """Whether the shapes are equal after Keras adds or drops a last axis of length 1."""
    if _same(labels, output):
        return True
    return (output[-1] == 1 and _same(labels, output[:-1])) or (
        bool(labels) and labels[-1] == 1 and _same(labels[:-1], output)
    )


def _numbers(labels: Shape, output: Shape) -> bool:
    """Whether the labels have one integer per output row."""
    return _same(labels, output[:-1]) or (
        len(labels) == len(output) and labels[-1] == 1 and _same(labels[:-1], output[:-1])
    )


def _sparse(labels: Shape, output: Shape, statistics: Statistics | None) -> str:
    if _numbers(labels, output):
        return FITS
    if len(labels) == len(output) - 1 > 0 and _clash(labels, output[:-1]):
        return LENGTHS
    if len(labels) != len(output) or not _same(labels[:-1], output[:-1]):
        return UNITS if len(labels) <= len(output) else UNTOLD
    if statistics is None:
        # One-hot labels are as wide as the output; rows of another width are integer labels per step.
        return ONE_HOT if _same(labels[-1:], output[-1:]) else UNITS
    within = (statistics.minimum or 0) >= 0 and statistics.maximum is not None and statistics.maximum <= 1
    return ONE_HOT if within else UNITS


def _rows(labels: Shape, output: Shape, statistics: Statistics | None) -> str:
    if _same(labels, output) or (output[-1] == 1 and _numbers(labels, output)):
        return FITS
    if output[-1] is None:
        numbers = _same(labels, output[:-1]) and (statistics is None or statistics.integral)
        return CLASS_NUMBERS if numbers else UNTOLD
    if _numbers(labels, output):
        return CLASS_NUMBERS if statistics is None or statistics.integral else UNITS
    return _widths(labels, output)


def _widths(labels: Shape, output: Shape) -> str:
    if len(labels) == len(output) and not _same(labels[:-1], output[:-1]):
        return LENGTHS
    if len(labels) not in (len(output), len(output) - 1):
        return _ranks(labels, output)
    return UNITS


def _ranks(labels: Shape, output: Shape) -> str:
    """Return the verdict for different ranks: reshaped values, or labels with an extra axis."""
    return LENGTHS if same_values(labels, output) or len(labels) > len(output) else UNTOLD


def same_values(labels: Shape, output: Shape) -> bool:
    """Whether both shapes have the same number of values, so that a reshape helps."""
    known = [length for length in (*labels, *output) if length is not None]
    return len(known) == len(labels) + len(output) and math.prod(known[: len(labels)]) == math.prod(
        known[len(labels) :]
    )


def compared_labels(model: ModelFacts, target: Target) -> Shape | None:
    """Return the shape of the labels that an elementwise loss compares: Keras 2 turns (n,) into (n, 1) for two axes."""
    labels, output = target.label_shape, target.output_shape
    if model.keras != 2 or target.loss_name not in _ELEMENTWISE or labels is None or output is None:
        return labels
    return (*labels, 1) if (len(labels), len(output)) == (1, 2) else labels


def flattened_alike(model: ModelFacts, loss: str, labels: Shape, output: Shape) -> bool:
    """Whether Keras 2 accepts the labels of a sparse loss: it flattens both and compares the numbers of rows."""
    return model.keras == 2 and loss == SPARSE and same_values(labels[1:], output[1:-1])


def _elementwise(labels: Shape, output: Shape) -> str:
    if _aligned(labels, output):
        return FITS
    if len(labels) == len(output) and _same(labels[:-1], output[:-1]):
        return BROADCAST if 1 in (labels[-1], output[-1]) else UNITS
    if len(output) == 1 and not labels:
        return UNITS
    if len(labels) == len(output):
        return LENGTHS if _clash(labels, output) else UNTOLD
    # Axes are aligned from the last one; Keras drops an extra last axis of length 1.
    whole = len(labels) > len(output) + 1 or labels[-1:] != (1,)
    if len(labels) > len(output) > 0 and whole and _clash(labels[-len(output) :], output):
        return LENGTHS
    return LENGTHS if same_values(labels, output) else UNTOLD


def _clash(labels: Shape, output: Shape) -> bool:
    """Whether two lengths are neither equal nor broadcastable."""
    return any(
        one is not None and other is not None and one != other and 1 not in (one, other)
        for one, other in zip(labels, output, strict=True)
    )


def rows(shape: Shape) -> str:
    """Format a shape with `n` for the batch axis: `(n, 28, 28)`."""
    rest = "".join(f", {'None' if length is None else length}" for length in shape[1:])
    return f"(n{rest or ','})"


@dataclass(frozen=True)
class Refused:
    """Labels whose shape does not match an output."""

    target: Target | None
    """None if only the failure message is known."""
    labels: Shape
    output: Shape
    confidence: Confidence
    place: Location | None = None
    """The line that raised."""
    called: Code | Unknown = Unknown("the loss was not found in the source")
    """Where the source names the loss if the target is unknown: in a direct call or in compile."""


def after_training(fit: FitFacts | Unknown, refused: Refused, project: Project | None = None) -> bool:
    """Whether an evaluating call fails: the model was trained before, so its loss matches other labels."""
    if isinstance(fit, Unknown) or fit.method not in ("evaluate", "test_on_batch"):
        return False
    return refused.confidence is Confidence.CERTAIN or _trained_on_others(project, refused)


def _trained_on_others(project: Project | None, refused: Refused) -> bool:
    """Whether the source trains a model on labels of another rank."""
    from fitdoctor.source.fits.fit_sites import fit_sites

    if not project:
        return False
    sites = [site for module in project.modules for site in fit_sites(module)]
    shapes = [array.shape for site in sites if site.fit.method == "fit" for array in site.data[0].y[:1]]
    known = [len(shape) for shape in shapes if isinstance(shape, tuple)]
    return bool(known) and len(known) == len(shapes) and len(refused.labels) not in known


def refused_before(model: ModelFacts, data: DataFacts, kind: str) -> Iterator[Refused]:
    """Yield the targets with that verdict, unless the trial showed that the loss accepts them."""
    proven = loss_failure(data) is not None
    if data.role == "validation" and not proven:
        # The loss may suit the training labels; then the validation labels are the ones to change.
        return
    for target in targets(model, data):
        labels, output = compared_labels(model, target), target.output_shape
        if labels is None or output is None or (loss_accepted(data) and not _trial_is_blind(target)):
            continue
        if not proven and flattened_alike(model, target.loss_name, labels, output):
            continue
        if verdict(target.loss_name, labels, output, target.label_statistics) == kind:
            confidence = Confidence.CERTAIN if proven else Confidence.LIKELY
            yield Refused(target, labels, output, confidence)


def is_row_of_one_class(refused: Refused, data: DataFacts | Unknown, project: Project) -> bool:
    """Whether one-hot labels have a single column because the batch contains only the first class."""
    one = len(refused.labels) == len(refused.output) and refused.labels[-1] == 1
    return one and counted_in_each_batch(data, project) is not None


def _trial_is_blind(target: Target) -> bool:
    """Whether the trial cannot reject the shapes: a subtracting loss accepts any with an open batch axis."""
    checked = BINARY_LOSSES | {SPARSE, "categorical_crossentropy"}
    shape = target.output_shape
    return target.loss_name not in checked and shape is not None and shape[0] is None


def refused_after(
    failure: FailureFacts,
    model: ModelFacts | Unknown,
    data: DataFacts | Unknown,
    kind: str,
    project: Project | None = None,
) -> Iterator[Refused]:
    """Yield the rejected targets after a failure, from the data if known, else from the message."""
    shapes = shapes_of_failure(failure)
    if shapes is None:
        return
    place = failure.location
    told = False
    if isinstance(model, ModelFacts) and isinstance(data, DataFacts):
        for target in targets(model, data):
            labels, output = target.label_shape, target.output_shape
            if labels is None or output is None or not target.loss_name:
                continue
            found = verdict(target.loss_name, labels, output, target.label_statistics)
            # Labels that match, with another rank than in the message, are not the ones that failed.
            told = told or found != UNTOLD and (found != FITS or len(labels) != len(shapes.target))
            # The losses of Keras 2 compare only known lengths, and a trial does not know all.
            blind = model.keras == 2 or _trial_is_blind(target)
            if found == kind and (blind or not loss_accepted(data)):
                yield Refused(target, labels, output, Confidence.CERTAIN, place)
        if told or data.role != "training":
            return
        said = _said_target(model, data, shapes)
        if said is not None:
            if verdict(said.loss_name, shapes.target, shapes.output) == kind:
                yield Refused(said, shapes.target, shapes.output, Confidence.CERTAIN, place)
            return
    loss = loss_of_failure(failure, shapes.rule)
    if verdict(loss, shapes.target, shapes.output) == kind:
        called = called_loss(project, failure, loss)
        if isinstance(model, ModelFacts) and [each.name for each in model.losses] == [loss]:
            called = model.losses[0].code
        yield Refused(None, shapes.target, shapes.output, Confidence.LIKELY, place, called)


def _said_target(model: ModelFacts, data: DataFacts, shapes: TargetOutput) -> Target | None:
    """Return the only output a message can refer to if the label shape is unknown."""
    found = [
        target
        for target in targets(model, data)
        if target.labels is not None
        and target.label_shape is None
        and target.loss_name
        and target.output_shape is not None
        and target.output_shape[1:] == shapes.output[1:]
    ]
    if len(found) != 1:
        return None
    labels = found[0].labels
    assert labels is not None
    return replace(found[0], labels=replace(labels, shape=shapes.target))


def shapes_of_failure(failure: FailureFacts) -> TargetOutput | None:
    """Return the shapes of labels and output if the failure is about these two."""
    shapes = target_and_output(failure.message)
    if shapes is not None:
        return shapes
    operation = operation_shapes(failure.message)
    step = step_of_loss(failure)
    if operation is None or step is None or len(operation.shapes) != 2 or step.weighs:
        return None
    return TargetOutput(operation.shapes[0], operation.shapes[1], "same shape")


@dataclass(frozen=True)
class LossStep:
    """The operation of a built-in loss that failed."""

    loss: str
    operation: str
    """Its name within the loss: `sub`, `mul`."""

    @property
    def weighs(self) -> bool:
        """Whether it multiplies the losses by the sample weights: the last step of every loss."""
        return self.operation == "mul" and self.loss not in (
            "categorical_hinge",
            "categorical_focal_crossentropy",
        )


def step_of_loss(failure: FailureFacts | FailureSummary) -> LossStep | None:
    """Return the operation of a loss at which a graph failed, forward or backward; None for any other node."""
    operation = operation_shapes(failure.message)
    node = operation.node if operation is not None and operation.node else getattr(failure, "node", "")
    parts = node.removeprefix("gradient_tape/").split("/")
    if parts[0] != "compile_loss" or len(parts) < 3:
        return None
    return LossStep(
        {"mse": "mean_squared_error", "mae": "mean_absolute_error"}.get(parts[1], parts[1]), parts[2]
    )


_LOSS_BY_RULE = {
    "one rank less": SPARSE,
    "same rank": "categorical_crossentropy",
    "same shape": "categorical_crossentropy",
}


_SIGMOID = re.compile(r"`?logits`? and `?labels`? must have the same shape")
"""Only the crossentropy with a sigmoid compares them in these words."""


def loss_of_failure(failure: FailureFacts, rule: str) -> str:
    """Return the loss that raised: from the last Keras frames, else from the wording of the message."""
    for frame in reversed(failure.frames[-6:]):
        if frame.library and (
            frame.function in BINARY_LOSSES | _ROWS | _ELEMENTWISE or frame.function == SPARSE
        ):
            return frame.function
    step = step_of_loss(failure)
    if step is not None:
        return step.loss
    if _SIGMOID.search(failure.message):
        return "binary_crossentropy"
    return _LOSS_BY_RULE.get(rule, "")


def refusal_finding(
    cause: Cause,
    refused: Refused,
    model: ModelFacts | Unknown,
    message: str,
    claim: str,
    expected: Shape,
    fixes: list[Fix],
    trained: bool,
) -> Finding:
    """Build the finding for label shapes a loss rejects, located at the loss, or at the labels if already trained."""
    target = refused.target
    labels = target.labels if target is not None else None
    loss = target.loss if target is not None else None
    if target is None and isinstance(model, ModelFacts) and len(model.losses) == 1:
        loss = model.losses[0]
    return cause.finding(
        message,
        place(
            labels.code if labels and trained else None,
            loss.code if loss else None,
            refused.called,
            model.compile_code if isinstance(model, ModelFacts) else None,
            labels.code if labels else None,
            refused.place,
        ),
        Evidence(
            claim,
            rows(refused.labels),
            rows(expected),
            fact="data.y.shape" if target is not None else "failure.message",
            location=place(labels.code, labels.use) if labels is not None else refused.place,
        ),
        *(list(reversed(fixes)) if trained else fixes),
        subject=target.subject if target is not None else "labels",
        confidence=refused.confidence,
    )

"""Compare the shape of the labels with the output, as each loss reads them: one verdict for all causes."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator

from fitdoctor.catalogue import Cause, JudgeFunction
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
    statistics_of,
    targets,
)
from fitdoctor.catalogue.words import place
from fitdoctor.diagnosis import Confidence, Evidence, Finding, Fix, Location, Severity
from fitdoctor.facts import (
    ArrayFacts,
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
from fitdoctor.failure.shapes import TargetOutput, operation_shapes, target_and_output
from fitdoctor.records import dataclass, replace
from fitdoctor.source.fits.fit_sites import fit_sites
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


def compared_labels(model: ModelFacts, target: Target, data: DataFacts) -> Shape | None:
    """Return the shape of the labels that an elementwise loss compares, with two axes where (n,) broadcasts like (n, 1).

    Keras 2 turns (n,) into (n, 1); in batches of a single sample, both broadcast to every unit.
    """
    labels, output = target.label_shape, target.output_shape
    if target.loss_name not in _ELEMENTWISE or labels is None or output is None:
        return labels
    if model.keras != 2 and data.batch_size != 1:
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

    kind: str
    """The verdict: one of the constants above."""
    target: Target | None
    """None if only the failure message is known."""
    labels: Shape
    output: Shape
    confidence: Confidence
    model: ModelFacts | Unknown
    data: DataFacts | Unknown
    project: Project
    failure: FailureFacts | None = None
    called: Code | Unknown = Unknown("the loss was not found in the source")
    """Where the source names the loss if the target is unknown: in a direct call or in compile."""
    trained: bool = False
    """Whether an evaluating call fails: the model was trained before, so its loss matches other labels."""

    @property
    def array(self) -> ArrayFacts | None:
        """Return the labels, if they are known."""
        return self.target.labels if self.target is not None else None

    @property
    def statistics(self) -> Statistics | None:
        """Return the statistics of the labels, None if they were not read."""
        return statistics_of(self.array)

    @property
    def raised_at(self) -> Location | None:
        """Return the line that raised."""
        return self.failure.location if self.failure is not None else None

    @property
    def is_row_of_one_class(self) -> bool:
        """Whether one-hot labels have a single column because the batch contains only the first class."""
        one = len(self.labels) == len(self.output) and self.labels[-1] == 1
        return one and counted_in_each_batch(self.data, self.project) is not None

    def finding(
        self,
        cause: Cause,
        message: str,
        location: Location | None,
        *fixes: Fix,
        claim: str = "shapes of labels and outputs",
        expected: Shape | None = None,
        severity: Severity = Severity.ERROR,
    ) -> Finding:
        """Report it with the shape of the labels, and the one that is expected or the one of the output."""
        labels = self.array
        found, wanted = f"labels {rows(self.labels)}", f"outputs {rows(self.output)}"
        return cause.finding(
            message,
            location,
            Evidence(
                claim,
                found if expected is None else rows(self.labels),
                wanted if expected is None else rows(expected),
                fact="data.y.shape" if self.target is not None else "failure.message",
                location=place(labels.code, labels.use) if labels is not None else self.raised_at,
            ),
            *fixes,
            subject=self.target.subject if self.target is not None else "labels",
            confidence=self.confidence,
            severity=severity,
        )

    def finding_at_loss(
        self, cause: Cause, message: str, claim: str, expected: Shape, fixes: list[Fix]
    ) -> Finding:
        """Report it at the loss, or at the labels if the model was trained on others."""
        labels, model = self.array, self.model
        loss = self.target.loss if self.target is not None else None
        if self.target is None and isinstance(model, ModelFacts) and len(model.losses) == 1:
            loss = model.losses[0]
        location = place(
            labels.code if labels and self.trained else None,
            loss.code if loss else None,
            self.called,
            model.compile_code if isinstance(model, ModelFacts) else None,
            labels.code if labels else None,
            self.raised_at,
        )
        fixes = fixes[::-1] if self.trained else fixes
        return self.finding(cause, message, location, *fixes, claim=claim, expected=expected)


def explains_labels(
    cause: Cause,
    explain: Callable[[Refused], Iterator[Finding]],
    *kinds: str,
    narrowed: Callable[[JudgeFunction], JudgeFunction],
) -> None:
    """Let a cause explain labels of these kinds: in the source, before `fit`, and after a failure.

    Args:
        cause: the cause.
        explain: reports one output whose labels do not match.
        kinds: the verdicts that are the cause's own.
        narrowed: says in which programs the source can show it: `mentions(…)` or `doubting(…)`.
    """

    @cause.in_source
    @narrowed
    @cause.before_fit
    def from_data(model: ModelFacts, fit: FitFacts, data: DataFacts, project: Project) -> Iterator[Finding]:
        for kind in kinds:
            for refused in refused_before(model, data, project, kind):
                trained = _was_trained(fit, refused) or _evaluates(fit) and _trained_on_others(refused)
                yield from explain(replace(refused, trained=trained))

    @cause.after_failure
    def from_failure(
        failure: FailureFacts,
        model: ModelFacts | Unknown,
        fit: FitFacts | Unknown,
        data: DataFacts | Unknown,
        project: Project,
    ) -> Iterator[Finding]:
        for kind in kinds:
            for refused in refused_after(failure, model, data, project, kind):
                yield from explain(replace(refused, trained=_was_trained(fit, refused)))


def _evaluates(fit: FitFacts | Unknown) -> bool:
    return isinstance(fit, FitFacts) and fit.method in ("evaluate", "test_on_batch")


def _was_trained(fit: FitFacts | Unknown, refused: Refused) -> bool:
    return _evaluates(fit) and refused.confidence is Confidence.CERTAIN


def _trained_on_others(refused: Refused) -> bool:
    """Whether the source trains a model on labels of another rank."""
    sites = [site for module in refused.project.modules for site in fit_sites(module)]
    shapes = [array.shape for site in sites if site.fit.method == "fit" for array in site.data[0].y[:1]]
    known = [len(shape) for shape in shapes if isinstance(shape, tuple)]
    return bool(known) and len(known) == len(shapes) and len(refused.labels) not in known


def refused_before(model: ModelFacts, data: DataFacts, project: Project, kind: str) -> Iterator[Refused]:
    """Yield the targets with that verdict, unless the trial showed that the loss accepts them."""
    failed = loss_failure(data)
    if data.role == "validation" and failed is None:
        # The loss may suit the training labels; then the validation labels are the ones to change.
        return
    for target in targets(model, data):
        labels, output = compared_labels(model, target, data), target.output_shape
        if labels is None or output is None or (loss_accepted(data) and not _trial_is_blind(target)):
            continue
        if failed is None and flattened_alike(model, target.loss_name, labels, output):
            continue
        if verdict(target.loss_name, labels, output, target.label_statistics) == kind:
            sure = Confidence.LIKELY if failed is None else Confidence.CERTAIN
            yield Refused(kind, target, labels, output, sure, model, data, project)
    if failed is not None:
        yield from _refused_by_own_code(failed.message, model, data, project, kind)


def _refused_by_own_code(
    message: str, model: ModelFacts, data: DataFacts, project: Project, kind: str
) -> Iterator[Refused]:
    """Yield the targets whose sizes an operation of a custom loss rejected."""
    met = operation_shapes(message)
    if met is None or len(met.shapes) != 2 or data.role != "training":
        return
    first, second = met.shapes
    for target in targets(model, data):
        labels, output = target.label_shape, target.output_shape
        if labels is None or output is None or len(labels) != len(output) or target.loss is None:
            continue
        if labels[1:] == output[1:] or verdict(target.loss_name, labels, output) != UNTOLD:
            continue
        held = _hold(first, second, labels, output) or _hold(second, first, labels, output)
        if held and kind == (UNITS if labels[1:-1] == output[1:-1] else LENGTHS):
            yield Refused(kind, target, labels, output, Confidence.CERTAIN, model, data, project)


def _hold(first: Shape, second: Shape, labels: Shape, output: Shape) -> bool:
    """Whether one shape is a batch of labels and the other the same number of outputs."""
    if len(first) == len(labels) == len(second):
        return first[1:] == labels[1:] and second[1:] == output[1:]
    if len(first) != 1 or len(second) != 1:
        return False
    samples = _samples(first[0], labels[1:])
    return samples is not None and samples == _samples(second[0], output[1:])


def _samples(values: int | None, sample: Shape) -> int | None:
    """Return the number of samples for a number of values, None if it does not divide evenly."""
    known = [length for length in sample if length is not None]
    if values is None or len(known) != len(sample):
        return None
    return values // math.prod(known) if values % math.prod(known) == 0 else None


def _trial_is_blind(target: Target) -> bool:
    """Whether the trial cannot reject the shapes: a subtracting loss accepts any with an open batch axis."""
    checked = BINARY_LOSSES | {SPARSE, "categorical_crossentropy"}
    shape = target.output_shape
    return target.loss_name not in checked and shape is not None and shape[0] is None


def refused_after(
    failure: FailureFacts,
    model: ModelFacts | Unknown,
    data: DataFacts | Unknown,
    project: Project,
    kind: str,
) -> Iterator[Refused]:
    """Yield the rejected targets after a failure, from the data if known, else from the message."""
    shapes = shapes_of_failure(failure)
    if shapes is not None:
        yield from _refused_shapes(failure, shapes, model, data, project, kind)
    if isinstance(model, ModelFacts) and isinstance(data, DataFacts):
        yield from _refused_by_own_code(failure.message, model, data, project, kind)


def _refused_shapes(
    failure: FailureFacts,
    shapes: TargetOutput,
    model: ModelFacts | Unknown,
    data: DataFacts | Unknown,
    project: Project,
    kind: str,
) -> Iterator[Refused]:
    told = False
    of_message = Refused(
        kind, None, shapes.target, shapes.output, Confidence.LIKELY, model, data, project, failure
    )
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
                sure = Confidence.CERTAIN
                yield replace(of_message, target=target, labels=labels, output=output, confidence=sure)
        if told or data.role != "training":
            return
        said = _said_target(model, data, shapes)
        if said is not None:
            if verdict(said.loss_name, shapes.target, shapes.output) == kind:
                yield replace(of_message, target=said, confidence=Confidence.CERTAIN)
            return
    loss = loss_of_failure(failure, shapes.rule)
    if verdict(loss, shapes.target, shapes.output) == kind:
        called = called_loss(project, failure, loss)
        if isinstance(model, ModelFacts) and [each.name for each in model.losses] == [loss]:
            called = model.losses[0].code
        yield replace(of_message, called=called)


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

"""Labels outside the range of the output layer.

## What happens

`sparse_categorical_crossentropy` reads each label as the index of an output unit. A model with 10 units has the
classes 0 to 9. A label of 10 or -1 ends the training with `InvalidArgumentError: Received a label value of 10 which
is outside the valid range of [0, 10)`, at the first batch that contains it, which may be hours into the run.
Compiled with `jit_compile=True`, the same labels raise nothing and the loss becomes NaN.

## Why

The labels start at 1, -1 marks a missing label, or there are more classes than units.

## Fix

If the labels run from 1 to the number of units, subtract 1. Otherwise set the units of the last layer to the number
of classes, or remove the rows with the stray label. To keep a marker such as -1, exclude it from the loss:
`SparseCategoricalCrossentropy(ignore_class=-1)`.

## Known limits

Labels from a generator or a dataset are known only as far as they were read.
"""

from __future__ import annotations

from collections.abc import Iterator

from fitdoctor.catalogue import Cause, mentions
from fitdoctor.catalogue.knowledge.data.generator_sources import origin_of_argument
from fitdoctor.catalogue.knowledge.data.shapes import while_validating
from fitdoctor.catalogue.knowledge.labels.label_shapes import FITS, verdict
from fitdoctor.catalogue.knowledge.labels.targets import (
    BINARY,
    SPARSE,
    Target,
    head_layer,
    is_binary,
    statistics_of,
    targets,
)
from fitdoctor.catalogue.labels.label_edits import respell, rework_labels, with_units
from fitdoctor.catalogue.words import number, place
from fitdoctor.diagnosis import Confidence, Edit, Evidence, Finding, Fix, Location, Severity
from fitdoctor.edits import fix, set_argument, spell, unsafe, wrap
from fitdoctor.facts import (
    ArrayFacts,
    Code,
    DataFacts,
    FailureFacts,
    FitFacts,
    ModelFacts,
    Statistics,
    Unknown,
)
from fitdoctor.failure.patterns import LabelOutOfRange, label_out_of_range
from fitdoctor.records import replace
from fitdoctor.source.project import Project

CAUSE = Cause(
    id="FIT203",
    slug="labels-out-of-range",
    severity=Severity.ERROR,
    aspect="range",
    raises=("InvalidArgumentError", "IndexError"),
)


@CAUSE.in_source
@CAUSE.before_fit
@mentions("sparse", "Sparse")
def from_data(
    model: ModelFacts, fit: FitFacts | Unknown, data: DataFacts, project: Project | Unknown
) -> Iterator[Finding]:
    """Report a label without an output unit."""
    for target in targets(model, data):
        statistics, units = target.label_statistics, target.units
        if statistics is None or units is None or target.labels is None or target.loss is None:
            continue
        labels, output = target.label_shape, target.output_shape
        if target.loss_name != SPARSE or not statistics.integral or labels is None or output is None:
            continue
        if verdict(SPARSE, labels, output, statistics) != FITS:
            continue
        stray = _stray_label(statistics, units, dict(target.loss.settings).get("ignore_class"))
        if stray is None:
            continue
        from fitdoctor.catalogue.labels.labels_out_of_range.shared_labels import as_labels_alone

        target = replace(target, labels=as_labels_alone(target.labels, project))
        assert target.labels is not None
        label, row = stray
        least, most = statistics.minimum or 0, statistics.maximum or 0
        # Under XLA the operation does not check its labels.
        yield CAUSE.finding(
            f"{target.whose} run from {number(least)} to {number(most)}, but {_allowed(model, units)}",
            _culprit(target, statistics, units),
            Evidence(
                f"label {number(label)}"
                + (f" appears in row {row:,}" if row is not None else " has no unit"),
                f"{number(least)}..{number(most)}",
                f"0..{units - 1}",
                fact="data.y.statistics",
                location=place(target.labels.code, target.labels.use),
            ),
            *_layer_evidence(target, units),
            *(
                _fixes_of_data(statistics, units)
                if model.declared
                else _fixes(target, fit, data, statistics, units, project)
            ),
            subject=target.subject,
            notes=["with `jit_compile=True` nothing raises and the loss becomes NaN"]
            if model.jit_compile
            else [],
            confidence=Confidence.CERTAIN if statistics.complete else Confidence.LIKELY,
            severity=Severity.WARNING if model.jit_compile else Severity.ERROR,
        )


def _allowed(model: ModelFacts, units: int) -> str:
    if model.declared:
        return f"{model.declared} allows {_classes(units)}"
    return f"the model has {units} unit{'s' * (units != 1)}: {_classes(units)}"


def _fixes_of_data(statistics: Statistics, units: int) -> list[Fix]:
    """Fixes where only the number of classes was given, and no model."""
    least, most = statistics.minimum or 0, statistics.maximum or 0
    if least > 0 and most - least < units:
        return [fix(f"subtract {number(least)} from the labels: classes are numbered from 0")]
    if least < 0:
        return [fix(f"remove or relabel the rows with label {number(least)}")]
    return [fix(f"correct the labels, or allow {int(most) + 1} classes")]


def _classes(units: int) -> str:
    return "class 0 only" if units == 1 else f"classes 0 to {units - 1}"


def _culprit(target: Target, statistics: Statistics, units: int) -> Location | None:
    """Return the line to change: the labels if they can be shifted into range, else the layer or the loss."""
    assert target.labels is not None
    assert target.loss is not None
    labels = (target.labels.code, target.labels.use)
    layer = target.layer.code if target.layer is not None else None
    if _is_binary_head(target, units):
        return place(target.loss.code, layer, *labels)
    if (statistics.minimum or 0) < 0 or (statistics.minimum == 1 and statistics.maximum == units):
        return place(*labels, layer)
    return place(layer, *labels) if _are_classes(statistics, units) else place(*labels, layer)


def _are_classes(statistics: Statistics, units: int) -> bool:
    """Whether the labels are classes the model has no unit for, rather than unrelated numbers."""
    most = statistics.maximum or 0
    every = statistics.histogram is not None and len(statistics.histogram) == most + 1
    return every or most < max(2 * units, 10)


def _is_binary_head(target: Target, units: int) -> bool:
    """Whether the model has one non-softmax unit for labels 0 and 1, as the binary loss expects."""
    return units == 1 and is_binary(target.label_statistics) and target.activation != "softmax"


def _stray_label(statistics: Statistics, units: int, ignored: str | None) -> tuple[float, int | None] | None:
    """Return a label without a unit and the first row that contains it."""
    if statistics.histogram is not None:
        labels = [value for value, _count in statistics.histogram if str(int(value)) != ignored]
    else:
        extremes = (statistics.minimum, statistics.maximum)
        labels = [v for v in extremes if v is not None and str(int(v)) != ignored]
    stray = [label for label in labels if not 0 <= label < units]
    if not stray:
        return None
    label = max(stray)
    if label == statistics.maximum:
        return label, statistics.first_maximum
    return label, statistics.first_minimum if label == statistics.minimum else None


def _layer_evidence(target: Target, units: int) -> list[Evidence]:
    if target.layer is None:
        return []
    return [
        Evidence(
            f"the last layer `{target.layer.name}` has {units} unit{'s' * (units != 1)}",
            fact="model.outputs",
            location=place(target.layer.code),
        )
    ]


def _fixes(
    target: Target,
    call: FitFacts | Unknown,
    data: DataFacts,
    statistics: Statistics,
    units: int,
    project: Project | Unknown,
) -> list[Fix]:
    least, most = statistics.minimum, statistics.maximum
    labels = target.labels
    if labels is None or least is None or most is None:
        return []
    if _is_binary_head(target, units) and target.loss is not None:
        edits = respell(target.loss.code, BINARY, without=("ignore_class",))
        return [
            fix(f"use `{BINARY}`, the loss for one unit", edits if target.activation == "sigmoid" else ())
        ]
    classes = int(most) + 1
    title = f"use {classes} units in the last layer, one per class"
    if least != 0 and most - least + 1 == units:
        from fitdoctor.catalogue.labels.labels_out_of_range.shared_labels import as_one_piece

        by = f"{'-' if least > 0 else '+'} {number(abs(least))}"
        shifted = fix(
            f"{'subtract' if least > 0 else 'add'} {number(abs(least))} {'from' if least > 0 else 'to'} the labels: "
            f"they run from {number(least)} to {number(most)}, but the loss expects classes starting at 0",
            rework_labels(as_one_piece(labels, project), data, f"{{}} {by}", f"y {by}", call),
        )
        wider = unsafe(title, with_units(target.layer, classes, project)) if least > 0 else None
        return [shifted, wider] if wider is not None and wider.edits else [shifted]
    left_out = _left_out_of_loss(target, statistics, units)
    if left_out is not None:
        return [left_out]
    if least < 0:
        return [unsafe(f"remove or relabel the rows with label {number(least)}")]
    # For 3 distinct labels up to 5000, nobody intends 5001 units.
    if statistics.histogram is not None and classes > 2 * len(statistics.histogram):
        kinds = len(statistics.histogram)
        return [fix(f"renumber the {kinds} classes from 0 to {kinds - 1}, for example with `np.unique`")]
    return [fix(title, with_units(target.layer, classes, project))]


def _left_out_of_loss(target: Target, statistics: Statistics, units: int) -> Fix | None:
    """Exclude a single label outside the classes, such as 255 or -1: it marks samples to ignore."""
    values = [int(value) for value, _count in statistics.histogram or ()]
    strays = [value for value in values if not 0 <= value < units]
    if len(strays) != 1 or target.loss is None or (strays[0] >= 0 and _are_classes(statistics, units)):
        return None
    code = target.loss.code
    title = f"exclude label {strays[0]} from the loss: `ignore_class={strays[0]}`"
    if isinstance(code, Code) and code.text[:1] in "'\"":
        keras, imports = spell(code, "keras", "keras")
        made = f"{keras}.losses.SparseCategoricalCrossentropy(ignore_class={strays[0]})"
        return unsafe(title, (Edit(code.location, made),), imports)
    return unsafe(title, set_argument(code, "ignore_class", str(strays[0])))


def _fully_seen(labels: ArrayFacts) -> bool:
    statistics = statistics_of(labels)
    return statistics is not None and statistics.complete


@CAUSE.after_failure
def from_failure(
    failure: FailureFacts,
    model: ModelFacts | Unknown,
    fit: FitFacts | Unknown,
    data: DataFacts | Unknown,
    project: Project | Unknown,
) -> Iterator[Finding]:
    """Report the label and the range that TensorFlow names."""
    seen = label_out_of_range(failure.message)
    if seen is None:
        return
    if isinstance(model, ModelFacts) and isinstance(data, DataFacts):
        found = list(from_data(model, fit, data, project))
        yield from (replace(finding, confidence=Confidence.CERTAIN) for finding in found)
        # The label TensorFlow rejected overrides whatever the source suggests about the labels.
        judged = not failure.from_text and not isinstance(model.outputs, Unknown)
        seen_all = judged and all(_fully_seen(array) for array in data.y)
        if found or data.role != "training" or seen_all:
            return
    looped = _in_loop(project, failure) if isinstance(fit, Unknown) or failure.called != "fit" else None
    origin = looped or origin_of_argument(project, fit, "y", 1)
    told = _from_words(seen, failure, model, data, origin)
    yield told if looped is None else _shifted_there(told, seen, looped)


@CAUSE.after_failure
def while_encoding(failure: FailureFacts, project: Project | Unknown) -> Iterator[Finding]:
    """Report a label that `to_categorical` has no column for."""
    from fitdoctor.catalogue.labels.labels_out_of_range.encoded_labels import refused

    yield from refused(CAUSE, failure, project)


def _in_loop(project: Project | Unknown, failure: FailureFacts) -> Code | None:
    """Return the expression that creates the labels of a custom training loop."""
    from fitdoctor.catalogue.knowledge.data.loop_data import array_behind
    from fitdoctor.catalogue.knowledge.labels.called_losses import arguments_of_loss

    given = arguments_of_loss(project, failure, SPARSE)
    end = array_behind(given[0], given[1]) if given is not None else None
    return end.code if end is not None and not end.path and end.certain else None


def _shifted_there(found: Finding, seen: LabelOutOfRange, made: Code) -> Finding:
    """Add the edit if the batch shows that the labels start at 1."""
    least = min(seen.batch, default=0)
    if seen.value != seen.high or least < 1 or not made.target or made.maker is not None:
        return found
    return replace(found, fixes=(fix(found.fixes[0].title, wrap(made, "{} - 1")),))


def _lacks_units(seen: LabelOutOfRange) -> bool:
    """Whether the labels are classes the model has no unit for, rather than unrelated numbers."""
    return seen.high <= seen.value < max(2 * seen.high, 10) and 0 in seen.batch


def _from_words(
    seen: LabelOutOfRange,
    failure: FailureFacts,
    model: ModelFacts | Unknown,
    data: DataFacts | Unknown,
    origin: Code | None,
) -> Finding:
    """Build the finding from the message alone, which lists the batch with the stray label."""
    labels = data.y[0] if isinstance(data, DataFacts) and len(data.y) == 1 else None
    layer = head_layer(model) if isinstance(model, ModelFacts) else None
    made: tuple[Code | Unknown | None, ...] = (labels.code, labels.use) if labels is not None else (origin,)
    if while_validating(failure):
        made = ()
    least, most = min(seen.batch, default=seen.value), max(seen.batch, default=seen.value)
    raised = failure.location
    if _lacks_units(seen):
        advice = fix(f"use at least {most + 1} units in the last layer, one per class")
        where = place(layer.code if layer is not None else None, *made, raised)
    elif seen.value == seen.high and least > 0:
        advice = fix(
            f"subtract 1 from the labels: they run from 1 to {seen.high}, but the loss expects classes starting at 0"
        )
        where = place(*made, raised)
    else:
        advice = fix("keep the labels within the range of the output units")
        where = place(*made, raised)
    return CAUSE.finding(
        f"the labels contain {seen.value}, but the model has {seen.high} unit{'s' * (seen.high != 1)}: "
        f"{_classes(seen.high)}",
        where,
        Evidence(
            "label rejected by TensorFlow",
            str(seen.value),
            f"0..{seen.high - 1}",
            fact="failure.message",
            location=raised,
        ),
        advice,
        subject="labels",
        confidence=Confidence.CERTAIN,
    )


CAUSE.message(
    r"Saw a non-null label \(index >= num_classes - 1\) following a null label[\s\S]{0,40}?"
    r"num_classes: (?P<classes>\d+)",
    "a label of the CTC loss is the blank: with {classes} classes, the last one is reserved for it",
    "add a unit to the output layer, or number the labels from 0 to {classes} - 2",
    subject="labels",
    types=("InvalidArgumentError",),
    confidence=Confidence.CERTAIN,
)

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

import ast
import re
from collections.abc import Iterator

from fitdoctor.catalogue import Cause, mentions
from fitdoctor.catalogue.knowledge.data.data_trail import node_of
from fitdoctor.catalogue.knowledge.data.generator_sources import origin_of_argument
from fitdoctor.catalogue.knowledge.data.loop_data import array_behind, told_at_head
from fitdoctor.catalogue.knowledge.data.shapes import while_validating
from fitdoctor.catalogue.knowledge.labels.called_losses import arguments_of_loss
from fitdoctor.catalogue.knowledge.labels.label_shapes import FITS, verdict
from fitdoctor.catalogue.knowledge.labels.targets import (
    BINARY,
    SPARSE,
    Target,
    head_layer,
    is_binary,
    is_fully_read,
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
from fitdoctor.failure.called import called_in
from fitdoctor.failure.failed_line import calls_at
from fitdoctor.failure.patterns import LabelOutOfRange, label_out_of_range
from fitdoctor.records import replace
from fitdoctor.source.module import Module
from fitdoctor.source.origins import origin
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
    model: ModelFacts, fit: FitFacts | Unknown, data: DataFacts, project: Project
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
        target = replace(target, labels=_as_labels_alone(target.labels, project))
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
    project: Project,
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
        by = f"{'-' if least > 0 else '+'} {number(abs(least))}"
        shifted = fix(
            f"{'subtract' if least > 0 else 'add'} {number(abs(least))} {'from' if least > 0 else 'to'} the labels: "
            f"they run from {number(least)} to {number(most)}, but the loss expects classes starting at 0",
            rework_labels(labels, data, f"{{}} {by}", f"y {by}", call),
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


@CAUSE.after_failure
def from_failure(
    failure: FailureFacts,
    model: ModelFacts | Unknown,
    fit: FitFacts | Unknown,
    data: DataFacts | Unknown,
    project: Project,
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
        seen_all = judged and all(is_fully_read(array) for array in data.y)
        if found or data.role != "training" or seen_all:
            return
    looped = _in_loop(project, failure) if isinstance(fit, Unknown) or failure.called != "fit" else None
    origin = looped or origin_of_argument(project, fit, "y", 1)
    told = _from_words(seen, failure, model, data, origin)
    yield told if looped is None else _wider_there(_shifted_there(told, seen, looped), seen, failure, project)


def _in_loop(project: Project, failure: FailureFacts) -> Code | None:
    """Return the expression that creates the labels of a custom training loop."""
    given = arguments_of_loss(project, failure, SPARSE)
    end = array_behind(given[0], given[1]) if given is not None else None
    return end.code if end is not None and not end.path and end.certain else None


def _shifted_there(found: Finding, seen: LabelOutOfRange, made: Code) -> Finding:
    """Add the edit if the batch shows that the labels start at 1."""
    least = min(seen.batch, default=0)
    if seen.value != seen.high or least < 1 or not made.target or made.maker is not None:
        return found
    return replace(found, fixes=(fix(found.fixes[0].title, wrap(made, "{} - 1")),))


def _wider_there(found: Finding, seen: LabelOutOfRange, failure: FailureFacts, project: Project) -> Finding:
    """Move the finding to the last layer of the loop's model if the labels start at 0 and units are missing."""
    given = arguments_of_loss(project, failure, SPARSE)
    if given is None or not _lacks_units(seen):
        return found
    classes = int(max(seen.batch, default=seen.value)) + 1
    title = f"use at least {classes} units in the last layer, one per class"
    return told_at_head(found, given[0], given[2], classes, title)


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
            f"subtract 1 from the labels if they run from 1 to {seen.high}: the loss expects classes starting at 0"
        )
        where = place(*made, raised)
    else:
        advice = fix("keep the labels within the range of the output units")
        where = place(*made, raised)
    return CAUSE.certain(
        f"the labels contain {seen.value}, but the model has {seen.high} unit{'s' * (seen.high != 1)}: "
        f"{_classes(seen.high)}",
        where,
        Evidence("label rejected by TensorFlow", str(seen.value), f"0..{seen.high - 1}", location=raised),
        advice,
        subject="labels",
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


# --- labels that cannot be encoded ----------------------------------------------------------------------------------


_SAID = re.compile(r"index (?P<value>-?\d+) is out of bounds for axis 1 with size (?P<size>\d+)")
_ENCODER = "to_categorical"


@CAUSE.after_failure
def while_encoding(failure: FailureFacts, project: Project) -> Iterator[Finding]:
    """Report the label and the number of columns that NumPy names."""
    said = _SAID.search(failure.message) if failure.type == "IndexError" else None
    frame, last = failure.last_user_frame, failure.frames[-1] if failure.frames else None
    if said is None or frame is None or last is None:
        return
    # Keras filters its own frames, so the user's line may be the last.
    if last.function != _ENCODER and (last is not frame or called_in(frame) != _ENCODER):
        return
    value, size = int(said["value"]), int(said["size"])
    shift = "if the labels start at 1, subtract 1: `to_categorical(y - 1, …)`"
    yield CAUSE.certain(
        f"label {value} has no column: `{_ENCODER}` creates {size}, for classes 0 to {size - 1}",
        frame.location,
        Evidence("label found", str(value), f"0 to {size - 1}", location=frame.location),
        *([unsafe(shift, _shifted(failure, project))] if value == size else []),
        fix("renumber the classes from 0 without gaps, or set `num_classes` to the largest label plus 1"),
        subject="labels",
    )


def _shifted(failure: FailureFacts, project: Project) -> tuple[Edit, ...]:
    """Subtract 1 from the labels in the only call on the line."""
    here = [site for site in calls_at(failure, project) if site.name.rpartition(".")[2] == _ENCODER]
    given = here[0].node.args[0] if len(here) == 1 and here[0].node.args else None
    simple = isinstance(given, (ast.Name, ast.Attribute, ast.Subscript))
    return wrap(here[0].module.code(given), "{} - 1") if given is not None and simple else ()


# --- labels shared by several models --------------------------------------------------------------------------------


def _as_labels_alone(labels: ArrayFacts, project: Project) -> ArrayFacts:
    """Return the labels with code that only affects them: the last assignment before fit, or its argument."""
    made = node_of(project, labels.code)
    used = node_of(project, labels.use)
    if made is None or used is None or not isinstance(used[1], ast.expr) or not isinstance(made[1], ast.expr):
        return labels
    if not _is_computed_with(made[0], made[1]):
        return labels
    for step in origin(used[0], used[1]).steps:
        node = step.node
        statement = step.module.parent(node)
        if not isinstance(statement, ast.Assign) or statement.value is not node or step.how == "write":
            continue
        if not _is_computed_with(step.module, node):
            return replace(labels, code=step.module.code(node))
    return replace(labels, code=Unknown("the array is also used elsewhere"))


def _is_computed_with(module: Module, value: ast.expr) -> bool:
    """Whether the name of a value is used in a computation, not only passed on, split or printed."""
    statement = module.parent(value)
    target = (
        statement.targets[0] if isinstance(statement, ast.Assign) and len(statement.targets) == 1 else None
    )
    if not isinstance(target, ast.Name):
        return False
    scope = module.index.lookup(target.id, module.scope(target))
    end = module.places.span(value)[1]
    for read in module.reads.get(target.id, []):
        if module.index.lookup(target.id, module.scope(read)) is not scope:
            continue
        # `y = y + 1` reads the previous value of the name.
        if module.scope(read) is module.scope(target) and module.places.span(read)[0] < end:
            continue
        around = module.parent(read)
        if isinstance(around, (ast.BinOp, ast.UnaryOp)) or (
            isinstance(around, ast.Call) and _goes_into_arithmetic(module, around)
        ):
            return True
    return False


def _goes_into_arithmetic(module: Module, call: ast.Call) -> bool:
    """Whether a call computes new values from its arguments, as `np.sin(month)`."""
    name = module.resolve(call.func)
    counted = ("numpy.unique", "numpy.bincount", "numpy.array", "numpy.asarray", "numpy.max", "numpy.min")
    return name.startswith(("numpy.", "tensorflow.math.")) and name not in counted

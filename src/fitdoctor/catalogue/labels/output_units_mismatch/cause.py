"""Labels whose width differs from the output layer.

## What happens

A loss that compares element by element expects labels and outputs of the same shape. One-hot labels with 6 columns
and 5 units, or labels 0 and 1 with two sigmoid units and `binary_crossentropy`, make `fit` raise before the first
step: `ValueError: Arguments target and output must have the same shape` (or `the same rank`), and for `mse`:
`Dimensions must be equal`. The same happens with target images of 28 by 28 and outputs of 32 by 32, or with 6 target
time steps and 24 output steps. One case raises nothing: `categorical_crossentropy` over a single unit. Its loss is
always 0.

## Why

The number of units in the last layer differs from the number of classes or targets, or the loss does not match the
labels. One sigmoid unit goes with labels 0 and 1 and `binary_crossentropy`. k softmax units go with integer class
labels and `sparse_categorical_crossentropy`, or with one-hot labels of width k and `categorical_crossentropy`.

## Fix

Set the units of the last layer to the number of label columns, or use the loss that matches the labels. If the
lengths before the last axis differ, change the padding, the stride or the number of steps of the layer that sets
them.

## Known limits

A model with more units than classes runs with a sparse loss and is not reported: the extra units are never used.
Regression labels with one column broadcast to several units without an error: see FIT204 (`label-shape-broadcast`).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Any

from fitdoctor.catalogue import Cause, doubting
from fitdoctor.catalogue.knowledge.data.data_places import maker
from fitdoctor.catalogue.knowledge.data.loop_data import told_at_head
from fitdoctor.catalogue.knowledge.labels.called_losses import arguments_of_loss
from fitdoctor.catalogue.knowledge.labels.classes_of_a_batch import counted_in_each_batch, told_classes
from fitdoctor.catalogue.knowledge.labels.label_shapes import (
    BROADCAST,
    CLASS_NUMBERS,
    LENGTHS,
    UNITS,
    UNTOLD,
    Refused,
    explains_labels,
    rows,
    same_values,
    shapes_of_failure,
    verdict,
)
from fitdoctor.catalogue.knowledge.labels.targets import (
    BINARY,
    BINARY_LOSSES,
    CATEGORICAL,
    ROW_LOSSES,
    SPARSE,
    Target,
    head_layer,
    is_binary,
    is_class_numbers,
    targets,
)
from fitdoctor.catalogue.labels.label_edits import (
    folder_one_hot_fix,
    one_hot_fix,
    respell,
    rework_labels,
    with_activation,
    with_units,
)
from fitdoctor.catalogue.prefilter import LABELS
from fitdoctor.catalogue.words import number, place, shape_words
from fitdoctor.diagnosis import Edit, Evidence, Finding, Fix, Location, Severity
from fitdoctor.edits import fix, set_argument, unsafe, wrap
from fitdoctor.facts import Code, DataFacts, FailureFacts, LayerFacts, ModelFacts, Shape, Statistics, Unknown
from fitdoctor.failure.shapes import operation_shapes, target_and_output
from fitdoctor.records import dataclass, replace
from fitdoctor.source.models.layer_rules import apply_layer
from fitdoctor.source.models.layer_settings import LayerPlan
from fitdoctor.source.project import Project

CAUSE = Cause(
    id="FIT205",
    slug="output-units-mismatch",
    severity=Severity.ERROR,
    raises="ValueError",
    aspect="shape",
    explains=("FIT207", "FIT208", "FIT211", "FIT218", "FIT320"),
)


def _explain(refused: Refused) -> Iterator[Finding]:
    if refused.kind == LENGTHS:
        yield _of_lengths(refused)
    elif refused.kind == CLASS_NUMBERS:
        if refused.is_row_of_one_class:
            yield _finding(refused)
    elif refused.kind == BROADCAST:
        # A loss that broadcasts would not have raised.
        if refused.failure is not None and isinstance(refused.data, Unknown):
            yield _finding(refused)
    else:
        yield _of_units(refused)


explains_labels(CAUSE, _explain, UNITS, CLASS_NUMBERS, LENGTHS, BROADCAST, narrowed=doubting(LABELS))


def _of_units(refused: Refused) -> Finding:
    target, model, failure = refused.target, refused.model, refused.failure
    head = head_layer(model) if target is None and isinstance(model, ModelFacts) else None
    found = _finding(refused, head)
    if target is not None:
        if target.labels is None or not _is_class_map(target, refused):
            return found
        where = place(maker(target.labels), target.labels.use)
        return replace(found, location=where or found.location, fixes=(one_hot_fix(target.labels, target),))
    names = {loss.name for loss in model.losses} if isinstance(model, ModelFacts) else set()
    more = _for_head(head, refused.labels[-1], names, refused.project)
    if more is not None:
        found = replace(found, fixes=(more, *found.fixes))
    return _in_loop(found, refused, failure) if head is None and failure is not None else found


def _is_class_map(target: Target, refused: Refused) -> bool:
    """Whether a custom loss gets integers of more than two classes that fit the number of units."""
    numbers = target.label_statistics
    of_keras = verdict(target.loss_name, refused.labels, refused.output) != UNTOLD
    if of_keras or numbers is None or refused.labels[-1] != 1 or not numbers.integral:
        return False
    return numbers.minimum == 0 and 1 < (numbers.maximum or 0) < (target.units or 0)


def _in_loop(found: Finding, refused: Refused, failure: FailureFacts) -> Finding:
    """Move the finding to the last layer of the model that a custom training loop calls."""
    given = arguments_of_loss(refused.project, failure, CATEGORICAL)
    width = refused.labels[-1]
    if given is None or not width:
        return found
    title = f"use {width} units in the last layer, one per class"
    return told_at_head(found, given[0], given[2], width, title)


@CAUSE.in_source
@doubting(LABELS)
@CAUSE.before_fit
def single_unit_with_row_loss(model: ModelFacts, data: DataFacts) -> Iterator[Finding]:
    """Report a categorical loss over a single unit."""
    for target in targets(model, data):
        if target.loss_name not in ROW_LOSSES or target.units != 1 or target.loss is None:
            continue
        if target.activation == "softmax":
            continue  # reported by softmax-over-one-unit
        edits = respell(target.loss.code, BINARY) if target.activation == "sigmoid" else ()
        yield CAUSE.certain(
            f"`{target.loss_name}` needs one unit per class, but the output has 1 unit: the loss is always 0",
            place(target.loss.code, model.compile_code),
            Evidence(
                "a single unit is always normalized to 1",
                f"outputs {rows(target.output_shape or ())}",
                "one unit per class",
                fact="model.outputs",
                location=place(target.layer.code) if target.layer is not None else None,
            ),
            unsafe(f"use `{BINARY}`, the loss for a single unit", edits),
            unsafe("use one softmax unit per class in the last layer"),
            subject=target.subject,
            severity=Severity.WARNING,
        )


def _for_head(head: LayerFacts | None, width: int | None, losses: set[str], project: Project) -> Fix | None:
    """Return the fix for the units of the last layer if only the message shows the label width."""
    if head is None or width is None or width < 2:
        return None
    exclusive = losses <= set(ROW_LOSSES) and head.setting("activation") == "sigmoid"
    edits = with_units(head, width, project)
    softmax = with_activation(head, "softmax") if exclusive else ()
    title = f"use {width} {'softmax ' * exclusive}units in the last layer, one per class"
    return fix(title, edits, softmax) if edits else None


def _finding(refused: Refused, head: LayerFacts | None = None) -> Finding:
    width, units = refused.labels[-1], refused.output[-1]
    fewer = width is not None and units is not None and width < units
    counted = counted_in_each_batch(refused.data, refused.project) if fewer else None
    return refused.finding(
        CAUSE,
        _message(refused),
        place(counted, _culprit(refused.target), head.code if head is not None else None, refused.raised_at),
        *([told_classes(counted, units)] if counted and units else _fixes(refused)),
        claim="shapes of labels and outputs" + _values(refused.statistics),
    )


def _of_lengths(refused: Refused) -> Finding:
    """Build the finding for labels of other lengths than the output: images of another size, more or fewer steps."""
    target, found, output = refused.target, refused.labels, refused.output
    labels = refused.array
    made = (maker(labels), labels.use) if labels is not None else ()
    # An image is not turned into another one by a reshape.
    reshaped = len(found) != len(output) and same_values(found[1:], output[1:])
    # One integer label corresponds to a row of units.
    wanted = (*found, output[-1]) if len(found) < len(output) else found
    change = _change_for(target.way, wanted) if target is not None and not reshaped else None
    kept = _keeps_input(output, refused.data)
    if change is not None and change.setting not in ("n", "padding") and kept:
        change = None
    last_step = _last_step_layer(target) if target is not None else None
    of_labels = reshaped or (change is None and last_step is None and kept)
    layer = target.layer.code if target is not None and target.layer is not None else None
    if last_step is not None:
        layer = last_step.code
    return refused.finding(
        CAUSE,
        f"each label has shape {shape_words(found[1:])}, but the model outputs {shape_words(output[1:])}",
        (
            place(*made, refused.raised_at)
            if of_labels
            else place(change.layer.code if change else None, layer, *made, refused.raised_at)
        ),
        _length_fix(refused, change, last_step, reshaped, wanted),
    )


def _keeps_input(output: Shape, data: DataFacts | Unknown) -> bool:
    """Whether the model keeps the size of its input, so that the labels are the ones to change."""
    if isinstance(data, Unknown) or len(data.x) != 1 or isinstance(data.x[0].shape, Unknown):
        return False
    lengths = output[1:-1]
    return None not in lengths and data.x[0].shape[1 : len(output) - 1] == lengths


def _length_fix(
    refused: Refused, change: _Change | None, last_step: LayerFacts | None, reshaped: bool, wanted: Shape
) -> Fix:
    if last_step is not None:
        return _all_steps(last_step)
    if reshaped:
        axes = ", ".join(str(length) for length in refused.output[1:])
        target, edits = refused.target, tuple[Edit, ...]()
        if target is not None and target.labels is not None and "numpy" in target.labels.container:
            shaped = f"{{}}.reshape(-1, {axes})"
            # The targets of an autoencoder are its inputs, which keep their shape.
            own = any(target.labels.code == array.code for array in target.data.x)
            edits = (
                wrap(target.labels.use, shaped) if own else rework_labels(target.labels, target.data, shaped)
            )
        return fix(f"reshape the labels to {rows(refused.output)}: the number of values is the same", edits)
    if change is not None:
        return fix(
            f"set `{change.setting}={change.value}` on `{change.layer.class_name}`: "
            f"the output then has shape {rows(wanted)}",
            change.edits,
        )
    return fix(f"change the layers to output {rows(wanted)}, or the labels to {rows(refused.output)}")


def _message(refused: Refused) -> str:
    units = refused.output[-1]
    target = refused.target
    single = all(size == 1 for size in refused.labels[1:])
    if single and len(refused.labels) < len(refused.output) or refused.labels[-1] == 1:
        loss = target.loss_name if target is not None else ""
        against = f" for `{loss}`" if loss else ""
        return f"the labels have one value per sample, but the output has {units} units{against}"
    if len(refused.labels) != len(refused.output) or target is not None and target.loss_name == SPARSE:
        return (
            f"the labels have shape {rows(refused.labels)}, but the outputs have shape {rows(refused.output)}"
        )
    width = refused.labels[-1]
    return f"the labels have {width} columns, but the output has {units} unit{'s' * (units != 1)}"


def _values(statistics: Statistics | None) -> str:
    if statistics is None or statistics.minimum is None or statistics.maximum is None:
        return ""
    return f"; labels run from {number(statistics.minimum)} to {number(statistics.maximum)}"


def _wants_sparse_loss(target: Target) -> bool:
    """Whether the loss is wrong: integer class labels for mutually exclusive units."""
    if target.loss_name not in BINARY_LOSSES or not is_class_numbers(target.labels):
        return False
    return target.activation == "softmax" or not is_binary(target.label_statistics)


_RECURRENT = frozenset(("LSTM", "GRU", "SimpleRNN", "Bidirectional"))


def _last_step_layer(target: Target) -> LayerFacts | None:
    """Return the recurrent layer that keeps only its last step although there are labels for every step."""
    labels, output = target.label_shape, target.output_shape
    if labels is None or not _has_steps(target, labels, output or ()):
        return None
    for step in target.way:
        if isinstance(step, LayerFacts) and step.builtin and step.class_name in _RECURRENT:
            shapes = step.input_shapes
            steps = (
                shapes[0][1] if not isinstance(shapes, Unknown) and shapes and len(shapes[0]) == 3 else None
            )
            given = step.output_shapes
            keeps_all = step.setting("return_sequences") == "True" or (
                step.class_name == "Bidirectional"
                and not (isinstance(given, tuple) and bool(given) and len(given[0]) == 2)
            )
            return step if not keeps_all and steps in (None, labels[1]) else None
    return None


def _all_steps(layer: LayerFacts) -> Fix:
    edits = set_argument(layer.code, "return_sequences", "True")
    if layer.class_name == "Bidirectional":
        edits = _inside(layer.code)
    return unsafe("output every time step: `return_sequences=True`", edits)


def _inside(code: Code | Unknown) -> tuple[Edit, ...]:
    """Add the argument to the layer that is created inside the call of its wrapper."""
    inner = code.arguments[0] if isinstance(code, Code) and code.arguments else None
    if inner is None or not inner.text.endswith(")") or "return_sequences" in inner.text:
        return ()
    comma = "" if inner.text.endswith("()") else ", "
    return (Edit(inner.location, f"{inner.text[:-1]}{comma}return_sequences=True)"),)


def _has_steps(target: Target, labels: Shape, output: Shape) -> bool:
    """Whether the labels have one integer class or one output row per step."""
    statistics = target.label_statistics
    if target.loss_name == SPARSE:
        return len(labels) == 2 and (statistics is None or statistics.integral)
    return len(labels) == 3 and len(output) == 2 and labels[-1] == output[-1]


def _culprit(target: Target | None) -> Location | None:
    if target is None:
        return None
    loss = target.loss.code if target.loss is not None else None
    layer = target.layer.code if target.layer is not None else None
    labels = target.labels
    made = (labels.code, labels.use) if labels is not None else ()
    last_step = _last_step_layer(target)
    if target.loss_name == SPARSE:
        return place(last_step.code if last_step is not None else None, *made, layer)
    return place(loss, layer, *made) if _wants_sparse_loss(target) else place(layer, *made, loss)


def _fixes(refused: Refused) -> list[Fix]:
    target = refused.target
    from_folder = folder_one_hot_fix(target) if target is not None else None
    if from_folder is not None:
        return [from_folder]
    single = len(refused.labels) < len(refused.output) or refused.labels[-1] == 1
    width = 1 if single else refused.labels[-1]
    if target is None:
        return [fix(_by_shapes(refused.labels, refused.output, width))]
    last_step = _last_step_layer(target)
    if last_step is not None:
        return [_all_steps(last_step)]
    if target.loss_name == SPARSE:
        return [
            fix(
                "pass one integer class label per output row; "
                "for labels per time step, set `return_sequences=True`"
            )
        ]
    if _wants_sparse_loss(target) and target.loss is not None:
        activation = with_activation(target.layer, "softmax") if target.activation == "sigmoid" else ()
        edits = respell(target.loss.code, SPARSE, without=("label_smoothing", "gamma", "axis"))
        return [
            fix(
                f"use softmax with `{SPARSE}`, the loss for integer class labels",
                edits,
                activation if edits else (),
            )
        ]
    plural = "s" * (width != 1)
    edits = with_units(target.layer, width, refused.project) if width is not None else ()
    if width == 1 and target.loss_name not in ROW_LOSSES and target.activation == "softmax":
        return [fix("use 1 sigmoid unit in the last layer", edits, with_activation(target.layer, "sigmoid"))]
    # One sigmoid unit was meant for two classes; a categorical loss expects units that sum to 1.
    exclusive = target.loss_name in ROW_LOSSES and target.units == 1 and target.activation == "sigmoid"
    return [
        fix(
            f"use {width} {'softmax ' * exclusive}unit{plural} in the last layer, "
            f"one per {'class' if not single else 'label'}",
            edits,
            with_activation(target.layer, "softmax") if exclusive and edits else (),
        )
    ]


def _by_shapes(labels: Shape, output: Shape, width: int | None) -> str:
    """Return what to do if nothing but the two shapes is known."""
    flat = [tuple(size for size in shape[1:] if size != 1) for shape in (labels, output)]
    if len(labels) != len(output) and flat[0] == flat[1] and flat[0]:
        if len(labels) > len(output):
            return f"remove the axis of length 1 from the labels: `y.reshape(-1, {', '.join(map(str, output[1:]))})`"
        return "remove the axis of length 1 from the output: add `Flatten()` or a `Reshape` at the end of the model"
    if len(labels) != len(output) and labels[-1] != 1 and len(labels) > 1:
        return f"give labels and outputs the same number of axes: they have {len(labels)} and {len(output)}"
    return f"use {width} unit{'s' * (width != 1)} in the last layer, or a loss that matches the labels"


_LOSS_NODE = re.compile(r"(?:^|/)(?:\w*crossentropy|mean_\w+_error|dice\w*|\w+_loss)/")


@CAUSE.after_failure
def from_node(failure: FailureFacts, model: ModelFacts | Unknown) -> Iterator[Finding]:
    """Report a loss that failed without showing the two shapes."""
    if failure.message.strip() != "required broadcastable shapes" or not _LOSS_NODE.search(failure.node):
        return
    if isinstance(model, ModelFacts):
        return
    yield CAUSE.finding(
        "the loss cannot compare labels and outputs: their shapes differ",
        failure.location,
        Evidence("the failing operation", failure.node, "", "failure.node"),
        fix("compare the shape of the labels with `model.output_shape`; only the batch axis may differ"),
        subject="labels",
    )


@CAUSE.after_failure
def from_ranks(failure: FailureFacts, project: Project) -> Iterator[Finding]:
    """Report labels with other axes than the output, of which only their number is known."""
    said = target_and_output(failure.message)
    if project or said is None or said.rule != "same rank" or set(said.output) != {None}:
        return
    again = len(said.target) > 3 and set(said.target[-2:]) == {2}
    yield CAUSE.finding(
        f"the labels have shape {rows(said.target)}, but the output has {len(said.output)} axes",
        failure.location,
        Evidence("shape of the labels", rows(said.target), f"{len(said.output)} axes"),
        fix(
            "one-hot encode the labels once: each further call of `to_categorical` adds an axis of length 2"
            if again
            else "give the labels the axes of the output: one row per sample"
        ),
        subject="labels",
    )


_COMPARES = re.compile(r"\bw?\w*fn\(y_true, y_pred|\bloss\w*\(y_true|\(y_t, y_p")
"""The line of Keras that calls a loss or a metric."""


@CAUSE.after_failure
def from_own_loss(failure: FailureFacts, project: Project) -> Iterator[Finding]:
    """Report shapes that a loss or metric of the program could not combine, from where the operation was created."""
    shapes = operation_shapes(failure.message)
    if project or shapes is None or len(shapes.shapes) != 2 or shapes_of_failure(failure) is not None:
        return
    frames = failure.definition or failure.frames
    called = next((at for at, one in enumerate(frames) if one.library and _COMPARES.search(one.text)), None)
    own = [frame for frame in frames[called:] if not frame.library] if called is not None else []
    if not own:
        return
    words = " and ".join(shape_words(shape) for shape in shapes.shapes)
    yield CAUSE.finding(
        f"`{own[0].function}` compares labels and outputs of different shapes: {words}",
        own[-1].location,
        Evidence(
            "the failing line", own[-1].text[:120], fact="failure.definition", location=own[-1].location
        ),
        fix("compare the shape of the labels with `model.output_shape`; only the batch axis may differ"),
        subject="labels",
    )


# --- lengths of outputs ---------------------------------------------------------------------------------------------


_MOST_LAYERS = 40
_PADDED = re.compile(r"(?:\w*Conv\dD(?:Transpose)?|(?:Max|Average)Pooling\dD)")
"""Layers with a padding, which defaults to `valid`."""
_FACTORS = ("strides", "size", "pool_size")
"""Settings that multiply or divide a length."""


@dataclass(frozen=True)
class _Change:
    """A new value for a setting of a layer."""

    layer: LayerFacts
    setting: str
    value: str
    """As source text."""
    also: tuple[LayerFacts, ...] = ()
    """Other layers that need the same change."""

    @property
    def edits(self) -> tuple[Edit, ...]:
        """Return the source edits; empty if a layer is created elsewhere."""
        made = [self._edits(layer) for layer in (self.layer, *self.also)]
        return tuple(dict.fromkeys(edit for edits in made for edit in edits)) if all(made) else ()

    def _edits(self, layer: LayerFacts) -> tuple[Edit, ...]:
        first = ("filters", "kernel_size") if "Conv" in layer.class_name else ("pool_size",)
        order = (*first, "strides", "padding")
        position = order.index(self.setting) if self.setting in order else 0
        return set_argument(layer.code, self.setting, self.value, position=position)


def _change_for(way: tuple[LayerFacts | str, ...], wanted: Shape) -> _Change | None:
    """Return the change nearest to the output that produces the shape `wanted`; paddings come first."""
    layers = _chain(way)
    found = [change for change in _changes(layers, wanted) if isinstance(change.layer.code, Code)]
    paddings = [change for change in found if change.setting == "padding"]
    return next(iter(paddings or found), None) or _all_padded(layers, wanted)


def _all_padded(layers: list[LayerFacts], wanted: Shape) -> _Change | None:
    """Return `padding="same"` for every shortening layer if that produces the shape."""
    layers = [layer for layer in layers if layer.class_name != "InputLayer"]
    shapes = layers[-1].input_shapes if layers else Unknown("no layer")
    if isinstance(shapes, Unknown) or len(shapes) != 1 or None in shapes[0][1:]:
        return None
    bare = [layer for layer in layers if ("padding", "same") in _others(layer) and _shortens(layer)]
    plans = [
        replace(plan, settings={**plan.settings, "padding": "same"}) if layer in bare else plan
        for layer in reversed(layers)
        for plan in (_plan(layer),)
    ]
    if len(bare) < 2 or _through(plans, shapes[0]) != wanted[1:]:
        return None
    first, *others = reversed(bare)
    return _Change(first, "padding", '"same"', tuple(others))


def _shortens(layer: LayerFacts) -> bool:
    if isinstance(layer.input_shapes, Unknown):
        return False
    given = layer.input_shapes[0]
    left = _through([_plan(layer)], given)
    return left is not None and left[:-1] != given[1:-1]


def _chain(way: tuple[LayerFacts | str, ...]) -> list[LayerFacts]:
    """Return the layers from the output back while each has one input."""
    chain: list[LayerFacts] = []
    for step in way[:_MOST_LAYERS]:
        if isinstance(step, str) or len(step.fed_by) > 1:
            break
        chain.append(step)
    return chain


def _changes(layers: list[LayerFacts], wanted: Shape) -> Iterator[_Change]:
    for index, layer in enumerate(layers):
        shapes = layer.input_shapes
        if isinstance(shapes, Unknown) or len(shapes) != 1 or None in shapes[0][1:]:
            continue
        for setting, value in _others(layer):
            plan = _plan(layer)
            changed = LayerPlan(plan.class_name, {**plan.settings, setting: value}, plan.inner)
            if _through([changed, *map(_plan, reversed(layers[:index]))], shapes[0]) == wanted[1:]:
                yield _Change(layer, setting, f'"{value}"' if isinstance(value, str) else str(value))


def _others(layer: LayerFacts) -> Iterator[tuple[str, Any]]:
    """Yield other values for the settings that determine lengths."""
    if layer.class_name == "RepeatVector":
        yield from (("n", n) for n in range(1, 1000) if str(n) != layer.setting("n"))
    padding = layer.setting("padding") or ("valid" if _PADDED.fullmatch(layer.class_name) else "")
    if padding in ("same", "valid"):
        yield "padding", "valid" if padding == "same" else "same"
    for setting in _FACTORS:
        now = _literal(layer.setting(setting))
        if isinstance(now, tuple) and len(set(now)) == 1 and now[0] > 1:
            yield from ((setting, factor) for factor in (1, 2, 3, 4) if factor != now[0])


def _through(plans: list[LayerPlan], shape: Shape) -> Shape | None:
    """Return the shape of a sample after the layers."""
    dims: Shape = (None, *shape[1:])
    for plan in plans:
        outputs = apply_layer(plan, (dims,)).outputs
        if isinstance(outputs, Unknown) or len(outputs) != 1:
            return None
        if not all(isinstance(length, int) for length in outputs[0][1:]):
            return None
        dims = (None, *outputs[0][1:])  # type: ignore[arg-type]
    return dims[1:]


def _plan(layer: LayerFacts) -> LayerPlan:
    inner = _plan(layer.sublayers[0]) if len(layer.sublayers) == 1 else None
    return LayerPlan(layer.class_name, {name: _literal(text) for name, text in layer.config}, inner)


def _literal(text: str | None) -> Any:
    try:
        return ast.literal_eval(text or "None")
    except (ValueError, SyntaxError):
        return text

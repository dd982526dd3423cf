"""Incompatible shapes in a custom layer, model or loss.

## What happens

`ValueError: Dimensions must be equal, but are 12 and 32 for '{{node mul}} = Mul…' with input shapes: [?,30,16],
[?,16,1]`, `Incompatible shapes`, `required broadcastable shapes`, `Matrix size-incompatible`. The failing line is your
own, in `call`, a loss or a `train_step`. Some mismatches appear only when the graph runs and the shapes are known.

## Why

Before that line, an axis is missing or is not the one you expect: a reduction over the wrong axis or without
`keepdims=True`, a product without a transpose, a constant of the wrong size.

## Fix

Check the shapes in the message and the reductions above the line. `keepdims=True` keeps a reduced axis with size 1, so
that the result broadcasts against the original tensor. Axis 0 is the batch axis: an operation that reduces or moves it
leaves an output that no longer matches the labels.

## Known limits

An axis or a transpose is named only if the shapes are unambiguous. Keras layers that reject their input have their own
causes.
"""

from __future__ import annotations

import ast
import itertools
import math
import re
from collections.abc import Iterator

from fitdoctor.catalogue import Cause, catalogue
from fitdoctor.catalogue.knowledge.labels.label_shapes import shapes_of_failure, step_of_loss
from fitdoctor.catalogue.knowledge.labels.targets import targets
from fitdoctor.catalogue.knowledge.models.batch_sizes import (
    rows_of_batch,
    rows_that_differ,
    written_in_model,
)
from fitdoctor.catalogue.knowledge.models.layer_source import layer_named
from fitdoctor.catalogue.knowledge.models.refusals import axes_words, ranks_in
from fitdoctor.catalogue.model.keras_tensors import is_keras_tensor
from fitdoctor.catalogue.model.reductions import (
    axes_taken_away,
    reduction_calls,
    reductions_over,
    whole_number,
)
from fitdoctor.catalogue.words import counted, shape_words
from fitdoctor.diagnosis import Confidence, Edit, Evidence, Finding, Fix, Location, Severity
from fitdoctor.edits import append_arguments, fix, replace_code, set_argument, spell, unsafe
from fitdoctor.facts import DataFacts, FailureFacts, Frame, ModelFacts, Outcome, Shape, Unknown
from fitdoctor.failure.failed_line import function_at, module_of, nodes_at, raised_here, stands_at
from fitdoctor.failure.frames import is_framework
from fitdoctor.failure.shapes import OperationShapes, operation_shapes, target_and_output
from fitdoctor.failure.traced_code import raised_in_trace
from fitdoctor.records import dataclass, replace
from fitdoctor.source.definitions import argument_of
from fitdoctor.source.keras_names import snake_case
from fitdoctor.source.models.merge_rules import MERGES
from fitdoctor.source.module import FunctionInfo, Module
from fitdoctor.source.project import Project
from fitdoctor.source.traced.symbolic import is_symbolic, is_variable, name_of, own_nodes

CAUSE = Cause(
    id="FIT320",
    slug="operation-shape-mismatch",
    severity=Severity.ERROR,
    raises=("ValueError", "InvalidArgumentError"),
)

_SAID = re.compile(
    r"Dimensions must be equal|Incompatible shapes|required broadcastable shapes|Matrix size-incompatible|"
    r"Shape must be (?:at least )?rank \d+ but is rank \d+|Shapes must be equal rank|in both shapes must be equal|"
    r"ConcatOp : (?:Dimension|Ranks)|Inner dimensions|[Cc]annot broadcast|could not be broadcast|"
    r"Cannot multiply A and B|In\[0\] (?:mismatch|and In\[1\])|Expected dimension \d+ at axis|"
    r"All arrays must have the same|must have compatible shapes|Shapes of all inputs must match"
)
_REDUCED = re.compile(
    r"Invalid reduction dimension \(?(?P<axis>-?\d+) for input with (?P<axes>\d+) dimension"
)
_KERAS_RAISED = "Layer "


@CAUSE.before_fit
def from_trial(data: DataFacts, project: Project) -> Iterator[Finding]:
    """Report the user's line at which the abstract forward pass raised."""
    for outcome in (data.trial.forward, data.trial.loss, data.trial.metrics, data.trial.step):
        failed = outcome.failure if isinstance(outcome, Outcome) else None
        if failed is None or failed.place is None:
            continue
        module = project.module_at(failed.place.path)
        tried = Evidence("error in an abstract run on the data's shapes", _first_line(failed.message))
        reduced = _REDUCED.search(failed.message)
        if module is not None and reduced is not None:
            yield _missing_axis(module, failed.place, reduced, tried)
        elif module is not None and _SAID.search(failed.message) and _is_of_user(failed.layer_class, project):
            yield from _at(module, failed.place, failed.message, Confidence.CERTAIN, tried)


def _missing_axis(
    module: Module | None, place: Location | None, said: re.Match[str], evidence: Evidence
) -> Finding:
    """Report a reduction over an axis that its input does not have."""
    missing, count = int(said["axis"]), int(said["axes"])
    call = _reduction_at(module, place, missing)
    remedy = fix(f"reduce only axes that the input has: 0 to {count - 1}")
    name = "an operation"
    if call is not None and module is not None:
        name, place = f"`{module.segment(call.func)}`", module.location(call)
        left = [axis for axis in axes_taken_away(module, call) if -count <= axis < count]
        text = str(left[0]) if len(left) == 1 else str(tuple(left))
        if left:
            edits = set_argument(module.code(call), "axis", text, position=1)
            remedy = unsafe(f"reduce over {counted(len(left), 'axis', 'axes')}: `axis={text}`", edits)
    return CAUSE.certain(
        f"{name} reduces axis {missing}, but its input has only {count} axes: 0 to {count - 1}",
        place,
        evidence,
        remedy,
        subject="axis of a reduction",
    )


def _reduction_at(module: Module | None, place: Location | None, axis: int) -> ast.Call | None:
    """Return the only call on the line that reduces that axis."""
    found = [
        node
        for node in nodes_at(module, ast.Call, place)
        if module is not None and axis in axes_taken_away(module, node)
    ]
    return found[0] if len(found) == 1 else None


def _first_line(message: str) -> str:
    return message.strip().splitlines()[0][:160] if message.strip() else ""


def _is_of_user(layer_class: str, project: Project) -> bool:
    """Whether the innermost layer is the user's: Keras layers explain themselves what they reject."""
    if layer_class in ("", "Lambda", "Functional", "Sequential"):
        return True
    return not project or any(owner.name == layer_class for owner in project.classes)


def _at(
    module: Module, place: Location, message: str, confidence: Confidence, evidence: Evidence
) -> Iterator[Finding]:
    function = function_at(module, place.line, place.cell)
    if function is None:
        return
    shapes = operation_shapes(message)
    if _compares_labels(function, place):
        confidence = Confidence.LIKELY
    at = _statement(function, place)
    turned = _transposed(function, place, shapes)
    remedy = (at, [turned]) if turned else _weight_of_another_size(function, shapes)
    look = [*_shortcut_fixes(shapes), _look(function)]
    location, fixes = (
        remedy or _kept(function, place, shapes) or _over_the_batch(function, place, shapes) or (at, look)
    )
    removed = _reductions(function, place)
    yield _finding(name_of(function), location, shapes, confidence, *removed, evidence, *fixes)


def _finding(
    where: str,
    location: Location | None,
    shapes: OperationShapes | None,
    confidence: Confidence,
    *details: Evidence | Fix,
) -> Finding:
    given = " and ".join(shape_words(shape) for shape in shapes.shapes[:3] if shape) if shapes else ""
    operation = f"`{shapes.operation}`" if shapes is not None and shapes.operation else "an operation"
    message = f"{operation} in {where} receives incompatible shapes" + (f": {given}" if given else "")
    return CAUSE.finding(message, location, *details, subject=where, confidence=confidence)


def _look(function: FunctionInfo) -> Fix:
    return fix(f"make the shapes in {name_of(function)} compatible: check the axes reduced before this line")


def _statement(function: FunctionInfo, place: Location) -> Location:
    """Return the line, or the named line of a statement that spans several."""
    module = function.module
    for node in own_nodes(function):
        if isinstance(node, ast.stmt) and not hasattr(node, "body"):
            location = module.location(node)
            if stands_at(location, place.line, place.cell):
                return location if location.line == place.line else place
    return place


def _compares_labels(function: FunctionInfo, place: Location) -> bool:
    """Whether the line compares unmodified labels and predictions, so that either may be wrong."""
    names = {name for name in function.parameters if name != "self"}
    compared = nodes_at(function.module, ast.BinOp, place)
    return any({ast.unparse(node.left), ast.unparse(node.right)} <= names for node in compared)


# --- reductions ----------------------------------------------------------------------------------------------------


def _reductions(function: FunctionInfo, place: Location) -> list[Evidence]:
    found = []
    for call, _axis in reduction_calls(function):
        location = function.module.location(call)
        if location.line <= place.line and location.cell == place.cell:
            found.append(
                Evidence(
                    "an axis is removed here", f"`{function.module.segment(call)[:80]}`", location=location
                )
            )
    return found[-2:]


def _kept(
    function: FunctionInfo, place: Location, shapes: OperationShapes | None
) -> tuple[Location, list[Fix]] | None:
    """Return a fix that keeps the axis which a reduction removed and the second shape lacks."""
    removed = _removed_axes(shapes)
    if removed is None:
        return None
    axes, rank = removed
    fitting = [
        call
        for call, numbers in reductions_over(function)
        if {number % rank for number in numbers} == axes and function.module.location(call).line <= place.line
    ]
    # Of several, fix all that the line uses: a mean and a deviation lack the same axis.
    if len(fitting) > 1:
        fitting = _feeding(function, place, fitting)
    if not fitting:
        return None
    codes = [function.module.code(call) for call in fitting]
    edits = [append_arguments(code, "keepdims=True") for code in codes]
    what = "axis" if len(axes) == 1 else "axes"
    return codes[0].location, [fix(f"keep the reduced {what} with size 1: `keepdims=True`", *edits)]


def _over_the_batch(
    function: FunctionInfo, place: Location, shapes: OperationShapes | None
) -> tuple[Location, list[Fix]] | None:
    """Return a fix for a loss with one value for each sample where it needs one for each column of the outputs."""
    if shapes is None or [len(shape) for shape in shapes.shapes] != [1, 1] or not _is_loss(function):
        return None
    found = [call for call, axes in reductions_over(function) if axes in ((-1,), (1,))]
    if len(found) != 1 or found[0] not in _feeding(function, place, found):
        return None
    code = function.module.code(found[0])
    remedy = unsafe("reduce over the batch: `axis=0`", set_argument(code, "axis", "0", position=1))
    return code.location, [remedy]


def _is_loss(function: FunctionInfo) -> bool:
    return function.how == "loss" or function.owner is not None and function.owner.kind == "Loss"


def _feeding(function: FunctionInfo, place: Location, calls: list[ast.Call]) -> list[ast.Call]:
    """Return the calls whose unmodified result the line reads by name."""
    module = function.module
    read = {node.id for node in nodes_at(module, ast.Name, place)}
    fed = []
    for call in calls:
        statement = module.statement(call)
        if isinstance(statement, ast.Assign) and statement.value is call:
            names = {target.id for target in statement.targets if isinstance(target, ast.Name)}
            fed += [call] if names & read else []
    return fed


def _removed_axes(shapes: OperationShapes | None) -> tuple[set[int], int] | None:
    """Return the axes of the longer shape that the shorter one lacks, if unambiguous."""
    if shapes is None or len(shapes.shapes) != 2 or shapes.is_product:
        return None
    longer, shorter = sorted(shapes.shapes, key=len, reverse=True)
    if len(longer) == len(shorter) or len(longer) > 6:
        return None
    fitting = [
        set(axes)
        for axes in itertools.combinations(range(len(longer)), len(longer) - len(shorter))
        if tuple(length for axis, length in enumerate(longer) if axis not in axes) == shorter
    ]
    return (fitting[0], len(longer)) if len(fitting) == 1 else None


# --- products ------------------------------------------------------------------------------------------------------


def _transposed(function: FunctionInfo, place: Location, shapes: OperationShapes | None) -> Fix | None:
    """Transpose the second factor if the last axes of both agree."""
    if shapes is None or not shapes.is_product or len(shapes.shapes) != 2:
        return None
    first, second = shapes.shapes
    if len(first) < 2 or len(second) < 2 or first[-1] is None or first[-1] != second[-1]:
        return None
    module = function.module
    products = [
        node
        for node in nodes_at(module, ast.Call, place)
        if module.called(node).endswith(".matmul") and len(node.args) == 2 and not node.keywords
    ]
    if len(products) != 1:
        return None
    product = products[0]
    if module.called(product).startswith("tensorflow."):
        edits = append_arguments(module.code(product), "transpose_b=True")
    else:
        home = module.segment(product.func).rpartition(".")[0]
        turned = f"{home}.swapaxes({module.segment(product.args[1])}, -1, -2)"
        edits = replace_code(module.code(product.args[1]), turned) if home else ()
    return fix("transpose the second factor", edits)


def _weight_of_another_size(
    function: FunctionInfo, shapes: OperationShapes | None
) -> tuple[Location, list[Fix]] | None:
    """Return the only call that sized a custom layer for the wrong number of features: `Linear(1, 32)` after 16 units."""
    if shapes is None or not shapes.is_product or len(shapes.shapes) != 2:
        return None
    given, weight = shapes.shapes
    if len(weight) != 2 or given[-1] is None or weight[0] is None:
        return None
    module, owner = function.module, function.module.class_of(function.node)
    init = module.method(owner, "__init__") if owner is not None else None
    if owner is None or init is None:
        return None
    sizes = [
        size
        for name in _first_sizes(module, owner.node, init)
        for call in module.calls
        if module.definition(call.node.func) is owner
        for size in [call.argument(name, init.parameters.index(name) - 1)]
        if isinstance(size, ast.Constant) and size.value == weight[0]
    ]
    if len(sizes) != 1:
        return None
    title = f"size the layer for the {given[-1]} features of its input"
    return module.location(sizes[0]), [unsafe(title, replace_code(module.code(sizes[0]), str(given[-1])))]


def _first_sizes(module: Module, owner: ast.ClassDef, init: FunctionInfo) -> Iterator[str]:
    """Yield the `__init__` parameters that are the first size of a weight."""
    kept = {
        ast.unparse(node.targets[0]): node.value.id
        for node in own_nodes(init)
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Name)
    }
    for call in module.method_calls("add_weight"):
        shape = call.argument("shape", 0)
        if not isinstance(shape, (ast.Tuple, ast.List)) or len(shape.elts) != 2:
            continue
        inside = module.class_of(call.node)
        name = ast.unparse(shape.elts[0])
        name = kept.get(name, name)
        if inside is not None and inside.node is owner and name in init.parameters[1:]:
            yield name


# --- shortcuts that differ from the main branch in their number of features -----------------------------------------


def _shortcut_fixes(shapes: OperationShapes | None) -> list[Fix]:
    """Advise to project a shortcut that differs from the main branch only in its number of features."""
    if shapes is None or len(shapes.shapes) != 2 or not shapes.operation.startswith("Add"):
        return []
    first, second = shapes.shapes
    # Open sizes count as equal.
    if first[1:-1] != second[1:-1] or len(first) < 2 or first[-1] == second[-1]:
        return []
    kind = "`Dense`" if len(first) == 2 else "1 × 1 convolution"
    return [fix(f"project the shortcut to the same number of features with its own {kind}")]


# --- the batch axis ------------------------------------------------------------------------------------------------


@CAUSE.after_failure
def from_lost_axis(failure: FailureFacts, project: Project) -> Iterator[Finding]:
    """Explain an error of the loss, or of the next layer, by a lost batch axis."""
    yield from _got_other_rows(failure, project)
    yield from _told_other_rows(failure, project)
    yield from _reached_no_batch(failure, project)


_IN_LOSS = re.compile(r"(?:crossentropy|cross_entropy|_error|loss|dice|huber)\w*/")


def _told_other_rows(failure: FailureFacts, project: Project) -> Iterator[Finding]:
    """Report a message in which labels and outputs differ in their number of rows only."""
    loss, operation = target_and_output(failure.message), operation_shapes(failure.message)
    if project or loss is None and not _IN_LOSS.search(failure.node):
        return
    compared = (loss.target, loss.output) if loss is not None else operation.shapes if operation else ()
    if len(compared) != 2 or len(compared[0]) < 2 or rows_that_differ(compared) is None:
        return
    (first, *_), (second, *_) = compared
    words = f"{first} and {second}" if loss is None else f"the labels have {first} and the outputs {second}"
    yield CAUSE.finding(
        "labels and outputs of one batch have different numbers of rows: " + words,
        failure.location,
        _said(failure.message),
        fix(
            "keep the batch axis in the model: a `Reshape`, a `Lambda` or a fixed batch size changes the number of rows"
        ),
        fix("if only the last batch fails, drop it: `drop_remainder=True`"),
        subject="shapes",
        notes=[f"it can also be FIT108: {catalogue()['FIT108'].title}"],
    )


# --- from the failure ----------------------------------------------------------------------------------------------


@CAUSE.after_failure
def from_failure(failure: FailureFacts, project: Project, model: ModelFacts | Unknown) -> Iterator[Finding]:
    """Read the operation from the TensorFlow error and locate the user's last line before it."""
    reduced = _REDUCED.search(failure.message)
    if reduced is not None:
        frame = _users_line(failure) or failure.last_user_frame
        place = frame.location if frame is not None else None
        yield _missing_axis(module_of(project, frame), place, reduced, raised_here(failure))
        return
    if not _SAID.search(failure.message) or failure.message.startswith(_KERAS_RAISED):
        return
    if _OF_BATCH_NORMALIZATION.search(failure.message):
        return  # versions that do not belong together: FIT901
    if failure.operation == "Assign" or "(op: 'Assign')" in failure.message:
        return  # weights that are loaded: FIT909
    short = _short_batch(failure.message, project)
    if short is not None:
        yield short
        return
    if not _is_of_user(failure.layer_class, project):
        yield from _in_keras_layer(failure, project, model)
        return
    evidence = _said(failure.message)
    frame, shapes = _users_line(failure), operation_shapes(failure.message)
    if frame is not None and (failure.definition or raised_in_trace(failure, project)):
        module = module_of(project, frame)
        if module is not None:
            yield from _at(module, frame.location, failure.message, Confidence.CERTAIN, evidence)
        elif not project and frame.function not in ("<module>", ""):
            remedy = fix("make the shapes compatible: check the axes reduced before this line")
            where = f"`{frame.function}`"
            yield _finding(where, frame.location, shapes, Confidence.LIKELY, evidence, remedy)
        else:
            yield from _by_words(failure, project, shapes)
    elif not project and failure.layer_class:
        yield from _in_keras_layer(failure, project, model)
    else:
        yield from _by_node(failure, project, evidence)
        yield from _by_words(failure, project, shapes)


_OF_BATCH_NORMALIZATION = re.compile(r"Shape must be rank 1 but is rank 0 for '\S{0,200}/Reshape_\d+'")


def _said(message: str) -> Evidence:
    return Evidence("error", _first_line(message))


def _by_words(failure: FailureFacts, project: Project, shapes: OperationShapes | None) -> Iterator[Finding]:
    """Report the two shapes of a saved message if nothing tells which part of the program they belong to."""
    if project or shapes is None or len(shapes.shapes) < 2:
        return
    if shapes_of_failure(failure) is not None or step_of_loss(failure) is not None or _is_of_metric(failure):
        return  # labels and outputs
    if _IN_LOSS.search(failure.node) and rows_that_differ(shapes.shapes) is not None:
        return  # reported as rows of labels and outputs that differ
    operation = f"`{failure.operation}`" if failure.operation else "an operation"
    words = " and ".join(shape_words(shape) for shape in shapes.shapes[:2])
    advice = _advice(replace(shapes, operation=shapes.operation or failure.operation))
    yield CAUSE.finding(
        f"{operation} gets incompatible shapes: {words}",
        failure.location,
        _said(failure.message),
        fix(advice),
        subject="shapes",
        confidence=Confidence.POSSIBLE,
    )


def _advice(shapes: OperationShapes) -> str:
    """Return what to compare if nothing tells which part of the program the shapes belong to."""
    first, second = shapes.shapes[:2]
    if shapes.is_product and len(first) > 1 and len(second) > 1:
        inner = f"({shape_words(first[-1:])[1:-2]} and {shape_words(second[-2:-1])[1:-2]})"
        return f"transpose one factor, or remove a transpose: the two inner axes {inner} must be equally long"
    longer, shorter = sorted((first, second), key=len, reverse=True)
    if (
        0 < len(shorter) < len(longer)
        and longer[: len(shorter)] == shorter
        and longer[-len(shorter) :] != shorter
    ):
        added = ", None" * (len(longer) - len(shorter))
        return f"add the missing axis at the end of the shorter one: `x[...{added}]`; shapes are compared from the last axis"
    if len(shorter) == 1 and len(longer) > 1 and math.prod(size or 0 for size in longer) == shorter[0]:
        return "flatten both or neither before they are compared: one has the numbers of the other in a single axis"
    if len(first) == len(second) == 1:
        return (
            "compare the shapes of labels and outputs before they are flattened, or the lengths of the two vectors: one has "
            f"{first[0]} numbers, the other {second[0]}"
        )
    return "compare the shapes with what the model expects: in its inputs, its labels and between its layers"


def _is_of_metric(failure: FailureFacts) -> bool:
    return failure.node.startswith("metrics") or failure.operation in ("LogicalAnd", "Equal")


# The Keras 2 error for a recurrent layer; in Keras 3 the operation fails.
CAUSE.message(
    r"An `initial_state` was passed that is not compatible with `cell\.state_size`",
    "the initial state and the recurrent layer have different sizes",
    "use the same number of units in both recurrent layers",
    subject="initial_state",
    confidence=Confidence.CERTAIN,
)
CAUSE.message(
    r"slice index (?P<index>-?\d+) of dimension (?P<axis>\d+) out of bounds",
    "index {index} is out of range for axis {axis} of a tensor",
    "use an index that the axis has; `tensor.shape` shows its length",
    subject="tensor",
    types=("InvalidArgumentError", "ValueError"),
)
CAUSE.message(
    r"Expected scalar shape, saw shape: (?P<shape>\([\d, None]*\))",
    "a single number is expected here, but the tensor has shape {shape}",
    "reduce it first, for example with `tf.reduce_mean`",
    subject="tensor",
    types=("ValueError",),
)


@CAUSE.before_fit
def from_last_batch(data: DataFacts, project: Project) -> Iterator[Finding]:
    """Report a model that hard-codes the batch size, from a trial of the shorter last batch."""
    short = data.trial.short
    failed = short.failure if isinstance(short, Outcome) else None
    if failed is not None:
        found = _short_batch(failed.message, project)
        if found is not None:
            yield found


def _short_batch(message: str, project: Project) -> Finding | None:
    """Report a hard-coded number of rows that the shorter last batch does not have."""
    shapes, loss = operation_shapes(message), target_and_output(message)
    differing = (
        (loss.target, loss.output) if loss is not None else shapes.shapes if shapes is not None else ()
    )
    rows = rows_that_differ(differing)
    written = written_in_model(project, rows.fixed) if rows is not None else None
    if rows is None or written is None:
        return None
    function, nodes = written
    module = function.module
    tensorflow, imports = spell(module.code(nodes[0]), "tensorflow", "tf")
    count = rows_of_batch(function)
    count = f"{tensorflow}.{count}" if "(" in count else count
    edits = tuple(Edit(module.location(node), count) for node in nodes) if count else ()
    edits += imports if "(" in count else ()
    return CAUSE.certain(
        f"{name_of(function)} assumes batches of {rows.fixed} rows, but a batch has {rows.rows}",
        module.location(nodes[0]),
        Evidence("error", _first_line(message)),
        fix("read the number of rows from the batch" + (f": `{count}`" if count else ""), edits),
        fix("drop the shorter last batch: `drop_remainder=True`"),
        subject=name_of(function),
    )


def _in_keras_layer(
    failure: FailureFacts, project: Project, model: ModelFacts | Unknown
) -> Iterator[Finding]:
    """Report a Keras layer that received incompatible tensors: an initial state or a mask of the wrong size."""
    if failure.layer_class in MERGES:
        return  # merging layers are a separate cause
    shapes = operation_shapes(failure.message)
    here = failure.location
    name, made = next(_layers_of_node(failure.node, project, model), (failure.layer_class, None))
    yield _finding(
        f"`{name}`",
        made or here,
        shapes,
        Confidence.LIKELY,
        _said(failure.message),
        *_as_wide_as_state(failure, project, made),
        fix(f"pass tensors of matching sizes to `{name}`, or change its size to match them"),
    )


_WIDTH = re.compile(r"shape=\((?:None|\d+), (\d+)\)")


def _as_wide_as_state(failure: FailureFacts, project: Project, made: Location | None) -> Iterator[Fix]:
    """Set the units of the layer created there to the size of its initial state."""
    widths = set(_WIDTH.findall(dict(failure.arguments).get("states", "")))
    module = project.module_at(made.path) if made is not None and project else None
    if module is None or len(widths) != 1:
        return
    units = widths.pop()
    for site in module.calls:
        if module.location(site.node) == made:
            edits = set_argument(module.code(site.node), "units", units, 0)
            yield unsafe(f"use {units} units, the size of the state", edits)
            return


def _layers_of_node(
    node: str, project: Project, model: ModelFacts | Unknown
) -> Iterator[tuple[str, Location]]:
    """Yield the layers in a node's name (`functional_1/lstm_1_2/lstm_cell_1/MatMul`), and where each was created."""
    for part in node.split("/"):
        # TensorFlow appends a number to a name already used in the graph.
        for name in (part, re.sub(r"_\d+$", "", part)):
            for layer in model.every_layer() if isinstance(model, ModelFacts) else ():
                if layer.name == name and not isinstance(layer.code, Unknown):
                    yield name, layer.code.location
            for module in project.modules:
                made = layer_named(module, name)
                if made is not None:
                    yield name, module.location(made)


def _users_line(failure: FailureFacts) -> Frame | None:
    """Return the user's innermost line that led to the operation: its definition, or where it raised."""
    traced = False
    defined: Frame | None = None
    for frame in failure.definition:
        traced = traced or (frame.library and is_framework(frame.path))
        if traced and not frame.library:
            defined = frame
    if defined is not None:
        return defined
    last = failure.last_user_frame
    return last if last is not None and last.function != "<module>" and not failure.definition else None


_NODE_OPERATORS = {"mul": ast.Mult, "sub": ast.Sub, "add": ast.Add, "truediv": ast.Div, "matmul": ast.MatMult}


def _by_node(failure: FailureFacts, project: Project, evidence: Evidence) -> Iterator[Finding]:
    """Locate a node of the backward pass by its name, which contains the loss or layer and the operation."""
    # TensorFlow appends a number to a name already used in the graph.
    parts = [re.sub(r"_\d+$", "", part) for part in failure.node.split("/")]
    for module in project.modules:
        for function in module.functions:
            name = _name_in_graph(function)
            if not name or name not in parts:
                continue
            operation = parts[parts.index(name) + 1 :][:1]
            place = _line_of(function, operation[0].lower() if operation else "")
            yield from _at(module, place, failure.message, Confidence.LIKELY, evidence)
            return


def _name_in_graph(function: FunctionInfo) -> str:
    """Return Keras's default node name for a loss or for a class of layers."""
    if function.owner is None:
        return function.name
    return snake_case(function.owner.name) if function.name == "call" else ""


def _line_of(function: FunctionInfo, operation: str) -> Location:
    """Return the only line with that operator, else the function's return."""
    module, operator = function.module, _NODE_OPERATORS.get(operation)
    found = [
        node
        for node in own_nodes(function)
        if operator is not None and isinstance(node, ast.BinOp) and isinstance(node.op, operator)
    ]
    if len(found) == 1:
        return module.location(found[0])
    last = module.returns.get(function.node, [])
    return module.location(last[-1] if last else function.node)


# --- operations that lose the batch axis ----------------------------------------------------------------------------


_FORWARD = ("call", "lambda layer")
_LIBRARIES = ("tensorflow.", "keras.ops.", "keras.backend.")


@CAUSE.before_fit
def from_rows(model: ModelFacts, data: DataFacts, project: Project) -> Iterator[Finding]:
    """Report an output whose number of rows does not depend on the batch."""
    inputs = () if isinstance(model.inputs, Unknown) else model.inputs
    if any(_rows(spec.shape) is not None for spec in inputs):
        return
    for target in targets(model, data):
        rows = _rows(target.output_shape)
        if target.loss is not None and target.labels is not None and rows not in (None, 1, data.batch_size):
            lost = _lost_axes(project, _losing_class(model))
            yield from _findings(lost, f"{rows} row{'s' * (rows != 1)} for every batch", [])


def _got_other_rows(failure: FailureFacts, project: Project) -> Iterator[Finding]:
    """Report a loss that received a different number of outputs and labels."""
    shapes = shapes_of_failure(failure)
    if shapes is None or not project:
        return
    rows, labels = _rows(shapes.output), _rows(shapes.target)
    if rows not in (None, 1, labels) and labels not in (None, 1):
        both = f"{rows} rows for {labels} labels, or vice versa"
        yield from _findings(_lost_axes(project, ""), both, [raised_here(failure)])


def _reached_no_batch(failure: FailureFacts, project: Project) -> Iterator[Finding]:
    """Report a layer that received too few axes in a function that reduces over the batch axis."""
    ranks = ranks_in(failure.message)
    frame = failure.last_user_frame
    module = module_of(project, frame)
    if ranks is None or ranks.found >= ranks.expected or frame is None or module is None:
        return
    function = function_at(module, frame.line, frame.cell)
    if function is not None and project:
        found = [lost for lost in _lost_axes(project, "") if lost.module.function_of(lost.node) is function]
        yield from _findings(found, axes_words(ranks.found), [raised_here(failure)])


def _rows(shape: Shape | Unknown | None) -> int | None:
    return shape[0] if isinstance(shape, tuple) and shape else None


def _losing_class(model: ModelFacts) -> str:
    """Return the class of the first layer that loses an open batch axis; "" if unknown."""
    for layer in model.layers:
        if (
            layer.builtin
            or isinstance(layer.input_shapes, Unknown)
            or isinstance(layer.output_shapes, Unknown)
        ):
            continue
        if any(shape and shape[0] is None for shape in layer.input_shapes) and all(
            _rows(shape) is not None for shape in layer.output_shapes
        ):
            return layer.class_name
    return ""


def _findings(places: list[_LostAxis], found: str, evidence: list[Evidence]) -> Iterator[Finding]:
    for lost in places[:1]:
        yield CAUSE.finding(
            f"the batch axis is lost: {lost.what}",
            lost.module.location(lost.node),
            Evidence("model output", found, "one row per sample"),
            *evidence,
            unsafe(lost.remedy, lost.edits),
            subject="batch axis",
        )


# --- in the source --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _LostAxis:
    """An expression whose first axis is no longer the batch axis."""

    module: Module
    node: ast.expr
    what: str
    remedy: str
    edits: tuple[Edit, ...] = ()


def _lost_axes(project: Project, class_name: str) -> list[_LostAxis]:
    """Return where a forward pass loses the axis: in the named class, or anywhere if ""."""
    found = [
        (module, call)
        for module in project.modules
        for call in module.nodes(ast.Call)
        if call.args and _is_forward(module, call, class_name) and _is_batch(module, call.args[0])
        if not _is_spread_again(module, call)
    ]
    turned = [(module, call) for module, call in found if _moves_first_axis(module, call)]
    # Two transpositions cancel each other.
    turning = [_turning(*turned[0])] if len(turned) == 1 else []
    return [_reducing(*each) for each in found if 0 in axes_taken_away(*each)] + turning


def _is_forward(module: Module, call: ast.Call, class_name: str) -> bool:
    function = module.function_of(call)
    if function is not None and function.traced is not None:
        owner = function.owner.name if function.owner is not None else ""
        return function.traced.how in _FORWARD and class_name in ("", owner, "Lambda")
    return not class_name


def _is_batch(module: Module, node: ast.expr) -> bool:
    if is_variable(module, node):
        return False
    return is_symbolic(module, node) or is_keras_tensor(module, node)


def _is_spread_again(module: Module, call: ast.Call) -> bool:
    """Whether the result is only used to broadcast against whole batches, as the mean in `x - mean`."""
    if isinstance(module.parent(call), ast.BinOp):
        return True
    statement, function = module.statement(call), module.function_of(call)
    if not isinstance(statement, ast.Assign) or statement.value is not call or function is None:
        return False
    names = {target.id for target in statement.targets if isinstance(target, ast.Name)}
    reads = [
        node
        for node in ast.walk(function.node)
        if isinstance(node, ast.Name) and node.id in names and isinstance(node.ctx, ast.Load)
    ]
    return bool(reads) and all(isinstance(module.parent(node), ast.BinOp) for node in reads)


def _reducing(module: Module, call: ast.Call) -> _LostAxis:
    axis = argument_of(call, "axis", 1)
    edits = (Edit(module.location(axis), "1"),) if axis is not None and whole_number(axis) == 0 else ()
    what = f"`{module.segment(call)[:60]}` reduces over the batch axis"
    return _LostAxis(module, call, what, "reduce over axis 1: axis 0 is the batch axis", edits)


def _turning(module: Module, call: ast.Call) -> _LostAxis:
    what = f"`{module.segment(call)[:60]}` moves it away from the first position"
    if len(call.args) + len(call.keywords) > 1:
        return _LostAxis(module, call, what, "keep axis 0 first in the order of the axes")
    edits = (Edit(module.location(call), module.segment(call.args[0])),)
    return _LostAxis(module, call, what, "remove the transpose, or specify the order of the axes", edits)


def _moves_first_axis(module: Module, call: ast.Call) -> bool:
    name = module.resolve(call.func)
    if not name.startswith(_LIBRARIES) or not name.endswith(".transpose"):
        return False
    order = argument_of(call, "perm" if name.startswith("tensorflow.") else "axes", 1)
    if order is None:
        return True
    return isinstance(order, (ast.List, ast.Tuple)) and bool(order.elts) and whole_number(order.elts[0]) != 0

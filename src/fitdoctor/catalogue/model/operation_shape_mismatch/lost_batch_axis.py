"""User operations that remove the batch axis, such as a mean over axis 0."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fitdoctor.catalogue import Cause
from fitdoctor.catalogue.knowledge.labels.label_shapes import shapes_of_failure
from fitdoctor.catalogue.knowledge.labels.targets import targets
from fitdoctor.catalogue.knowledge.models.refusals import axes_words, ranks_in
from fitdoctor.catalogue.model.keras_tensors import is_keras_tensor
from fitdoctor.catalogue.model.reductions import axes_taken_away, whole_number
from fitdoctor.diagnosis import Edit, Evidence, Finding
from fitdoctor.edits import unsafe
from fitdoctor.facts import DataFacts, FailureFacts, ModelFacts, Shape, Unknown
from fitdoctor.failure.failed_line import function_at, module_of, raised_here
from fitdoctor.records import dataclass
from fitdoctor.source.definitions import argument_of
from fitdoctor.source.module import Module
from fitdoctor.source.project import Project
from fitdoctor.source.traced.symbolic import is_symbolic, is_variable

_FORWARD = ("call", "lambda layer")
_LIBRARIES = ("tensorflow.", "keras.ops.", "keras.backend.")


def gives_other_rows(cause: Cause, model: ModelFacts, data: DataFacts, project: Project) -> Iterator[Finding]:
    """Report an output whose number of rows does not depend on the batch."""
    inputs = () if isinstance(model.inputs, Unknown) else model.inputs
    if any(_rows(spec.shape) is not None for spec in inputs):
        return
    for target in targets(model, data):
        rows = _rows(target.output_shape)
        if target.loss is not None and target.labels is not None and rows not in (None, 1, data.batch_size):
            lost = _lost_axes(project, _losing_class(model))
            yield from _findings(cause, lost, f"{rows} row{'s' * (rows != 1)} for every batch", [])


def got_other_rows(cause: Cause, failure: FailureFacts, project: Project | Unknown) -> Iterator[Finding]:
    """Report a loss that received a different number of outputs and labels."""
    shapes = shapes_of_failure(failure)
    if shapes is None or isinstance(project, Unknown):
        return
    rows, labels = _rows(shapes.output), _rows(shapes.target)
    if rows not in (None, 1, labels) and labels not in (None, 1):
        both = f"{rows} rows for {labels} labels, or vice versa"
        yield from _findings(cause, _lost_axes(project, ""), both, [raised_here(failure)])


def reached_no_batch(cause: Cause, failure: FailureFacts, project: Project | Unknown) -> Iterator[Finding]:
    """Report a layer that received too few axes in a function that reduces over the batch axis."""
    ranks = ranks_in(failure.message)
    frame = failure.last_user_frame
    module = module_of(project, frame)
    if ranks is None or ranks.found >= ranks.expected or frame is None or module is None:
        return
    function = function_at(module, frame.line, frame.cell)
    if function is not None and isinstance(project, Project):
        found = [lost for lost in _lost_axes(project, "") if lost.module.function_of(lost.node) is function]
        yield from _findings(cause, found, axes_words(ranks.found), [raised_here(failure)])


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


def _findings(
    cause: Cause, places: list[_LostAxis], found: str, evidence: list[Evidence]
) -> Iterator[Finding]:
    for lost in places[:1]:
        yield cause.finding(
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

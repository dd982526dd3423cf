"""Integer index that drops an axis.

## What happens

For a tensor of shape (batch, features), `inputs[:, 0]` has shape (batch,), without the feature axis. The next layer
raises `ValueError: Input 0 of layer "dense" is incompatible with the layer: expected min_ndim=2, found ndim=1`.

## Why

An integer index selects one element and drops its axis; a slice of length 1 keeps it.

## Fix

Slice instead: `inputs[:, 0:1]`.

## Known limits

An index that drops an axis on purpose (the first token of a sequence) is not reported. Only one whose result the next
layer rejects is.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fitdoctor.catalogue import Cause
from fitdoctor.catalogue.knowledge.models.layer_source import found_in, node_at
from fitdoctor.catalogue.knowledge.models.model_classes import returned
from fitdoctor.catalogue.knowledge.models.refusals import Refusal, explains_refusals
from fitdoctor.catalogue.model.keras_tensors import is_keras_tensor
from fitdoctor.catalogue.traceback_lines import was_received
from fitdoctor.catalogue.words import place
from fitdoctor.diagnosis import Confidence, Edit, Evidence, Finding, Location, Severity
from fitdoctor.edits import fix
from fitdoctor.facts import FailureFacts, Frame, LayerFacts, Unknown
from fitdoctor.failure.failed_line import function_at, module_of, nodes_at
from fitdoctor.failure.shapes import InputMismatch, input_mismatch
from fitdoctor.records import replace
from fitdoctor.source.module import FunctionInfo, Module
from fitdoctor.source.project import Project

CAUSE = Cause(
    id="FIT307",
    slug="axis-dropped-by-indexing",
    severity=Severity.ERROR,
    raises="ValueError",
    explains=("FIT102", "FIT304"),
)


def _speaks(message: str) -> bool:
    said = input_mismatch(message)
    return said is not None and said.found_rank is not None and not said.target


@explains_refusals(CAUSE, _speaks, tried=True)
def axis_dropped(refusal: Refusal, project: Project) -> Iterator[Finding]:
    """Report an index that drops an axis on the way to the layer that lacks it."""
    said, failure = refusal.said, refusal.failure
    assert said is not None
    if not project:
        received = was_received(failure, said.found) if failure is not None else True
        if failure is not None and said.found_rank == 1 and not received:
            if failure.called not in _GIVEN_DATA or failure.layer_class:
                yield _from_words(said, failure.location, sure=received is False)
        return
    if said.found_rank != 1:
        found = _indexed_there(project, refusal.place, (said.expected_rank or 0) - (said.found_rank or 0))
    elif failure is not None:
        found = _candidates(project, failure)
    else:
        found = _on_the_way(refusal, project)
    if found:
        evidence = Evidence(
            f"input of {refusal.shown}",
            f"rank {said.found_rank}",
            f"rank {said.expected_rank}",
            location=refusal.location,
        )
        sure = refusal.confidence if len(found) == 1 else Confidence.LIKELY
        yield replace(_finding(*found[0], evidence, said.found_rank or 1), confidence=sure)


def _indexed_there(
    project: Project, here: Location | None, missing: int
) -> list[tuple[Module, ast.Subscript]]:
    """Return the only `x[:, i]` passed to a call on a line, if it drops the axis that is missing."""
    module = project.module_at(here.path) if here is not None else None
    if module is None or here is None or missing != 1:
        return []
    given = [call.args[0] for call in nodes_at(module, ast.Call, here) if call.args]
    found = [each for each in map(module.made_by, given) if isinstance(each, ast.Subscript)]
    found = [each for each in found if _drops_axes(each.slice) and len(getattr(each.slice, "elts", ())) == 2]
    return [(module, found[0])] if len(found) == 1 else []


def _on_the_way(refusal: Refusal, project: Project) -> list[tuple[Module, ast.Subscript]]:
    """Return the index whose result enters the rejecting layer, or that the previous layer returns."""
    assert refusal.layer is not None
    found = [each for before in refusal.way[:1] for each in _returned_index(before, project)]
    found = found[:1] or _given_index(project, refusal.place)
    made = found_in(project, refusal.layer.code)
    owner = made[0].class_of(made[1]) if made is not None else None
    call = made[0].method(owner, "call") if made is not None and owner is not None else None
    if found or made is None or call is None:
        return found
    module, dropping = call.module, _dropping(call.module, call)
    calls = [site.node for site in call.calls if module.made_by(site.node.func) is made[1]]
    entering = [module.made_by(node.args[0]) for node in calls if node.args]
    found = [(module, index) for index in dropping if index in entering]
    return found[:1] or ([(module, dropping[0])] if len(dropping) == 1 else [])


def _given_index(project: Project, call: Location | None) -> list[tuple[Module, ast.Subscript]]:
    """Return the index expression that a layer of a functional model is called on."""
    module = project.module_at(call.path) if call is not None else None
    node = node_at(module, call) if module is not None and call is not None else None
    source = module.made_by(node.args[0]) if module is not None and node is not None and node.args else None
    if module is None or not isinstance(source, ast.Subscript) or not _drops_axes(source.slice):
        return []
    return [(module, source)] if is_keras_tensor(module, source.value) else []


def _returned_index(layer: LayerFacts, project: Project) -> Iterator[tuple[Module, ast.Subscript]]:
    """Yield the `x[:, i]` that a layer's `call` returns."""
    for module in project.modules:
        for function in module.functions:
            if _computes(function, layer, module):
                for result in returned(function):
                    if isinstance(result, ast.Subscript) and result in _dropping(module, function):
                        yield module, result


def _computes(function: FunctionInfo, layer: LayerFacts, module: Module) -> bool:
    """Whether the function is the layer's forward pass: its `call`, or the function of a Lambda layer."""
    if function.owner is not None:
        return function.name == "call" and function.owner.name == layer.class_name
    if layer.class_name != "Lambda" or isinstance(layer.code, Unknown):
        return False
    here, there = module.location(function.node), layer.code.location
    return (
        here.path == there.path
        and (there.line, there.column) <= (here.line, here.column)
        and (here.end_line, here.end_column) <= (there.end_line, there.end_column)
    )


def _dropping(module: Module, function: FunctionInfo) -> list[ast.Subscript]:
    """Return the tensor index expressions `x[:, i]` in a function, in order."""
    return [
        node
        for node in ast.walk(function.node)
        if isinstance(node, ast.Subscript)
        and isinstance(node.ctx, ast.Load)
        and _drops_axes(node.slice)
        and (module.is_tensor(node.value) or is_keras_tensor(module, node.value))
    ]


def _drops_axes(index: ast.expr) -> bool:
    """Whether every axis except the batch axis has an integer index: `[:, i]`, `[:, i, j]`."""
    if not isinstance(index, ast.Tuple) or len(index.elts) < 2:
        return False
    first, *others = index.elts
    whole = isinstance(first, ast.Slice) and first.lower is None and first.upper is None
    return whole and not any(
        isinstance(other, (ast.Slice, ast.Starred)) or _is_new_axis(other) for other in others
    )


def _is_new_axis(index: ast.expr) -> bool:
    """Whether an index adds or keeps axes: `None`, `tf.newaxis`, `...` or a list."""
    if isinstance(index, (ast.List, ast.ListComp, ast.Tuple)):
        return True
    if isinstance(index, ast.Constant):
        return not isinstance(index.value, int)
    return isinstance(index, ast.Attribute) and index.attr == "newaxis"


_GIVEN_DATA = ("fit", "evaluate", "predict", "train_on_batch", "")


def _from_words(refused: InputMismatch, location: Location | None, *, sure: bool) -> Finding:
    """Report without source that an axis is lost before this layer.

    Args:
        refused: the layer's error.
        location: the user's last line.
        sure: whether the model's input is known and had the axis.
    """
    doubt = "without the source: the data itself may lack the axis (FIT102), or the batch axis (FIT701)"
    return CAUSE.finding(
        f"an axis is dropped before layer `{refused.layer}`, which receives rank 1",
        location,
        Evidence(f"input of layer `{refused.layer}`", "rank 1", f"rank {refused.expected_rank}"),
        fix(
            "keep the axis: use a slice (`x[:, 0:1]`) instead of an index, or `keepdims=True` in a reduction"
        ),
        subject=f"layer {refused.layer}",
        notes=[] if sure else [doubt],
        confidence=Confidence.LIKELY if sure else Confidence.POSSIBLE,
    )


def _candidates(project: Project, failure: FailureFacts) -> list[tuple[Module, ast.Subscript]]:
    """Return index expressions that drop an axis, innermost traceback functions first."""
    found: list[tuple[Module, ast.Subscript]] = []
    for frame in reversed(failure.user_frames):
        found += _in_frame(project, frame)
    if not found:
        # Keras removes the frames of layers called symbolically, so search every traced function.
        for module in project.modules:
            for function in module.functions:
                if function.traced is not None and function.traced.how in ("call", "lambda layer"):
                    found += [(module, index) for index in _dropping(module, function)]
    return found


def _in_frame(project: Project, frame: Frame) -> list[tuple[Module, ast.Subscript]]:
    module = module_of(project, frame)
    function = function_at(module, frame.line, frame.cell) if module is not None else None
    if module is not None and function is not None:
        return [(module, index) for index in _dropping(module, function)]
    # At module level: the tensor that the layer on that line was called on.
    calls = nodes_at(module, ast.Call, frame)
    places = [module.location(call) for call in calls] if module is not None else []
    return [each for here in places for each in _given_index(project, here)]


def _finding(module: Module, index: ast.Subscript, evidence: Evidence, rank: int = 1) -> Finding:
    assert isinstance(index.slice, ast.Tuple)
    *before, dropped = index.slice.elts
    text, name = module.segment(dropped), module.segment(index.value)
    kept = _slice_for(dropped, text)
    front = ", ".join(module.segment(each) for each in before)
    left = "batch, features" if rank == 2 else "batch, …"
    dropped_words = "every axis of `{}` except the batch axis" if rank == 1 else "an axis of `{}`"
    return CAUSE.finding(
        f"`{module.segment(index)}` drops {dropped_words.format(name)}, so the next layer receives rank {rank}",
        place(module.location(index)),
        Evidence(
            "an integer index drops its axis, a slice keeps it",
            f"`{name}[{front}, {text}]` of shape " + ("(batch,)" if rank == 1 else f"({left})"),
            f"`{name}[{front}, {kept}]` of shape "
            + ("(batch, 1)" if rank == 1 else f"({left.replace(',', ', 1,', 1)})"),
        ),
        evidence,
        fix(f"use a slice: `{name}[{front}, {kept}]`", (Edit(module.location(dropped), kept),)),
        subject=f"index {module.segment(index)}",
    )


def _slice_for(dropped: ast.expr, text: str) -> str:
    if isinstance(dropped, ast.Constant) and isinstance(dropped.value, int):
        return f"{dropped.value}:{dropped.value + 1}"
    if text == "-1":
        return "-1:"
    return f"{text}:{text} + 1"

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
import itertools
from collections.abc import Iterator
from typing import TYPE_CHECKING

from fitdoctor.catalogue import Cause, mentions
from fitdoctor.catalogue.knowledge.models.layer_source import found_in, node_at
from fitdoctor.catalogue.knowledge.models.refusals import Refusal, of_site, of_trial
from fitdoctor.catalogue.model.keras_tensors import is_keras_tensor
from fitdoctor.catalogue.traceback_lines import was_received
from fitdoctor.catalogue.words import place
from fitdoctor.diagnosis import Confidence, Edit, Evidence, Finding, Location, Severity
from fitdoctor.edits import fix
from fitdoctor.facts import DataFacts, FailureFacts, Frame, LayerFacts, ModelFacts, Unknown
from fitdoctor.failure.failed_line import at_frame, function_at, module_of
from fitdoctor.failure.patterns import InputMismatch, input_mismatch
from fitdoctor.records import replace
from fitdoctor.source.module import FunctionInfo, Module
from fitdoctor.source.project import Project

if TYPE_CHECKING:
    from fitdoctor.source.fits.fit_sites import ModelSite

CAUSE = Cause(
    id="FIT307",
    slug="axis-dropped-by-indexing",
    severity=Severity.ERROR,
    raises="ValueError",
    explains=("FIT102", "FIT304"),
)

NEEDS_AN_AXIS = frozenset({"Dense", "BatchNormalization", "LSTM", "GRU", "SimpleRNN", "Conv1D", "Flatten"})
"""Layers that reject a tensor of rank 1."""


@CAUSE.in_source
@mentions("def", "lambda")
def from_source(model: ModelFacts, data: DataFacts, project: Project) -> Iterator[Finding]:
    """Report a custom layer that returns `x[:, i]` of its rank-2 input to a layer that needs rank 2."""
    if model.kind != "sequential":
        return
    for layer, following in itertools.pairwise(model.layers):
        if layer.builtin and layer.class_name != "Lambda" or following.class_name not in NEEDS_AN_AXIS:
            continue
        if _input_rank(layer, data) != 2:
            continue
        for module, index in _returned_index(layer, project):
            evidence = Evidence(
                f"the next layer, `{following.class_name}`, needs a feature axis",
                location=place(following.code),
            )
            yield _finding(module, index, Confidence.LIKELY, [evidence])


@CAUSE.in_source
def from_refusal(site: ModelSite, project: Project) -> Iterator[Finding]:
    """Report an index that drops an axis on the way to a layer that, by the source, gets rank 1."""
    refusal = of_site(site)
    said = input_mismatch(refusal.message) if refusal is not None else None
    if refusal is None or refusal.layer is None or said is None:
        return
    if said.found_rank != 1:
        yield from _of_refused(refusal, said, project)
        return
    found = _on_the_way(refusal, project)
    if found is not None:
        evidence = Evidence(
            f"input of `{refusal.layer.class_name}`",
            f"rank {said.found_rank}",
            f"rank {said.expected_rank}",
            location=place(refusal.layer.code),
        )
        yield _finding(*found, Confidence.LIKELY, [evidence])


@CAUSE.before_fit
def from_trial(model: ModelFacts, data: DataFacts, project: Project) -> Iterator[Finding]:
    """Report an indexed tensor at the layer where the abstract forward pass stopped."""
    refusal = of_trial(model, data) if data.role == "training" else None
    said = input_mismatch(refusal.message) if refusal is not None else None
    if refusal is not None and said is not None and project:
        yield from _of_refused(refusal, said, project)


def _of_refused(refusal: Refusal, said: InputMismatch, project: Project) -> Iterator[Finding]:
    """Report the index, on the layer's own line, that drops as many axes as the layer lacks."""
    if said.expected_rank is None or said.found_rank is None or said.found_rank < 2:
        return
    found = _indexed_there(project, refusal.place, said.expected_rank - said.found_rank)
    if found is not None:
        evidence = Evidence(
            f"input of layer `{said.layer or refusal.name}`",
            f"rank {said.found_rank}",
            f"rank {said.expected_rank}",
            location=refusal.place,
        )
        yield _finding(*found, refusal.confidence, [evidence], said.found_rank)


def _indexed_there(
    project: Project, here: Location | None, missing: int
) -> tuple[Module, ast.Subscript] | None:
    """Return the only `x[:, i]` passed to a call on a line, if it drops as many axes as are missing."""
    module = project.module_at(here.path) if here is not None else None
    if module is None or here is None:
        return None
    found = []
    for site in module.calls:
        place_of = module.location(site.node)
        if not site.node.args or (place_of.line, place_of.cell) != (here.line, here.cell):
            continue
        source = module.made_by(site.node.args[0])
        if isinstance(source, ast.Subscript) and _drops_axes(source.slice):
            assert isinstance(source.slice, ast.Tuple)
            if len(source.slice.elts) - 1 == missing == 1:
                found.append(source)
    return (module, found[0]) if len(found) == 1 else None


def _on_the_way(refusal: Refusal, project: Project) -> tuple[Module, ast.Subscript] | None:
    """Return the index whose result enters the rejecting layer, or that the previous layer returns."""
    for before in refusal.way[:1]:
        for module, index in _returned_index(before, project):
            return module, index
    assert refusal.layer is not None
    given = _given_index(project, refusal.place)
    if given is not None:
        return given
    made = found_in(project, refusal.layer.code)
    owner = made[0].class_of(made[1]) if made is not None else None
    call = made[0].method(owner, "call") if made is not None and owner is not None else None
    if made is None or call is None:
        return None
    module = call.module
    dropping = _dropping(module, call)
    for node in ast.walk(call.node):
        if isinstance(node, ast.Call) and node.args and module.made_by(node.func) is made[1]:
            source = module.made_by(node.args[0])
            if source in dropping:
                assert isinstance(source, ast.Subscript)
                return module, source
    return (module, dropping[0]) if len(dropping) == 1 else None


def _given_index(project: Project, call: Location | None) -> tuple[Module, ast.Subscript] | None:
    """Return the index expression that a layer of a functional model is called on."""
    module = project.module_at(call.path) if call is not None else None
    node = node_at(module, call) if module is not None and call is not None else None
    if module is None or node is None or not node.args:
        return None
    source = module.made_by(node.args[0])
    if isinstance(source, ast.Subscript) and _drops_axes(source.slice):
        return (module, source) if is_keras_tensor(module, source.value) else None
    return None


def _input_rank(layer: LayerFacts, data: DataFacts) -> int | None:
    if isinstance(layer.input_shapes, tuple) and layer.input_shapes:
        return len(layer.input_shapes[0])
    if layer.index == 0 and len(data.x) == 1 and isinstance(data.x[0].shape, tuple):
        return len(data.x[0].shape)
    return None


def _returned_index(layer: LayerFacts, project: Project) -> Iterator[tuple[Module, ast.Subscript]]:
    """Yield the `x[:, i]` that a layer's `call` returns."""
    for module in project.modules:
        for function in module.functions:
            if _computes(function, layer, module):
                for result in _results(function):
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


def _results(function: FunctionInfo) -> list[ast.expr]:
    if isinstance(function.node, ast.Lambda):
        return [function.node.body]
    returned = [node.value for node in ast.walk(function.node) if isinstance(node, ast.Return)]
    return [value for value in returned if value is not None]


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


@CAUSE.after_failure
def from_failure(failure: FailureFacts, project: Project) -> Iterator[Finding]:
    """Explain a layer that received rank 1 by the index that drops an axis before it."""
    refused = input_mismatch(failure.message)
    frame = failure.last_user_frame
    if refused is not None and refused.found_rank != 1 and project and frame is not None:
        module = module_of(project, frame)
        here = replace(frame.location, path=module.path) if module is not None else None
        refusal = Refusal(failure.message, None, (), (), here, Confidence.CERTAIN)
        yield from _of_refused(refusal, refused, project)
    if refused is None or refused.found_rank != 1 or refused.target:
        return
    if not project:
        received = was_received(failure, refused.found)
        if not received and (failure.called not in _GIVEN_DATA or failure.layer_class):
            yield _from_words(refused, failure.location, sure=received is False)
        return
    candidates = _candidates(project, failure)
    if not candidates:
        return
    module, index = candidates[0]
    yield _finding(
        module,
        index,
        Confidence.CERTAIN if len(candidates) == 1 else Confidence.LIKELY,
        [
            Evidence(
                f"input of layer `{refused.layer or failure.layer}`",
                f"rank {refused.found_rank}",
                f"rank {refused.expected_rank}",
                fact="failure.message",
                location=failure.location,
            )
        ],
    )


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
        Evidence(
            f"input of layer `{refused.layer}`",
            "rank 1",
            f"rank {refused.expected_rank}",
            fact="failure.message",
        ),
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
    if module is None:
        return []
    function = function_at(module, frame.line, frame.cell)
    if function is not None:
        return [(module, index) for index in _dropping(module, function)]
    # At module level: the tensor that the layer on that line was called on.
    calls = [site.node for site in module.calls if at_frame(module, site.node, frame)]
    found = [_given_index(project, module.location(call)) for call in calls]
    return [each for each in found if each is not None]


def _finding(
    module: Module, index: ast.Subscript, confidence: Confidence, evidence: list[Evidence], rank: int = 1
) -> Finding:
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
        *evidence,
        fix(f"use a slice: `{name}[{front}, {kept}]`", (Edit(module.location(dropped), kept),)),
        subject=f"index {module.segment(index)}",
        confidence=confidence,
    )


def _slice_for(dropped: ast.expr, text: str) -> str:
    if isinstance(dropped, ast.Constant) and isinstance(dropped.value, int):
        return f"{dropped.value}:{dropped.value + 1}"
    if text == "-1":
        return "-1:"
    return f"{text}:{text} + 1"

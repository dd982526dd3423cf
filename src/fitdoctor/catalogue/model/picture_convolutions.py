"""Pictures passed to a convolution over sequences."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fitdoctor.catalogue import Cause
from fitdoctor.catalogue.graph.traced import raised_here
from fitdoctor.catalogue.model.layer_ranks import axes_words, ranks_in
from fitdoctor.catalogue.model.layer_source import found_in
from fitdoctor.catalogue.model.model_inputs import is_picture
from fitdoctor.catalogue.words import place, shape_words
from fitdoctor.diagnosis import Confidence, Edit, Evidence, Finding, Location
from fitdoctor.edits import unsafe
from fitdoctor.facts import FailureFacts, LayerFacts, Shape, Unknown
from fitdoctor.failure.shapes import parse_shape
from fitdoctor.patterns import pattern
from fitdoctor.source.definitions import CallSite
from fitdoctor.source.module import Module
from fitdoctor.source.project import Project

_KERNEL = pattern(r"received kernel of shape (?P<kernel>\([^)]*\)) and input of shape")


def refused_pictures(cause: Cause, failure: FailureFacts, project: Project | Unknown) -> Iterator[Finding]:
    """Report the `Conv1D` whose kernel did not fit a batch of pictures."""
    said, ranks = _KERNEL.search(failure.message), ranks_in(failure.message)
    if said is None or ranks is None or ranks.shape is None or not is_picture(ranks.shape):
        return
    kernel = parse_shape(said["kernel"])
    if kernel is None or ranks.expected != 3:
        return
    site = _convolution(project, kernel[-1])
    frame = failure.last_user_frame
    made = (site.module, site.node) if site is not None else None
    here = frame.location if frame is not None else None
    yield _finding(cause, ranks.shape, made, here, Confidence.CERTAIN, [raised_here(failure)])


def is_sequence_layer_for_pictures(layer: LayerFacts | None, shape: Shape | Unknown) -> bool:
    """Whether a convolution over sequences gets a batch of pictures."""
    return layer is not None and layer.builtin and layer.class_name == "Conv1D" and _is_of_pictures(shape)


def pictures_in_source(
    cause: Cause, layer: LayerFacts | None, shape: Shape | Unknown, project: Project | Unknown
) -> Iterator[Finding]:
    """Report the `Conv1D` that the source shows to get pictures."""
    if layer is None or not is_sequence_layer_for_pictures(layer, shape):
        return
    assert isinstance(shape, tuple)
    made = found_in(project, layer.code)
    yield _finding(cause, shape, made, place(layer.code), Confidence.LIKELY, [])


def _is_of_pictures(shape: Shape | Unknown) -> bool:
    return isinstance(shape, tuple) and is_picture(shape)


def _finding(
    cause: Cause,
    shape: Shape,
    made: tuple[Module, ast.Call] | None,
    location: Location | None,
    confidence: Confidence,
    evidence: list[Evidence],
) -> Finding:
    edits: tuple[Edit, ...] = ()
    if made is not None:
        module, call = made
        location, name = module.location(call), module.code(call.func)
        edits = (Edit(name.location, name.text.replace("1D", "2D")),)
    return cause.finding(
        f"`Conv1D` expects {axes_words(3)}, but the images have {len(shape)}",
        subject="layer Conv1D",
        location=location,
        evidence=[
            Evidence("input of `Conv1D`", shape_words(shape), "(batch, steps, channels)", "failure.message"),
            *evidence,
        ],
        fixes=[unsafe("use `Conv2D` and 2D pooling layers", edits)],
        confidence=confidence,
    )


def _convolution(project: Project | Unknown, filters: int | None) -> CallSite | None:
    """Return the only `Conv1D` of the program, or the only one with that many filters."""
    modules = () if isinstance(project, Unknown) else project.modules
    every = [
        call
        for module in modules
        for call in module.calls
        if call.name.rpartition(".")[2] in ("Conv1D", "Convolution1D")
    ]
    like = [call for call in every if _number(call.argument("filters", 0)) == filters]
    found = every if len(every) == 1 else like
    return found[0] if len(found) == 1 else None


def _number(value: ast.expr | None) -> object:
    return value.value if isinstance(value, ast.Constant) else None

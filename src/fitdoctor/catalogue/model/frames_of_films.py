"""Image sequences passed to a layer that expects one image per sample."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fitdoctor.catalogue import Cause
from fitdoctor.catalogue.model.layer_source import is_layer_call, layer_of, node_at, nodes_after, wrapped_in
from fitdoctor.catalogue.model.model_inputs import goes_by_frames
from fitdoctor.catalogue.words import shape_words
from fitdoctor.diagnosis import Confidence, Evidence, Finding
from fitdoctor.edits import fix
from fitdoctor.facts import Code, Shape, Unknown
from fitdoctor.patterns import pattern
from fitdoctor.source.module import Module
from fitdoctor.source.project import Project

_OF_ONE_PICTURE = pattern(
    r"(Separable|Depthwise)?Conv2D(Transpose)?|(Global)?(Max|Average)Pooling2D|ZeroPadding2D|UpSampling2D|Flatten"
)


def refused_frames(
    cause: Cause, given: tuple[Code, Shape] | None, message: str, project: Project | Unknown, proven: bool
) -> Iterator[Finding]:
    """Report an image layer that should be wrapped in `TimeDistributed`."""
    if given is None or isinstance(project, Unknown) or not goes_by_frames(*given, message, project):
        return
    module = project.module_at(given[0].location.path)
    node = node_at(module, given[0].location) if module is not None else None
    if module is None or node is None:
        return
    layers = list(_of_pictures(module, node))
    if not layers:
        return
    kind = layer_of(module, layers[0]).class_name
    edits = [edit for layer in layers for edit in wrapped_in(module, layer, "TimeDistributed")]
    yield cause.finding(
        f"`{kind}` expects one image per sample, but the input is a sequence of images",
        subject=f"layer {kind}",
        location=module.location(layers[0]),
        evidence=[
            Evidence(
                claim="input shape of the model",
                observed=shape_words(given[1]),
                expected=shape_words((None, *given[1][2:])),
                location=given[0].location,
            )
        ],
        fixes=[fix(f"apply the layer to each time step: `TimeDistributed({kind}(…))`", dict.fromkeys(edits))],
        confidence=Confidence.CERTAIN if proven else Confidence.LIKELY,
    )


def _of_pictures(module: Module, node: ast.Call) -> Iterator[ast.Call]:
    """Yield the image layers up to the first one that consumes the time steps."""
    chain = [node, *nodes_after(module, node)] if is_layer_call(module, node) else nodes_after(module, node)
    for each in chain:
        if not isinstance(each, ast.Call) or not is_layer_call(module, each):
            return
        name = layer_of(module, each).class_name
        if _OF_ONE_PICTURE.fullmatch(name):
            yield each
        elif name in ("TimeDistributed", "LSTM", "GRU", "SimpleRNN", "Bidirectional"):
            return

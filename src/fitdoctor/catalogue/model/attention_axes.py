"""Attention over a tensor without a time axis: each sample attends to the other samples of its batch."""

from __future__ import annotations

from collections.abc import Iterator

from fitdoctor.catalogue import Cause
from fitdoctor.catalogue.model.layer_ranks import recurrent_name, sequences_fix
from fitdoctor.catalogue.words import place, shape_words
from fitdoctor.diagnosis import Confidence, Evidence, Finding, Fix, Severity
from fitdoctor.edits import fix
from fitdoctor.facts import LayerFacts, ModelFacts, Shape, Unknown
from fitdoctor.source.project import Project

_ATTENTION = ("Attention", "AdditiveAttention")
"""Layers that accept any number of axes; `MultiHeadAttention` rejects fewer than three."""
_GIVES_ONE_STEP = ("LSTM", "GRU", "SimpleRNN", "RNN", "Bidirectional")


def mixed_samples(
    cause: Cause, model: ModelFacts, project: Project | Unknown, severity: Severity
) -> Iterator[Finding]:
    """Report attention in which only one of query and value has a time axis."""
    layers = {layer.name: layer for layer in model.every_layer()}
    for layer in layers.values():
        given = layer.input_shapes
        if layer.class_name not in _ATTENTION or not layer.builtin or isinstance(given, Unknown):
            continue
        flat = [index for index, shape in enumerate(given[:2]) if len(shape) == 2]
        if len(given) < 2 or len(flat) != 1 or {len(shape) for shape in given[:2]} != {2, 3}:
            continue
        what = ("query", "value")[flat[0]]
        last = _last_step(layer, given[1], layers) if what == "value" else None
        yield cause.finding(
            f"the {what} of `{layer.class_name}` has no time axis, so each sample attends to the other samples of its batch",
            subject=f"layer {layer.name}",
            location=place(*(one.code for one in (last, layer) if one is not None)),
            evidence=[
                Evidence(
                    claim=f"{what} of `{layer.class_name}`",
                    observed=shape_words(given[flat[0]]),
                    expected="(None, time, features)",
                    fact="model.layers",
                    location=place(layer.code),
                ),
                *_gives_last(last),
            ],
            fixes=[_repair(what, last, project)],
            severity=severity,
            confidence=Confidence.LIKELY if severity is Severity.WARNING else Confidence.CERTAIN,
        )


def _last_step(layer: LayerFacts, value: Shape, layers: dict[str, LayerFacts]) -> LayerFacts | None:
    """Return the recurrent layer before the attention that returns only its last time step."""
    told = any(one.fed_by for one in layers.values())  # not known from source alone
    given = [
        one
        for one in layers.values()
        if one.class_name in _GIVES_ONE_STEP
        and (one.name in layer.fed_by if told else one.index < layer.index)
        and isinstance(one.output_shapes, tuple)
        and one.output_shapes
        and one.output_shapes[0] == value
    ]
    return given[0] if len(given) == 1 else None


def _gives_last(layer: LayerFacts | None) -> list[Evidence]:
    if layer is None:
        return []
    claim = f"without `return_sequences=True`, `{recurrent_name(layer)}` outputs only its last time step"
    return [Evidence(claim=claim, location=place(layer.code))]


def _repair(what: str, last: LayerFacts | None, project: Project | Unknown) -> Fix:
    if last is not None:
        return sequences_fix(last, project, "True")
    if what == "value":
        return fix("pass every time step as the value: set `return_sequences=True` on the previous layer")
    return fix("give the query a time axis of size 1 with `Reshape((1, features))`, and `Flatten` the output")

"""Softmax over a single unit.

## What happens

Softmax divides by the sum over the units. With one unit, that sum is the unit itself: the output is 1 for every
sample, whatever the weights are, and the accuracy never changes. Nothing raises. With `binary_crossentropy` the loss
may even fall, because Keras finds the logits before the activation and trains on them; the predictions stay at 1.

## Why

A network for several classes was reduced to two classes with a single unit, or an attention score was normalized
over its only unit instead of over the time steps.

## Fix

For two classes with one unit, use sigmoid with `binary_crossentropy`. Normalize attention weights over the steps:
`layers.Softmax(axis=1)`.

## Known limits

Of softmax that code applies to a tensor, only the one over the unit of a literal `Dense(1)` is reported.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fitdoctor.catalogue import Cause, mentions
from fitdoctor.catalogue.knowledge.labels.targets import (
    BINARY,
    CATEGORICAL,
    REGRESSION,
    SPARSE,
    Target,
    targets,
)
from fitdoctor.catalogue.labels.label_edits import respell, with_activation
from fitdoctor.catalogue.words import place
from fitdoctor.diagnosis import Edit, Evidence, Finding, Fix, Location, Severity
from fitdoctor.edits import set_argument, unsafe
from fitdoctor.facts import DataFacts, LayerFacts, ModelFacts
from fitdoctor.source.definitions import argument_of
from fitdoctor.source.module import CallSite, Module
from fitdoctor.source.origins import Origin

CAUSE = Cause(
    id="FIT209",
    slug="softmax-over-one-unit",
    severity=Severity.WARNING,
    explains=("FIT205", "FIT210", "FIT211", "FIT218"),
)

_SUBJECT = "softmax over one unit"
_MESSAGE = "softmax over one unit always outputs 1"


@CAUSE.in_source
@CAUSE.before_fit
@mentions("softmax", "Softmax")
def from_output(model: ModelFacts, data: DataFacts) -> Iterator[Finding]:
    """Report an output with softmax over a last axis of length 1."""
    for target in targets(model, data) if data.role == "training" else ():
        if target.activation != "softmax" or target.units != 1 or target.last is None:
            continue
        layer = target.last.layer
        code = layer.code if layer is not None else model.code
        yield _finding(place(code, model.code), "output of the softmax", _fixes(target))


@CAUSE.before_fit
def from_layers(model: ModelFacts, data: DataFacts) -> Iterator[Finding]:
    """Report a hidden layer with softmax over its only unit."""
    if data.role != "training":
        return
    outputs = {target.last.layer for target in targets(model, data) if target.last is not None}
    for layer in model.every_layer():
        if layer not in outputs and _is_softmax_of_one(layer):
            fixes = [
                unsafe(
                    "use sigmoid for a gate, or a `Softmax(axis=1)` layer for attention weights over the steps"
                )
            ]
            yield _finding(place(layer.code), f"layer `{layer.name}` has one unit", fixes)


def _is_softmax_of_one(layer: LayerFacts) -> bool:
    if not layer.builtin or layer.setting("data_format") == "channels_first":
        return False
    # The activation of a recurrent layer is not its output activation.
    if layer.class_name not in ("Dense", "Conv1D", "Conv2D", "Conv3D", "EinsumDense"):
        return False
    activation = layer.setting("activation") or ""
    return activation in ("softmax", "softmax_v2") and "1" in (
        layer.setting("units"),
        layer.setting("filters"),
    )


def _finding(location: Location | None, seen: str, fixes: list[Fix]) -> Finding:
    return CAUSE.certain(
        _MESSAGE,
        location,
        Evidence(seen, "1 for every sample", "a value between 0 and 1", fact="model.outputs"),
        *fixes,
        subject=_SUBJECT,
    )


def _fixes(target: Target) -> list[Fix]:
    assert target.last is not None
    layer = target.last.layer
    if target.loss_name in REGRESSION:
        return [unsafe("remove the activation for a regression", with_activation(layer, "linear"))]
    edits = with_activation(layer, "sigmoid")
    loss: tuple[Edit, ...] = ()
    if target.loss_name in (CATEGORICAL, SPARSE) and target.loss is not None:
        loss = respell(target.loss.code, BINARY)
        edits = edits if loss else ()
    return [unsafe(f"use sigmoid with `{BINARY}`", edits, loss)]


@CAUSE.in_source
@mentions("softmax", "Softmax")
def from_calls(module: Module) -> Iterator[Finding]:
    """Report a literal `Dense(1, activation="softmax")` in any model, and softmax over the output of a `Dense(1)`."""
    for call in module.calls_to("keras.layers.Dense"):
        units = call.argument("units", 0)
        activation = call.argument("activation", 1)
        if isinstance(units, ast.Constant) and units.value == 1 and _names_softmax(module, activation):
            yield _finding(module.location(call.node), "output of the softmax", _source_fixes(module, call))
    for applied, scores, axis in _applied(module):
        made = module.origin(scores)
        layer = made.module.origin(made.node.func) if isinstance(made.node, ast.Call) else None
        if axis in (None, "-1") and layer is not None and made.certain and _is_dense_of_one(layer):
            edits = set_argument(
                module.code(applied), "axis", "1", position=_AXIS.get(module.called(applied))
            )
            steps = [unsafe("normalize over the steps: `axis=1`", edits)]
            yield _finding(module.location(applied), f"`{module.segment(scores)}` has one unit", steps)


_AXIS = {"keras.layers.Softmax": 0} | dict.fromkeys(
    ("tensorflow.nn.softmax", "keras.activations.softmax", "keras.ops.softmax", "keras.ops.nn.softmax"), 1
)
"""Functions and layers that apply softmax, with the positions of their `axis`."""


def _applied(module: Module) -> Iterator[tuple[ast.Call, ast.expr, str | None]]:
    """Yield the calls with an axis that apply softmax, what they apply it to, and the axis."""
    for call in module.calls_to(*_AXIS):
        of_layer = call.name == "keras.layers.Softmax"
        around = module.parent(call.node)
        applied = (
            around if of_layer and isinstance(around, ast.Call) and around.func is call.node else call.node
        )
        axis = call.argument("axis", _AXIS[call.name])
        if (applied is not call.node) is of_layer and len(applied.args) >= 1:
            yield call.node, applied.args[0], ast.unparse(axis) if axis is not None else None


def _is_dense_of_one(layer: Origin) -> bool:
    call = layer.node
    if not isinstance(call, ast.Call) or layer.path or layer.module.called(call) != "keras.layers.Dense":
        return False
    units = argument_of(call, "units", 0)
    return isinstance(units, ast.Constant) and units.value == 1


def _names_softmax(module: Module, activation: ast.expr | None) -> bool:
    if isinstance(activation, ast.Constant):
        return activation.value == "softmax"
    name = module.resolve(activation)
    return name in ("tensorflow.nn.softmax", "keras.activations.softmax", "keras.ops.softmax")


def _source_fixes(module: Module, call: CallSite) -> list[Fix]:
    edits = set_argument(module.code(call.node), "activation", '"sigmoid"', position=1)
    others = {name for site in module.method_calls("compile") for name in _loss_words(site)}
    # With a categorical loss, the loss must change too, and the matching compile is unknown here.
    return [unsafe(f"use sigmoid with `{BINARY}`", edits if BINARY in others and len(others) == 1 else ())]


def _loss_words(site: CallSite) -> Iterator[str]:
    loss = site.argument("loss", 1)
    yield loss.value if isinstance(loss, ast.Constant) and isinstance(loss.value, str) else ""

"""Custom layers that block the gradient, and the layers that can learn only through them."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fitdoctor.catalogue.knowledge.tracing.gradient_ways import input_cut
from fitdoctor.diagnosis import Location
from fitdoctor.facts import LayerFacts, ModelFacts, Unknown
from fitdoctor.records import dataclass
from fitdoctor.source.module import ClassInfo, FunctionInfo, Module
from fitdoctor.source.project import Project
from fitdoctor.source.traced.gradients import Cut

_OTHER_WAYS = ("train_step", "compute_loss")


@dataclass(frozen=True)
class CuttingLayer:
    """A layer that blocks the gradient."""

    layer: LayerFacts
    function: FunctionInfo
    """The function that the layer computes."""
    cut: Cut
    before: tuple[LayerFacts, ...]
    """The layers with weights whose every path to the outputs goes through it."""
    is_everything: bool
    """Whether these are all trainable layers of the model."""


def cutting_layers(model: ModelFacts, project: Project) -> Iterator[CuttingLayer]:
    """Return the layers that block the gradient of others that have no other path to the loss."""
    if model.kind == "subclassed" or model.added_losses or set(_OTHER_WAYS) & set(model.overrides):
        return
    trained = [layer for layer in model.layers if layer.trainable and layer.trainable_parameters > 0]
    for layer in model.layers:
        found = _cut_in(layer, project) if not layer.builtin or layer.class_name == "Lambda" else None
        before = _only_through(model, layer) if found is not None else []
        if found is not None and before:
            yield CuttingLayer(layer, *found, tuple(before), len(before) == len(trained))


def _cut_in(layer: LayerFacts, project: Project) -> tuple[FunctionInfo, Cut] | None:
    for module in project.modules:
        for function in module.functions:
            if not _computes(function, layer, module) or _adds_loss(function):
                continue
            cut = input_cut(module, function)
            if cut is not None:
                return function, cut
    return None


def _computes(function: FunctionInfo, layer: LayerFacts, module: Module) -> bool:
    """Return whether the function is what the layer computes: its `call`, or the function of a Lambda layer."""
    if function.owner is not None:
        return function.name == "call" and function.owner.name == layer.class_name
    if layer.class_name != "Lambda" or isinstance(layer.code, Unknown):
        return False
    if isinstance(function.node, ast.Lambda):
        return _within(module.location(function.node), layer.code.location)
    given = layer.code.argument("function", 0)
    return given is not None and given.text == function.name and module.path == layer.code.location.path


def _within(inner: Location, outer: Location) -> bool:
    return (
        inner.path == outer.path
        and inner.cell == outer.cell
        and (outer.line, outer.column) <= (inner.line, inner.column)
        and (inner.end_line, inner.end_column) <= (outer.end_line, outer.end_column)
    )


def _adds_loss(function: FunctionInfo) -> bool:
    return any(
        isinstance(node, ast.Attribute) and node.attr == "add_loss" for node in ast.walk(function.node)
    )


def _only_through(model: ModelFacts, layer: LayerFacts) -> list[LayerFacts]:
    """Return the trainable layers whose every path to the outputs goes through the given one."""
    layers = {one.name: one for one in model.layers}
    if model.kind == "sequential":
        before = model.layers[: model.layers.index(layer)]
    elif not any(one.fed_by for one in model.layers):
        # From source alone, follow the inputs back from an output while there is only one.
        way = model.output_paths[0] if len(model.output_paths) == 1 else ()
        behind_it = way[way.index(layer.name) + 1 :] if layer.name in way else ()
        before = tuple(layers[name] for name in behind_it if name in layers)
    else:
        outputs = [_outermost(model, path[0]) for path in model.output_paths if path]
        if not outputs or len(outputs) != len(model.output_paths):
            return []
        behind = _reached(outputs, layers, stop=layer.name)
        feeding = _reached(list(layer.fed_by), layers, stop="")
        before = tuple(one for name, one in layers.items() if name in feeding and name not in behind)
    return [one for one in before if one.trainable and one.trainable_parameters > 0]


def _outermost(model: ModelFacts, name: str) -> str:
    """Return the layer of the model itself that contains the named one."""
    for layer in model.layers:
        pending = [layer]
        while pending:
            inner = pending.pop()
            if inner.name == name:
                return layer.name
            pending.extend(inner.sublayers)
    return name


def _reached(start: list[str], layers: dict[str, LayerFacts], stop: str) -> set[str]:
    """Return the layers that lead to the given ones without passing through `stop`."""
    found: set[str] = set()
    waiting = list(start)
    while waiting:
        name = waiting.pop()
        if name in found or name == stop:
            continue
        found.add(name)
        waiting.extend(layers[name].fed_by if name in layers else ())
    return found


# --- classes -------------------------------------------------------------------------------------------------------


def has_other_ways(owner: ClassInfo) -> bool:
    """Return whether the class has a custom step, loss or added losses that may provide a gradient."""
    module = owner.module
    if any(module.method(owner, name) is not None for name in _OTHER_WAYS):
        return True
    return any("add_loss" in one.module.segment(one.node) for one in module.ancestry(owner))

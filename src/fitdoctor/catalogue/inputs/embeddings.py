"""Find which component of x goes unchanged into which Embedding."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fitdoctor.catalogue.knowledge.data.shapes import input_names, paired
from fitdoctor.facts import ArrayFacts, Code, DataFacts, LayerFacts, ModelFacts, Statistics, Unknown
from fitdoctor.records import dataclass
from fitdoctor.source.assignments import last_assignment
from fitdoctor.source.callees import is_self
from fitdoctor.source.module import FunctionInfo
from fitdoctor.source.project import Project

_KEEPS_VALUES = frozenset({"InputLayer", "Reshape", "Flatten", "Identity", "Permute", "RepeatVector"})


@dataclass(frozen=True)
class Lookup:
    """An array of ids and the Embedding that looks it up."""

    array: ArrayFacts
    layer: LayerFacts

    @property
    def rows(self) -> int | None:
        """Return the number of rows of the Embedding."""
        text = self.layer.setting("input_dim")
        return int(text) if text is not None and text.isdigit() else None

    @property
    def statistics(self) -> Statistics | None:
        """Return the statistics of the ids."""
        found = self.array.statistics
        return found if isinstance(found, Statistics) else None


def lookups(model: ModelFacts, data: DataFacts, project: Project) -> Iterator[Lookup]:
    """Yield the components of x that are certainly ids of an Embedding."""
    if "train_step" in model.overrides:
        return  # it may pass something else than the data to the model
    if model.kind == "sequential":
        yield from _in_chain(model, data)
    elif model.kind == "functional":
        yield from _in_graph(model, data)
    elif project:
        yield from _in_call(model, data, project)


def embeddings(model: ModelFacts) -> list[LayerFacts]:
    """Return every built-in Embedding of a model."""
    return [layer for layer in model.every_layer() if layer.class_name == "Embedding" and layer.builtin]


def _in_chain(model: ModelFacts, data: DataFacts) -> Iterator[Lookup]:
    for layer in model.layers:
        if layer.class_name in _KEEPS_VALUES:
            continue
        if layer.class_name == "Embedding" and layer.builtin and len(data.x) == 1:
            yield Lookup(data.x[0], layer)
        return


def _in_graph(model: ModelFacts, data: DataFacts) -> Iterator[Lookup]:
    if isinstance(model.inputs, Unknown):
        return
    if not any(layer.fed_by for layer in model.layers):
        yield from _in_chain(model, data) if len(model.inputs) == 1 else ()
        return
    for array, spec in paired(data.x, model):
        waiting = input_names(model, spec)
        seen: set[str] = set()
        while waiting:
            name = waiting.pop()
            seen.add(name)
            for layer in model.layers:
                if name not in layer.fed_by or layer.name in seen:
                    continue
                if layer.class_name == "Embedding" and layer.builtin:
                    yield Lookup(array, layer)
                elif layer.class_name in _KEEPS_VALUES:
                    waiting.add(layer.name)


def _in_call(model: ModelFacts, data: DataFacts, project: Project) -> Iterator[Lookup]:
    """Yield the inputs that a custom `call` passes unchanged to its Embeddings."""
    owner = project.class_named(model.class_name)
    function = owner.module.method(owner, "call") if owner is not None else None
    if function is None or len(function.parameters) < 2:
        return
    by_attribute = {
        layer.code.target: layer
        for layer in embeddings(model)
        if isinstance(layer.code, Code) and layer.code.target
    }
    for node in ast.walk(function.node):
        if not isinstance(node, ast.Call) or not node.args or not isinstance(node.func, ast.Attribute):
            continue
        layer = by_attribute.get(f"self.{node.func.attr}")
        if layer is None or not is_self(function.module, node.func.value):
            continue
        array = _given(function, node.args[0], data)
        if array is not None:
            yield Lookup(array, layer)


def _given(function: FunctionInfo, argument: ast.expr, data: DataFacts) -> ArrayFacts | None:
    """Return the component of x an argument is: the parameter itself, or one of its keys."""
    key = None
    if isinstance(argument, ast.Subscript) and isinstance(argument.slice, ast.Constant):
        key, argument = str(argument.slice.value), argument.value
    if not isinstance(argument, ast.Name) or argument.id != function.parameters[1]:
        return None
    found = last_assignment(function.module, argument)
    if found is None or found[0].how != "parameter" or not found[1]:
        return None
    if key is None:
        return data.x[0] if len(data.x) == 1 and data.x_structure == "single" else None
    if data.x_structure == "single":
        return None
    return next((array for array in data.x if array.key == key), None)

"""Match live layers with constructor calls in the source, only if the match is unambiguous."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from typing import Any

from fitdoctor.collect.layers import every_layer, is_library_class, sublayers
from fitdoctor.source.index import FUNCTIONS
from fitdoctor.source.module import ClassInfo, Module
from fitdoctor.source.origins import origin

Made = tuple[Module, ast.expr] | None
Place = tuple[Module, ast.Call]
Match = tuple[Any, Module, ast.Call]
MOST_NODES = 3000
OLD_NAMES = {
    "Convolution1D": "Conv1D", "Convolution2D": "Conv2D", "Convolution3D": "Conv3D", "MaxPool1D": "MaxPooling1D",
    "MaxPool2D": "MaxPooling2D", "MaxPool3D": "MaxPooling3D", "AvgPool1D": "AveragePooling1D",
    "AvgPool2D": "AveragePooling2D", "GlobalAvgPool1D": "GlobalAveragePooling1D",
    "GlobalAvgPool2D": "GlobalAveragePooling2D", "GlobalMaxPool1D": "GlobalMaxPooling1D",
    "GlobalMaxPool2D": "GlobalMaxPooling2D", "Input": "InputLayer",
}  # fmt: skip


def input_layers(model: Any) -> list[Any]:
    """Return the live InputLayers of a model."""
    layers = vars(model).get("_operations") or vars(model).get("_layers") or _tracked(model)
    return [layer for layer in layers if type(layer).__name__ == "InputLayer"]


def _tracked(model: Any) -> list[Any]:
    """Return the layers of a Keras 2 model, including inputs."""
    return list(vars(model).get("_self_tracked_trackables") or ())


def layer_with_input_shape(model: Any) -> Any:
    """Return the first layer of a sequential model if it has `input_shape=`, else None."""
    for layer in vars(model).get("_layers") or _tracked(model):
        if type(layer).__name__ != "InputLayer":
            given = ("_input_shape_arg", "_batch_input_shape")
            return layer if any(vars(layer).get(name) is not None for name in given) else None
    return None


# --- compile ------------------------------------------------------------------------------------------------------


def compile_call(module: Module, fit_call: ast.Call, model: ast.expr | None, made: Made) -> Place | None:
    """Return the compile call of the model that `fit_call` is called on."""
    modules = [module] if made is None or made[0] is module else [module, made[0]]
    candidates = [(where, site.node) for where in modules for site in where.method_calls("compile")]
    if made is not None:
        same = [
            (where, call)
            for where, call in candidates
            if isinstance(call.func, ast.Attribute) and _leads_to(where, call.func.value, made)
        ]
        if same:
            return _last_before(module, fit_call, same)
    if model is not None:
        same = [
            (where, call)
            for where, call in candidates
            if where is module
            and module.function_of(call) is module.function_of(fit_call)
            and isinstance(call.func, ast.Attribute)
            and ast.dump(call.func.value) == ast.dump(model)
        ]
        if same:
            return _last_before(module, fit_call, same)
    return candidates[0] if len(candidates) == 1 else None


def _leads_to(module: Module, expr: ast.expr, made: tuple[Module, ast.expr]) -> bool:
    end = origin(module, expr)
    return end.module is made[0] and end.node is made[1]


def _last_before(module: Module, fit_call: ast.Call, found: list[Place]) -> Place:
    before = [(where, call) for where, call in found if where is module and call.lineno <= fit_call.lineno]
    return before[-1] if before else found[-1]


# --- layers -------------------------------------------------------------------------------------------------------


def match_layers(model: Any, layers: list[Any], module: Module, made: Made) -> Iterator[Match]:
    """Return constructor calls for layers that were not recorded.

    A layer is matched by its literal `name=`, or if the code that builds its owner has as many calls of its class as
    the owner has live layers of that class. Anything else stays unmatched: a wrong line is worse than none.
    """
    missing = {id(layer) for layer in layers}
    owners = [model, *(layer for layer in every_layer(*sublayers(model)) if sublayers(layer))]
    for owner in owners:
        group = [layer for layer in _own_layers(owner) if id(layer) in missing]
        if group:
            yield from _match(group, _calls_of(owner, module, made if owner is model else None))


def _own_layers(owner: Any) -> list[Any]:
    operations = vars(owner).get("_operations")
    if operations and is_library_class(type(owner)):
        return [item for item in operations if hasattr(item, "call")]
    return sublayers(owner)


def _match(group: list[Any], calls: list[Place]) -> Iterator[Match]:
    named: dict[str, list[Place]] = {}
    for where, call in calls:
        name = _literal_name(call)
        if name is not None:
            named.setdefault(name, []).append((where, call))
    rest: dict[str, list[Any]] = {}
    for layer in group:
        sites = named.get(str(getattr(layer, "name", "")), [])
        if len(sites) == 1 and _class_of(*sites[0]) == type(layer).__name__:
            yield layer, *sites[0]
        else:
            rest.setdefault(type(layer).__name__, []).append(layer)
    for kind, members in rest.items():
        sites = [
            (where, call)
            for where, call in calls
            if _class_of(where, call) == kind and _literal_name(call) is None and not _repeats(where, call)
        ]
        if len(sites) == len(members):
            for layer, site in zip(sorted(members, key=_made_order), sites, strict=True):
                yield layer, *site


def _made_order(layer: Any) -> int:
    """Sort by automatic name, which follows the order of creation."""
    match = re.search(r"_(\d+)$", str(getattr(layer, "name", "")))
    return int(match.group(1)) if match else 0


def _class_of(module: Module, call: ast.Call) -> str:
    name = module.resolve(call.func)
    if not name and isinstance(call.func, ast.Name):
        name = call.func.id
    if not name and isinstance(call.func, ast.Attribute):
        name = call.func.attr
    short = name.rpartition(".")[2]
    return OLD_NAMES.get(short, short)


def _literal_name(call: ast.Call) -> str | None:
    for keyword in call.keywords:
        if keyword.arg == "name" and isinstance(keyword.value, ast.Constant):
            return str(keyword.value.value)
    return None


def _repeats(module: Module, call: ast.Call) -> bool:
    """Whether the call is in a loop or comprehension and may create any number of layers."""
    node: ast.AST | None = call
    while node is not None and not isinstance(node, (*FUNCTIONS, ast.Module)):
        node = module.parent(node)
        if isinstance(node, (ast.For, ast.While, ast.ListComp, ast.GeneratorExp, ast.DictComp, ast.SetComp)):
            return True
    return False


# --- which calls make a model -------------------------------------------------------------------------------------


def _calls_of(owner: Any, module: Module, made: Made) -> list[Place]:
    """Return the calls that may create the layers of an owner, in source order."""
    classes = [info for kind in type(owner).__mro__ for info in _class_infos(module, kind)]
    if classes:
        return [
            place
            for info in classes
            for method in info.methods.values()
            for place in _calls_in(info.module, [method.node])
        ]
    if made is None:
        return []
    where, node = made
    nodes: list[ast.AST] = [node]
    nodes.extend(
        argument
        for site in where.method_calls("add")
        if isinstance(site.node.func, ast.Attribute) and _leads_to(where, site.node.func.value, made)
        for argument in site.node.args
    )
    return _calls_in(where, _flowing_into(where, nodes))


def _class_infos(module: Module, kind: type) -> list[ClassInfo]:
    if is_library_class(kind) or kind is object:
        return []
    classes = module.classes if module.project is None else module.project.classes
    found = [info for info in classes if info.name == kind.__name__]
    return found if len(found) == 1 else []


def _flowing_into(module: Module, nodes: list[ast.AST]) -> list[ast.AST]:
    """Yield the expressions that the given ones are computed from, through names of the same file."""
    found: dict[int, ast.AST] = {}
    pending = list(nodes)
    while pending and len(found) < MOST_NODES:
        node = pending.pop()
        if id(node) in found:
            continue
        found[id(node)] = node
        for name in ast.walk(node):
            if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Load):
                value = _assigned(module, name)
                if value is not None:
                    pending.append(value)
    return list(found.values())


def _assigned(module: Module, name: ast.Name) -> ast.expr | None:
    from fitdoctor.source.assignments import last_assignment

    found = last_assignment(module, name)
    if found is None or found[0].how not in ("=", "for", "with"):
        return None
    return found[0].value


def _calls_in(module: Module, nodes: Iterable[ast.AST]) -> list[Place]:
    calls: dict[int, ast.Call] = {}
    for node in nodes:
        for inner in ast.walk(node):
            if isinstance(inner, ast.Call):
                calls[id(inner)] = inner
    ordered = sorted(
        calls.values(), key=lambda call: (call.lineno, call.col_offset, -(call.end_col_offset or 0))
    )
    return [(module, call) for call in ordered]


def input_call(model: Any, module: Module, made: Made) -> Place | None:
    """Return the only `Input(…)` call, or the only call with `input_shape=`, in the code that builds the model."""
    if not input_layers(model):
        return None
    calls = _calls_of(model, module, made)
    inputs = [site for site in calls if _class_of(*site) == "InputLayer"]
    if len(inputs) == 1:
        return inputs[0]
    shaped = [
        (where, call)
        for where, call in calls
        if any(keyword.arg in ("input_shape", "input_dim", "batch_input_shape") for keyword in call.keywords)
    ]
    return shaped[0] if not inputs and len(shaped) == 1 else None

"""Edits that change the number of axes between layers: `return_sequences`, or a layer that is removed."""

from __future__ import annotations

import ast
import re

from fitdoctor.catalogue.knowledge.models.layer_source import (
    found_in,
    insert_layer,
    is_layer_call,
    layer_of,
    nodes_after,
    removed,
    wrapped_in,
)
from fitdoctor.diagnosis import Edit, Fix
from fitdoctor.edits import correction, fix, set_argument, unsafe
from fitdoctor.facts import LayerFacts, Unknown
from fitdoctor.records import replace
from fitdoctor.source.callees import callers_of
from fitdoctor.source.module import FunctionInfo, Module
from fitdoctor.source.project import Project


def recurrent_name(layer: LayerFacts) -> str:
    """Return the class of a recurrent layer, unwrapped from `Bidirectional`."""
    if layer.class_name == "Bidirectional" and layer.sublayers:
        return layer.sublayers[0].class_name
    return layer.class_name


def sequences_in_loop(layer: LayerFacts, after: LayerFacts, project: Project) -> list[Fix]:
    """Set `return_sequences` on all but the last of the layers created in a loop, also through a helper."""
    found = found_in(project, layer.code)
    if found is None or layer.code != after.code:
        return []
    module, call = _recurrent_call(*found)
    title = f"set `return_sequences=True` on every `{recurrent_name(layer)}` except the last"
    function = module.function_of(call)
    callers = callers_of(function) if function is not None else []
    last = _not_last(module, call)
    if last is not None:
        return [correction(title, last[1], set_argument(module.code(call), "return_sequences", last[0]))]
    if function is None or isinstance(function.node, ast.Lambda) or not callers:
        return []
    passed = _passed_through(function, call)
    if len(callers) == 1:
        last = _not_last(*callers[0])
        edits = (*last[1], *_given(callers[0], last[0])) if last is not None else ()
    else:
        edits = tuple(edit for each in callers[:-1] for edit in _given(each, "True"))
    return [correction(title, passed, edits)] if edits else []


def _recurrent_call(module: Module, call: ast.Call) -> tuple[Module, ast.Call]:
    """Return the call that creates the recurrent layer itself: inside `Bidirectional`."""
    inner = call.args[0] if call.args else None
    wraps = module.resolve(call.func).endswith(".Bidirectional")
    return module, inner if wraps and isinstance(inner, ast.Call) else call


def _given(caller: tuple[Module, ast.Call], value: str) -> tuple[Edit, ...]:
    return set_argument(caller[0].code(caller[1]), "return_sequences", value)


def _passed_through(function: FunctionInfo, call: ast.Call) -> tuple[Edit, ...]:
    """Let a helper accept `return_sequences` and pass it to the layer, unless it passes all keywords on."""
    module, arguments = function.module, function.node.args
    forwarded = arguments.kwarg is not None and any(
        keyword.arg is None and module.segment(keyword.value) == arguments.kwarg.arg
        for keyword in call.keywords
    )
    if forwarded:
        return ()
    last = (*arguments.posonlyargs, *arguments.args)[-1:]
    if not last or arguments.vararg is not None or arguments.kwonlyargs:
        return ()
    end = arguments.defaults[-1] if arguments.defaults else last[0]
    place = module.location(end)
    behind = replace(place, line=place.end_line, column=place.end_column)
    return (
        Edit(behind, ", return_sequences=False"),
        *set_argument(module.code(call), "return_sequences", "return_sequences"),
    )


def _not_last(module: Module, call: ast.Call) -> tuple[str, tuple[Edit, ...]] | None:
    """Return the condition that is false in the last round of the loop around a call, and the edits that it needs."""
    loop = module.parent(module.statement(call))
    if not isinstance(loop, ast.For):
        return None
    target, over = loop.target, loop.iter
    builtin = module.resolve(over.func) if isinstance(over, ast.Call) else ""
    counted = over.args if isinstance(over, ast.Call) and len(over.args) == 1 and not over.keywords else []
    if builtin == "range" and counted and isinstance(target, ast.Name):
        ignored = target.id == "_" and "i" not in module.scope(loop).bindings
        renamed = (Edit(module.location(target), "i"),) if ignored else ()
        return f"{'i' if ignored else target.id} < {module.segment(counted[0])} - 1", renamed
    if builtin == "enumerate" and counted and isinstance(target, ast.Tuple) and _is_pure(counted[0]):
        return f"{module.segment(target.elts[0])} < len({module.segment(counted[0])}) - 1", ()
    sized = over.args[0] if isinstance(over, ast.Call) and builtin == "zip" and over.args else over
    if not _is_pure(sized):
        return None
    name = target.id if isinstance(target, ast.Name) else ""
    number = "i" if name != "i" and "i" not in module.scope(loop).bindings else f"{name or 'layer'}_number"
    item = f"({', '.join(map(module.segment, target.elts))})" if isinstance(target, ast.Tuple) else name
    edits = (
        Edit(module.location(target), f"{number}, {item}"),
        Edit(module.location(over), f"enumerate({module.segment(over)})"),
    )
    return (f"{number} < len({module.segment(sized)}) - 1", edits) if item else None


def _is_pure(node: ast.expr) -> bool:
    """Whether an expression can be written a second time: it is a sequence that no call creates."""
    kinds = (ast.Name, ast.Attribute, ast.Subscript, ast.List, ast.Tuple)
    return isinstance(node, kinds) and not any(isinstance(each, ast.Call) for each in ast.walk(node))


def sequences_fix(layer: LayerFacts, project: Project, value: str) -> Fix:
    """Set `return_sequences` on a recurrent layer."""
    code = layer.code
    if layer.class_name == "Bidirectional":
        found = found_in(project, code)
        inner = found[1].args[0] if found is not None and found[1].args else None
        code = (
            found[0].code(inner)
            if found is not None and isinstance(inner, ast.Call)
            else Unknown("the layer was not found")
        )
    # Without it the next layer refuses its input: `True` is what was meant.
    make = correction if value == "True" else fix
    return make(
        f"set `return_sequences={value}` on `{recurrent_name(layer)}`",
        set_argument(code, "return_sequences", value),
    )


def left_out_fix(layer: LayerFacts, project: Project, wanted: int) -> Fix:
    """Remove the layer, or apply it per time step if there would still be more axes than `wanted`."""
    found = found_in(project, layer.code)
    given = layer.input_shapes
    if layer.class_name == "Flatten" and not isinstance(given, Unknown) and given and len(given[0]) > wanted:
        title = "flatten each time step separately: `TimeDistributed(Flatten())`"
        return fix(title, wrapped_in(*found, "TimeDistributed") if found is not None else ())
    edits = removed(*found) if found is not None else ()
    later = _flattened_later(*found) if found is not None and layer.class_name == "Flatten" and edits else ()
    if later:
        return unsafe("flatten after the convolutions, not before them", (*edits, *later))
    return unsafe(f"remove this `{layer.class_name}`", edits)


def _flattened_later(module: Module, node: ast.Call) -> tuple[Edit, ...]:
    """Insert `Flatten` before the first `Dense` that follows only convolutions."""
    for each in nodes_after(module, node):
        if not isinstance(each, ast.Call) or not is_layer_call(module, each):
            return ()
        name = layer_of(module, each).class_name
        if name == "Dense":
            return insert_layer(module, each, "Flatten")
        if not _KEEPS_PLACES.fullmatch(name):
            return ()
    return ()


_KEEPS_PLACES = re.compile(
    r"(Separable|Depthwise)?Conv\dD(Transpose)?|(Max|Average)Pooling\dD|ZeroPadding\dD|(Spatial)?Dropout(\dD)?"
    r"|BatchNormalization|Activation|ReLU|LeakyReLU"
)

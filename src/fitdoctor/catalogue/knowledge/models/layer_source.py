"""Layers in the source: the previous layer, and edits that insert or wrap one."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fitdoctor.diagnosis import Edit, Location
from fitdoctor.edits import LearningEdit, insert_before
from fitdoctor.facts import Code, Frame, LayerFacts, Unknown
from fitdoctor.source.keras_names import snake_case
from fitdoctor.source.keras_objects import kind_of_call
from fitdoctor.source.line_edits import delete_lines, put_instead
from fitdoctor.source.models.layer_settings import POSITIONAL, class_of_layer
from fitdoctor.source.module import ClassInfo, Module
from fitdoctor.source.project import Project

_MOST_STEPS = 60


def node_at(module: Module, location: Location) -> ast.Call | None:
    """Return the call exactly at a location."""
    for call in module.calls:
        if module.location(call.node) == location:
            return call.node
    return None


def found_in(project: Project, code: Code | Unknown) -> tuple[Module, ast.Call] | None:
    """Return the file and the node of a call."""
    if not project or isinstance(code, Unknown):
        return None
    module = project.module_at(code.location.path)
    node = node_at(module, code.location) if module is not None else None
    return (module, node) if module is not None and node is not None else None


def is_layer_call(module: Module, node: ast.AST | None) -> bool:
    """Whether a node creates a layer: `Dense(8)`, or a custom one."""
    return isinstance(node, ast.Call) and kind_of_call(module, node) == "Layer"


def layer_of(module: Module, node: ast.Call, index: int = 0) -> LayerFacts:
    """Return what the source tells about the layer that a call creates."""
    made = module.definition(node.func)
    own = isinstance(made, ClassInfo)
    name = (
        made.name
        if isinstance(made, ClassInfo)
        else class_of_layer(module.resolve(node.func).rpartition(".")[2])
    )
    code = module.code(node)
    positional = iter(POSITIONAL.get(name, ()))
    config: list[tuple[str, str]] = []
    for argument in code.arguments:
        key = argument.name or next(positional, "")
        if key.isidentifier():
            config.append((key, argument.text.strip("\"'")))
    given = dict(config).get("name", "")
    return LayerFacts(given, name, index, config=tuple(config), builtin=not own, code=code)


# --- which layer comes before -------------------------------------------------------------------------------------


def layers_before(module: Module, node: ast.Call) -> tuple[LayerFacts, ...]:
    """Return the layers before the one created at `node`, nearest first, as far as the source shows a chain."""
    return tuple(layer_of(module, before) for before in _nodes_before(module, node))


def _nodes_before(module: Module, node: ast.Call) -> Iterator[ast.Call]:
    parent = module.parent(node)
    if isinstance(parent, (ast.List, ast.Tuple)):
        position = parent.elts.index(node)
        yield from (each for each in reversed(parent.elts[:position]) if is_layer_call(module, each))  # type: ignore[misc]
    elif isinstance(parent, ast.Call) and parent.func is node:
        yield from _through_calls(module, parent)
    elif isinstance(parent, ast.Call) and _is_add(parent):
        yield from _added_before(module, parent)


def nodes_after(module: Module, node: ast.Call) -> list[ast.expr]:
    """Return what a sequential model has after the layer created at `node`, in a list or by `add` in the same scope."""
    parent = module.parent(node)
    if isinstance(parent, (ast.List, ast.Tuple)):
        return parent.elts[parent.elts.index(node) + 1 :]
    if not isinstance(parent, ast.Call) or not _is_add(parent):
        return []
    return [call.args[0] for call in _added(module, parent) if call.lineno > parent.lineno]


def _added(module: Module, add: ast.Call) -> list[ast.Call]:
    """Return the `add` (or `append`) calls on the same object in the same scope, in order."""
    assert isinstance(add.func, ast.Attribute)
    receiver, scope = module.segment(add.func.value), module.scope(add)
    return [
        site.node
        for site in module.method_calls(add.func.attr)
        if _is_add(site.node)
        and module.scope(site.node) is scope
        and module.segment(site.node.func.value) == receiver  # type: ignore[attr-defined]
    ]


def _is_add(call: ast.Call) -> bool:
    """Whether a call adds a layer to a model, or to a list of layers."""
    adds = isinstance(call.func, ast.Attribute) and call.func.attr in ("add", "append")
    return adds and len(call.args) == 1


def _added_before(module: Module, add: ast.Call) -> Iterator[ast.Call]:
    earlier = [
        call for call in _added(module, add) if (call.lineno, call.col_offset) < (add.lineno, add.col_offset)
    ]
    for call in reversed(earlier):
        if is_layer_call(module, call.args[0]):
            yield call.args[0]  # type: ignore[misc]


def _through_calls(module: Module, call: ast.Call) -> Iterator[ast.Call]:
    """Yield the constructor in `Dense(8)(x)`, then the one for `x`, and so on."""
    for _ in range(_MOST_STEPS):
        if not call.args:
            return
        source = module.made_by(call.args[0])
        if not isinstance(source, ast.Call) or source is call:
            return
        maker = source.func if is_layer_call(module, source.func) else module.made_by(source.func)
        if not is_layer_call(module, maker):
            return
        assert isinstance(maker, ast.Call)
        yield maker
        call = source


# --- which layer a failure is about -------------------------------------------------------------------------------


def made_at(module: Module, frame: Frame, name: str = "") -> ast.Call | None:
    """Return the layer created or called on the line of a frame; `name` is its Keras name."""
    code = frame.code
    call = node_at(module, code.location) if isinstance(code, Code) else None
    roots: list[ast.AST] = (
        [call]
        if call is not None
        else [
            site.node
            for site in module.calls
            if module.location(site.node).line == frame.line and module.location(site.node).cell == frame.cell
        ]
    )
    makers = [node for root in roots for node in ast.walk(root) if is_layer_call(module, node)]
    if not makers and isinstance(call, ast.Call):
        maker = module.made_by(call.func)
        makers = [maker] if is_layer_call(module, maker) else []
    return _named(module, [node for node in makers if isinstance(node, ast.Call)], name)


def _named(module: Module, makers: list[ast.Call], name: str) -> ast.Call | None:
    if not name:
        return makers[0] if len(makers) == 1 else None
    stem, _, number = name.rpartition("_")
    stem, position = (stem, int(number)) if number.isdigit() and stem else (name, 0)
    alike = [node for node in makers if snake_case(layer_of(module, node).class_name) == stem]
    exact = [node for node in makers if layer_of(module, node).name == name]
    if exact or len(alike) <= 1:
        found = exact or alike
        return found[0] if found else None
    makers_of_kind = [
        site.node
        for site in module.calls
        if is_layer_call(module, site.node) and snake_case(layer_of(module, site.node).class_name) == stem
    ]
    made = makers_of_kind[position] if position < len(makers_of_kind) else None
    return made if made in alike else alike[min(position, len(alike) - 1)]


def layer_named(module: Module, name: str) -> ast.Call | None:
    """Return where a file creates the layer with a Keras name: explicit, or numbered from its class (`lstm_1`)."""
    makers = [site.node for site in module.calls if is_layer_call(module, site.node)]
    exact = [node for node in makers if layer_of(module, node).name == name]
    if exact:
        return exact[0] if len(exact) == 1 else None
    stem, _, number = name.rpartition("_")
    stem, position = (stem, int(number)) if number.isdigit() and stem else (name, 0)
    alike = [node for node in makers if snake_case(layer_of(module, node).class_name) == stem]
    return alike[position] if position < len(alike) else None


# --- edits --------------------------------------------------------------------------------------------------------


def spell_layer(module: Module, beside: ast.Call, name: str) -> tuple[str, tuple[Edit, ...]]:
    """Return how the file would refer to another Keras layer, with an import if one is needed."""
    known = dict(module.spellings)
    local = known.get(f"keras.layers.{name}")
    if local is not None:
        return local, ()
    if isinstance(beside.func, ast.Attribute):
        owner = module.resolve(beside.func.value)
        if owner == "keras.layers":
            return f"{module.segment(beside.func.value)}.{name}", ()
    if "keras.layers" in known:
        return f"{known['keras.layers']}.{name}", ()
    if module.import_at is None:
        return name, ()
    return name, (Edit(module.import_at, f"from {_layers_package(module)} import {name}\n"),)


def _layers_package(module: Module) -> str:
    """Return the package that the file imports its layers from."""
    for statement in module.nodes(ast.ImportFrom):
        if statement.module and statement.module.endswith("keras.layers") and not statement.level:
            return statement.module
    return "keras.layers"


def insert_layer(module: Module, node: ast.Call, name: str, arguments: str = "") -> tuple[Edit, ...]:
    """Insert a layer before the one created at `node`: in a list, before an `add`, or around its input."""
    spelling, imports = spell_layer(module, node, name)
    text = f"{spelling}({arguments})"
    parent = module.parent(node)
    if isinstance(parent, (ast.List, ast.Tuple)):
        return (*_before_element(module, node, text), *imports)
    if isinstance(parent, ast.Call) and parent.func is node and len(parent.args) == 1:
        argument = parent.args[0]
        return (LearningEdit(module.location(argument), f"{text}({module.segment(argument)})"), *imports)
    if isinstance(parent, ast.Call) and _is_add(parent):
        assert isinstance(parent.func, ast.Attribute)
        line = f"{module.segment(parent.func)}({text})"
        edits = insert_before(module.code(parent), line)
        added = [LearningEdit(edit.location, edit.replacement) for edit in edits]
        return (*added, *imports) if edits else ()
    return ()


def wrapped_in(module: Module, node: ast.Call, name: str) -> tuple[Edit, ...]:
    """Wrap the layer created at `node`: `Flatten()` becomes `TimeDistributed(Flatten())`."""
    spelling, imports = spell_layer(module, node, name)
    return (LearningEdit(module.location(node), f"{spelling}({module.segment(node)})"), *imports)


def _before_element(module: Module, node: ast.Call, text: str) -> tuple[Edit, ...]:
    place = module.location(node)
    before = module.line_text(place.line, place.cell)[: place.column - 1]
    return (LearningEdit(place.start, f"{text},\n{before}" if not before.strip() else f"{text}, "),)


def around(
    module: Module, expr: ast.expr, beside: ast.Call, name: str, arguments: str = ""
) -> tuple[Edit, ...]:
    """Apply another layer to a tensor where it is used: `x` becomes `Flatten()(x)`."""
    spelling, imports = spell_layer(module, beside, name)
    return (LearningEdit(module.location(expr), f"{spelling}({arguments})({module.segment(expr)})"), *imports)


def merged_tensors(module: Module, node: ast.Call) -> list[ast.expr]:
    """Return the expressions that the merging layer created at `node` is called on."""
    parent = module.parent(node)
    call = parent if isinstance(parent, ast.Call) and parent.func is node else node
    listed = call.args[0] if call.args else None
    return listed.elts if isinstance(listed, (ast.List, ast.Tuple)) else []


def removed(module: Module, node: ast.Call) -> tuple[Edit, ...]:
    """Remove a layer from a list, remove its `add`, or pass its input through."""
    parent = module.parent(node)
    if isinstance(parent, ast.Call) and parent.func is node and len(parent.args) == 1:
        return (put_instead(module, parent, module.segment(parent.args[0])),)
    if isinstance(parent, ast.Call) and _is_add(parent):
        statement = module.statement(parent)
        if isinstance(statement, ast.Expr) and statement.value is parent:
            return (delete_lines(module, statement),)
    if isinstance(parent, (ast.List, ast.Tuple)):
        position = parent.elts.index(node)
        here = module.location(node)
        if position + 1 < len(parent.elts):
            after = module.location(parent.elts[position + 1])
            return (
                Edit(Location(here.path, here.line, here.column, after.line, after.column, here.cell), ""),
            )
    return ()

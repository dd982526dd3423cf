"""Edits that turn a helper that creates layers on every call into a layer class that creates them once."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fitdoctor.catalogue.variables.made_once import Making, made_in_init, name_for
from fitdoctor.diagnosis import Edit, Location
from fitdoctor.edits import apply_edits, spell
from fitdoctor.records import dataclass, replace
from fitdoctor.source.line_edits import indent_of
from fitdoctor.source.module import FunctionInfo, Module
from fitdoctor.source.traced.symbolic import own_nodes


@dataclass(frozen=True, eq=False)
class _Helper:
    """A function whose parameters either configure its layers or are inputs to them."""

    function: FunctionInfo
    node: ast.FunctionDef
    made: tuple[ast.Call, ...]
    """The calls that create its layers."""
    settings: tuple[str, ...]
    """The parameters that configure them."""


def as_layer_class(function: FunctionInfo) -> tuple[Edit, ...]:
    """Replace the helper with a class, and create one instance per call in `__init__` of the calling class."""
    helper = _read(function)
    module = function.module
    name = "".join(part.capitalize() for part in function.name.split("_"))
    if helper is None or name == function.name or name in {owner.name for owner in module.classes}:
        return ()
    calls = list(_calls(function))
    callers = {id(caller): caller for _call, caller in calls}
    if len(callers) != 1:
        return ()
    makings = [_making(helper, call, name) for call, _caller in calls]
    edits = made_in_init(next(iter(callers.values())), [each for each in makings if each is not None])
    if None in makings or not edits:
        return ()
    return (*edits, *_class_for(helper, name))


def _read(function: FunctionInfo) -> _Helper | None:
    """Return the helper if each parameter has a single role, or None if it does more than call its layers."""
    node, module = function.node, function.module
    if not isinstance(node, ast.FunctionDef) or node.decorator_list or node.args.vararg or node.args.kwarg:
        return None
    if any(isinstance(each, (ast.For, ast.While, ast.If, ast.Try)) for each in own_nodes(function)):
        return None
    made = [
        call
        for call in own_nodes(function)
        if isinstance(call, ast.Call) and module.resolve(call.func).startswith("keras.layers.")
    ]
    # `Concatenate()([x, y])` creates a layer; `concatenate([x, y])` does not.
    made = [call for call in made if module.segment(call.func).rpartition(".")[2][:1].isupper()]
    inside = {id(each) for call in made for each in ast.walk(call)}
    used = {each.id for call in made for each in ast.walk(call) if isinstance(each, ast.Name)}
    settings = tuple(each for each in function.parameters if each in used and each != "self")
    elsewhere = {
        each.id for each in own_nodes(function) if isinstance(each, ast.Name) and id(each) not in inside
    }
    stored = {
        each.id
        for each in own_nodes(function)
        if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)
    }
    if not made or set(settings) & elsewhere or used & stored or "self" in elsewhere | used:
        return None
    several_lines = any(
        isinstance(each, ast.Constant) and isinstance(each.value, str) and each.lineno != each.end_lineno
        for each in ast.walk(node)
    )
    return None if several_lines else _Helper(function, node, tuple(made), settings)


def _calls(function: FunctionInfo) -> Iterator[tuple[ast.Call, FunctionInfo]]:
    """Return every use of the helper, each a call in a method; nothing if a use is anything else."""
    module = function.module
    found = []
    named: list[ast.Name | ast.Attribute] = [*module.nodes(ast.Name), *module.nodes(ast.Attribute)]
    reads = [
        each
        for each in named
        if isinstance(each.ctx, ast.Load) and module.segment(each).removeprefix("self.") == function.name
    ]
    for each in reads:
        call, caller = module.parent(each), module.function_of(each)
        if not isinstance(call, ast.Call) or call.func is not each or caller is None or caller.owner is None:
            return
        found.append((call, caller))
    yield from sorted(
        found, key=lambda pair: (pair[0].lineno, pair[0].col_offset, -(pair[0].end_col_offset or 0))
    )


def _making(helper: _Helper, call: ast.Call, name: str) -> Making | None:
    """Return the expression that creates an instance for a call, with the layer settings."""
    module = helper.function.module
    parameters = [each for each in helper.function.parameters if each != "self"]
    if any(isinstance(each, ast.Starred) for each in call.args) or len(call.args) > len(parameters):
        return None
    given = [(parameters[at], "", value) for at, value in enumerate(call.args)]
    given += [(each.arg or "", f"{each.arg}=", each.value) for each in call.keywords]
    if not all(each[0] in parameters for each in given):
        return None
    made = [(prefix, value) for parameter, prefix, value in given if parameter in helper.settings]
    # Settings after one that keeps its default stay in the same order.
    texts = [f"{prefix}{module.segment(value)}" for prefix, value in made]
    used = [
        f"{prefix}{module.segment(value)}"
        for parameter, prefix, value in given
        if parameter not in helper.settings
    ]
    return Making(
        call,
        f"{name}({', '.join(texts)})",
        depends_on=tuple(value for _prefix, value in made),
        used=f"{{}}({', '.join(used)})",
    )


def _class_for(helper: _Helper, name: str) -> tuple[Edit, ...]:
    function, node = helper.function, helper.node
    module = function.module
    keras, imports = spell(module.code(node), "keras", "keras")
    owner = function.owner
    indent = indent_of(module, owner.node if owner is not None else node)
    taken: set[str] = set()
    lines, inner = [], []
    for call in sorted(helper.made, key=lambda each: (each.lineno, each.col_offset)):
        attribute = name_for(module, call, taken)
        taken.add(attribute)
        lines.append(f"self.{attribute} = {module.segment(call)}")
        inner.append(Edit(module.location(call), f"self.{attribute}"))
    parameters = {each: _parameter(module, node, each) for each in function.parameters if each != "self"}
    made_with = [text for each, text in parameters.items() if each in helper.settings]
    called_on = [text for each, text in parameters.items() if each not in helper.settings]
    text = [
        f"class {name}({keras}.layers.Layer):",
        f"    def __init__({', '.join(('self', *made_with))}):",
        "        super().__init__()",
        *(f"        {line}" for line in lines),
        "",
        f"    def call({', '.join(('self', *called_on))}):",
        *_body(module, node, inner),
    ]
    whole = "\n".join(f"{indent}{line}".rstrip() for line in text) + "\n"
    place = module.location(node).lines
    if owner is None:
        return (Edit(place, whole), *imports)
    start = module.location(owner.node).lines.start
    if not module.line_text(place.end_line, place.cell).strip():
        place = replace(place, end_line=place.end_line + 1)
    return (Edit(start, f"{whole}\n\n"), Edit(place, ""), *imports)


def _body(module: Module, node: ast.FunctionDef, inner: list[Edit]) -> list[str]:
    """Return the statements with the layers as attributes, indented as a method body."""
    first, last = module.location(node.body[0]), module.location(node.body[-1])
    span = Location(first.path, first.line, 1, last.end_line, last.end_column, first.cell)
    lines = module.text.split("\n")[node.body[0].lineno - 1 : node.body[-1].end_lineno]
    moved = [replace(edit, location=_up(edit.location, span.line - 1)) for edit in inner]
    text = apply_edits("\n".join(lines), moved)
    shift = node.body[0].col_offset
    return [f"        {line[shift:]}" if line.strip() else "" for line in text.split("\n")]


def _up(location: Location, lines: int) -> Location:
    return replace(location, line=location.line - lines, end_line=location.end_line - lines)


def _parameter(module: Module, node: ast.FunctionDef, name: str) -> str:
    """Return a parameter with its default, as written."""
    arguments = [*node.args.posonlyargs, *node.args.args]
    defaults = dict(zip(reversed(arguments), reversed(node.args.defaults), strict=False))
    for each in arguments:
        if each.arg == name:
            default = defaults.get(each)
            return f"{name}={module.segment(default)}" if default is not None else name
    for each, default in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True):
        if each.arg == name:
            return f"{name}={module.segment(default)}" if default is not None else name
    return name

"""Edits that move weights from `call` into `build`, which Keras calls once with the input shape."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from fitdoctor.catalogue.variables.made_once import name_for
from fitdoctor.diagnosis import Edit
from fitdoctor.edits import insert_after
from fitdoctor.source.line_edits import indent_of
from fitdoctor.source.module import ClassInfo, FunctionInfo, Module

_OF_KERAS = frozenset("weights variables losses metrics name dtype input output trainable path state".split())
"""Layer attributes whose names a weight cannot use."""


def made_in_build(function: FunctionInfo, calls: Sequence[ast.Call], maker: str = "") -> tuple[Edit, ...]:
    """Create each weight in `build` and use it in `call`; nothing if one needs more than the input shape.

    Args:
        function: the method `call`.
        calls: what creates the weights there.
        maker: what to call instead, with the same arguments.
    """
    module, owner = function.module, function.owner
    if owner is None or function.name != "call" or not isinstance(function.node, ast.FunctionDef):
        return ()
    given = function.node.args.args[1:2]
    shape = _shape_name(owner)
    if not calls or not given or not shape:
        return ()
    taken = set(module.attribute_stores(owner.node)) | set(owner.methods) | _OF_KERAS
    edits, lines = [], []
    for call in calls:
        text = _Translation(function, given[0].arg, shape).text(call)
        if text is None:
            return ()
        text = f"{maker}{text[len(module.segment(call.func)) :]}" if maker else text
        name = name_for(module, call, taken)
        taken.add(name)
        lines.append(f"self.{name} = {text}")
        edits.append(Edit(module.location(call), f"self.{name}"))
    return (*edits, *_in_build(module, owner, function.node, shape, lines))


def _shape_name(owner: ClassInfo) -> str:
    """Return the shape parameter of an existing `build`, or "" if it has more parameters."""
    build = owner.methods.get("build")
    if build is None:
        return "input_shape"
    parameters = build.parameters[1:]
    return parameters[0] if len(parameters) == 1 and isinstance(build.node, ast.FunctionDef) else ""


def _in_build(
    module: Module, owner: ClassInfo, call: ast.FunctionDef, shape: str, lines: list[str]
) -> tuple[Edit, ...]:
    build = owner.methods.get("build")
    if build is not None and isinstance(build.node, ast.FunctionDef):
        code = module.code(build.node.body[-1])
        return insert_after(code, f"\n{code.indent}".join(lines))
    # Decorators are above the line of the method itself.
    first = call.decorator_list[0] if call.decorator_list else call
    indent = indent_of(module, call)
    body = "".join(f"{indent}    {line}\n" for line in lines)
    return (Edit(module.location(first).lines.start, f"{indent}def build(self, {shape}):\n{body}\n"),)


class _Translation:
    """Translates expressions of `call` for `build`, where only the input shapes are known."""

    def __init__(self, function: FunctionInfo, given: str, shape: str) -> None:
        self._function, self._given, self._shape = function, given, shape
        self._bindings = function.module.index.scopes[function.node].bindings

    def text(self, node: ast.expr, depth: int = 3) -> str | None:
        """Return the expression for `build`, or None if it needs a value of the call."""
        module = self._function.module
        text, start = module.segment(node), module.places.span(node)[0]
        parts: list[tuple[ast.AST, str]] = []
        for part in self._parts(node):
            new = self._shape_of(part) if isinstance(part, ast.Attribute) else self._local(part, depth)
            if new is None:
                return None
            parts.append((part, new))
        for place, new in sorted(parts, key=lambda each: -module.places.span(each[0])[0]):
            first, last = module.places.span(place)
            text = text[: first - start] + new + text[last - start :]
        return text

    def _parts(self, node: ast.AST) -> Iterator[ast.Attribute | ast.Name]:
        """Return the tensor shapes and local names in an expression."""
        if isinstance(node, ast.Attribute) and node.attr == "shape" and isinstance(node.value, ast.Name):
            yield node
            return
        if isinstance(node, ast.Name) and node.id != "self" and node.id in self._bindings:
            yield node
            return
        for child in ast.iter_child_nodes(node):
            yield from self._parts(child)

    def _shape_of(self, node: ast.Attribute) -> str | None:
        assert isinstance(node.value, ast.Name)
        if self._is_given(node.value):
            return self._shape
        made = self._unpacked(node.value)
        return None if made is None else f"{self._shape}[{made}]"

    def _is_given(self, name: ast.Name) -> bool:
        return name.id == self._given and len(self._bindings[name.id]) == 1

    def _unpacked(self, name: ast.Name) -> int | None:
        """Return which input a name refers to: 0 for `left` in `left, right = inputs`."""
        statement = self._only_store(name)
        target = statement.targets[0] if statement is not None and len(statement.targets) == 1 else None
        if not isinstance(target, (ast.Tuple, ast.List)) or statement is None:
            return None
        value = statement.value
        if not isinstance(value, ast.Name) or not self._is_given(value):
            return None
        names = [each.id if isinstance(each, ast.Name) else "" for each in target.elts]
        return names.index(name.id) if name.id in names else None

    def _local(self, name: ast.Attribute | ast.Name, depth: int) -> str | None:
        """Return the value of a local name, translated for `build`."""
        statement = self._only_store(name) if isinstance(name, ast.Name) else None
        if statement is None or depth == 0 or not isinstance(statement.targets[0], ast.Name):
            return None
        return self.text(statement.value, depth - 1)

    def _only_store(self, name: ast.Name) -> ast.Assign | None:
        stores = self._bindings.get(name.id, [])
        statement = self._function.module.statement(stores[0]) if len(stores) == 1 else None
        return statement if isinstance(statement, ast.Assign) else None

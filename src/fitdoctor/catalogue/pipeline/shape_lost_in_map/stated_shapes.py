"""Edits that set the shape of tensors from Python code, and the shapes that the code mentions."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fitdoctor.diagnosis import Edit
from fitdoctor.edits import insert_after, spell
from fitdoctor.source.definitions import argument_of
from fitdoctor.source.module import FunctionInfo, Module


def stated_apart(module: Module, call: ast.Call, shape: str) -> tuple[Edit, ...]:
    """Set the shapes for `image, label = tf.py_function(…)`, with a scalar label per sample."""
    statement = module.statement(call)
    if isinstance(statement, ast.Return) and statement.value is call:
        return _returned_apart(module, call, shape)
    if not (isinstance(statement, ast.Assign) and statement.value is call):
        return _stated_inside(module, call, shape)
    target = statement.targets[0]
    parts = target.elts if isinstance(target, (ast.Tuple, ast.List)) else []
    names = [part.id for part in parts if isinstance(part, ast.Name)]
    if len(names) != 2 or len(parts) != 2:
        return ()
    code = module.code(call)
    lines = f"{names[0]}.set_shape({shape})\n{code.indent}{names[1]}.set_shape(())"
    return insert_after(code, lines)


def _returned_apart(module: Module, call: ast.Call, shape: str) -> tuple[Edit, ...]:
    """Set the shapes if both are returned at once."""
    types = argument_of(call, "Tout", 2)
    if not isinstance(types, (ast.Tuple, ast.List)) or len(types.elts) != 2:
        return ()
    code = module.code(call)
    lines = (
        f"sample, label = {code.text}",
        f"sample.set_shape({shape})",
        "label.set_shape(())",
        "return sample, label",
    )
    return (Edit(module.location(module.statement(call)), f"\n{code.indent}".join(lines)),)


def _stated_inside(module: Module, call: ast.Call, shape: str) -> tuple[Edit, ...]:
    """Set the shapes if the call is part of an expression: around it, or after the `map` whose lambda it is."""
    types, parent = argument_of(call, "Tout", 2), module.parent(call)
    tf, imports = spell(module.code(call), "tensorflow", "tf")
    if types is not None and not isinstance(types, (ast.Tuple, ast.List)):
        return (Edit(module.location(call), f"{tf}.ensure_shape({module.segment(call)}, {shape})"), *imports)
    step = module.parent(parent) if isinstance(parent, ast.Lambda) else None
    if not isinstance(types, (ast.Tuple, ast.List)) or len(types.elts) != 2 or not isinstance(step, ast.Call):
        return ()
    stated = f"({tf}.ensure_shape(x, {shape}), {tf}.ensure_shape(y, ()))"
    return (Edit(module.location(step).end, f".map(lambda x, y: {stated})"), *imports)


def written_shapes(module: Module, call: ast.AST, argument: str, pictures: bool) -> Iterator[str]:
    """Return the shapes that the called function mentions: three sizes for an image, a named number for features."""
    given = argument_of(call, argument, 0) if isinstance(call, ast.Call) else None
    function = module.definition(given) if given is not None else None
    if not isinstance(function, FunctionInfo) or function.module is not module:
        return
    for node in ast.walk(function.node):
        if pictures and isinstance(node, ast.Tuple) and len(node.elts) == 3:
            if isinstance(node.ctx, ast.Load) and all(_is_length(module, part) for part in node.elts):
                yield f"({', '.join(module.segment(part) for part in node.elts)})"
        elif not pictures and isinstance(node, ast.Name) and _is_length(module, node):
            yield f"({node.id},)"
    sizes = (
        [size for node in ast.walk(function.node) for size in _written_size(module, node)] if pictures else []
    )
    yield from (f"({size}, {channels})" for channels in (3, 1) for size in dict.fromkeys(sizes))


def _written_size(module: Module, node: ast.AST) -> Iterator[str]:
    """Return the height and width of resized images: `resize(picture, (64, 64))`, `picture[:64, :64]`."""
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Tuple):
        ends = [
            part.upper for part in node.slice.elts[:2] if isinstance(part, ast.Slice) and part.lower is None
        ]
        lengths = [end for end in ends if end is not None and _is_length(module, end)]
        if len(lengths) == 2:
            yield ", ".join(module.segment(length) for length in lengths)
        return
    if not isinstance(node, ast.Call) or not module.segment(node.func).endswith(("resize", "load_img")):
        return
    for given in (*node.args, *(word.value for word in node.keywords)):
        parts = module.made_by(given)
        if isinstance(parts, ast.Tuple) and len(parts.elts) == 2:
            if all(_is_length(module, part) for part in parts.elts):
                yield (
                    f"*{given.id}"
                    if isinstance(given, ast.Name)
                    else ", ".join(map(module.segment, parts.elts))
                )


def _is_length(module: Module, node: ast.expr) -> bool:
    """Return whether it is an integer, or a global name for one."""
    if isinstance(node, ast.Name):
        given = module.assignments(node.id, module.tree)
        return len(given) == 1 and given[0].value is not None and _is_length(module, given[0].value)
    return isinstance(node, ast.Constant) and type(node.value) is int

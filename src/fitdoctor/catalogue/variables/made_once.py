"""Edits that move objects created on every call of a method into `__init__`, or of a function before it."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from fitdoctor.catalogue.training_loops import loops_around
from fitdoctor.diagnosis import Edit
from fitdoctor.edits import insert_after
from fitdoctor.records import dataclass
from fitdoctor.source.index import names_in
from fitdoctor.source.keras_names import snake_case
from fitdoctor.source.line_edits import indent_of
from fitdoctor.source.module import ClassInfo, FunctionInfo, Module


@dataclass(frozen=True)
class Making:
    """A call that creates an object, and its text where it is created once."""

    call: ast.Call
    text: str
    anew: str = ""
    """The statement that resets the object, if the method changes it."""
    depends_on: tuple[ast.expr, ...] | None = None
    """The parts of the call that its creation depends on; None for all of it."""
    used: str = "{}"
    """The expression that replaces the call, with `{}` for the object."""


def made_in_init(function: FunctionInfo, makings: Sequence[Making]) -> tuple[Edit, ...]:
    """Create each object once in `__init__` and use it in the method; nothing if one depends on the method's arguments.

    Objects created in a loop over something that `__init__` knows become a list that the loop also iterates over.
    """
    module, owner = function.module, function.owner
    if owner is None or isinstance(function.node, ast.Lambda) or not makings:
        return ()
    taken = set(module.attribute_stores(owner.node)) | set(owner.methods)
    edits: list[Edit] = []
    lines: list[str] = []
    carried: dict[ast.For, list[tuple[str, str]]] = {}
    for making in makings:
        loop = _loop_around(function, making.call)
        needed = (making.call,) if making.depends_on is None else making.depends_on
        if not _known_in_init(function, needed, loop):
            return ()
        as_assigned = making.used == "{}"
        name = name_for(module, making.call, taken, loop is not None, as_assigned)
        taken.add(name)
        if loop is None:
            lines.append(f"self.{name} = {making.text}")
            edits.append(Edit(module.location(making.call), making.used.replace("{}", f"self.{name}")))
            edits += (
                insert_after(module.code(module.statement(making.call)), making.anew) if making.anew else ()
            )
        else:
            lines.append(
                f"self.{name} = [{making.text} for {module.segment(loop.target)} in {module.segment(loop.iter)}]"
            )
            one = name.replace("_layers", "_layer")
            carried.setdefault(loop, []).append((one, name))
            edits.append(Edit(module.location(making.call), making.used.replace("{}", one)))
    for loop, pairs in carried.items():
        edits += _going_through(module, loop, pairs)
    return (*edits, *_at_the_end_of_init(module, owner, lines))


def made_before(function: FunctionInfo, makings: Sequence[Making]) -> tuple[Edit, ...]:
    """Create each object once before a function that is no method; nothing if one depends on the function's arguments."""
    module = function.module
    if function.owner is not None or not makings:
        return ()
    if any(_loop_around(function, each.call) for each in makings):
        return ()
    if not all(_known_in_init(function, (each.call,), None) for each in makings):
        return ()
    taken = {node.id for node in module.nodes(ast.Name)} | {node.arg for node in module.nodes(ast.arg)}
    statement = module.statement(function.node)
    first = (getattr(statement, "decorator_list", None) or [statement])[0]
    indent, lines, edits = indent_of(module, statement), [], []
    for making in makings:
        base = snake_case(module.segment(making.call.func).rpartition(".")[2])
        name = base if base not in taken else name_for(module, making.call, taken, as_assigned=False)
        taken.add(name)
        lines.append(f"{indent}{name} = {making.text}\n")
        edits.append(Edit(module.location(making.call), name))
    apart = "\n" * (2 if not indent else 1) if isinstance(statement, ast.FunctionDef) else ""
    return (Edit(module.location(first).lines.start, f"{''.join(lines)}{apart}"), *edits)


def _loop_around(function: FunctionInfo, node: ast.AST) -> ast.For | None:
    """Return the innermost `for` of the method whose body contains a node."""
    return next((loop for loop in loops_around(function.module, node) if isinstance(loop, ast.For)), None)


def _known_in_init(function: FunctionInfo, needed: Sequence[ast.expr], loop: ast.For | None) -> bool:
    """Return whether expressions depend on nothing that only the method knows."""
    own = {name for name in function.parameters if name != "self"}
    own |= {
        node.id
        for node in ast.walk(function.node)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }
    looped = names_in(loop.target) if loop is not None else set()
    if loop is not None and (names_in(loop.iter) & own or _loop_around(function, loop) is not None):
        return False
    return not any(names_in(each) & (own - looped) for each in needed)


def name_for(
    module: Module, call: ast.Call, taken: set[str], several: bool = False, as_assigned: bool = True
) -> str:
    """Return an unused name: that of the variable it is assigned to, or of the object's class."""
    statement = module.statement(call)
    assigned = as_assigned and isinstance(statement, ast.Assign) and statement.value is call
    target = statement.targets[0] if isinstance(statement, ast.Assign) and assigned else None
    made = module.segment(call.func).rpartition(".")[2]
    base = target.id if isinstance(target, ast.Name) else snake_case(made)
    base += "_layers" if several else ""
    if (several or isinstance(target, ast.Name)) and base not in taken:
        return base
    number = 1
    while f"{base}_{number}" in taken:
        number += 1
    return f"{base}_{number}"


def _going_through(module: Module, loop: ast.For, pairs: list[tuple[str, str]]) -> Iterator[Edit]:
    """Rewrite `for units in self.sizes` as `for units, dense_layer in zip(self.sizes, self.dense_layers)`."""
    ones = ", ".join(one for one, _many in pairs)
    many = ", ".join(f"self.{name}" for _one, name in pairs)
    target = module.segment(loop.target)
    inner = f"({target})" if isinstance(loop.target, ast.Tuple) and not target.startswith("(") else target
    yield Edit(module.location(loop.target), f"{inner}, {ones}")
    yield Edit(module.location(loop.iter), f"zip({module.segment(loop.iter)}, {many})")


def _at_the_end_of_init(module: Module, owner: ClassInfo, lines: list[str]) -> tuple[Edit, ...]:
    setup = owner.methods.get("__init__")
    if setup is not None and isinstance(setup.node, ast.FunctionDef):
        code = module.code(setup.node.body[-1])
        return insert_after(code, f"\n{code.indent}".join(lines))
    first = next(iter(owner.node.body), None)
    if first is None:
        return ()
    indent = indent_of(module, first)
    methods = [node for node in owner.node.body if isinstance(node, ast.FunctionDef)]
    if not methods:
        return ()
    # Decorators are above the line of the method itself.
    first_line = methods[0].decorator_list[0] if methods[0].decorator_list else methods[0]
    deep = f"{indent}    "
    body = "".join(f"{deep}{line}\n" for line in ("super().__init__(*args, **kwargs)", *lines))
    return (
        Edit(
            module.location(first_line).lines.start, f"{indent}def __init__(self, *args, **kwargs):\n{body}\n"
        ),
    )

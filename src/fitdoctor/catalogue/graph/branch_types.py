"""Names that get values of different types in the two branches of a converted `if`."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fitdoctor.catalogue.graph.graph_parts import converted_branches, first_read_after, leaves
from fitdoctor.records import dataclass
from fitdoctor.source.definitions import argument_of
from fitdoctor.source.module import FunctionInfo, Module

_FLOATS = frozenset("sqrt exp log sigmoid tanh softmax softplus rsqrt sin cos log_softmax".split())
"""Functions that accept only floats."""
_KEEPS = frozenset("reduce_mean reduce_sum reduce_max reduce_min square abs negative identity".split())
_FILLS = frozenset(("zeros", "ones"))


@dataclass(frozen=True, eq=False)
class Differing:
    """A name whose value has different types in the two branches."""

    name: str
    branch: ast.If
    first: ast.expr
    first_type: str
    second: ast.expr
    second_type: str

    @property
    def written(self) -> ast.expr:
        """The value that is a literal number, which is easier to change; otherwise the first one."""
        return self.second if isinstance(self.second, ast.Constant) else self.first


def differing_branches(module: Module, function: FunctionInfo) -> Iterator[Differing]:
    """Find names whose branches differ in type, which AutoGraph rejects because both branches run in the graph."""
    for branch in converted_branches(module, function):
        if any(leaves(statement) for statement in (*branch.body, *branch.orelse)):
            continue
        first, second = _last_values(branch.body), _last_values(branch.orelse)
        before = _values_before(module, branch)
        for name in sorted({*first, *second}):
            one, other = first.get(name, before.get(name)), second.get(name, before.get(name))
            if one is None or other is None or first_read_after(module, function, branch, name) is None:
                continue
            kinds = _type_of(module, one), _type_of(module, other)
            if all(kinds) and kinds[0] != kinds[1]:
                yield Differing(name, branch, one, kinds[0], other, kinds[1])


def _last_values(statements: list[ast.stmt]) -> dict[str, ast.expr | None]:
    """Return the value of each name that a block binds, or None if it is not a single plain assignment."""
    found: dict[str, ast.expr | None] = {}
    for statement in statements:
        plain = isinstance(statement, ast.Assign) and len(statement.targets) == 1
        for node in ast.walk(statement):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                whole = plain and statement.targets[0] is node  # type: ignore[attr-defined]
                found[node.id] = statement.value if whole else None  # type: ignore[attr-defined]
    return found


def _values_before(module: Module, branch: ast.If) -> dict[str, ast.expr | None]:
    """Return the values that earlier statements in the same block assign."""
    parent = module.parent(branch)
    block = getattr(parent, "body", [])
    return _last_values(block[: block.index(branch)]) if branch in block else {}


def _type_of(module: Module, value: ast.expr) -> str:
    """Return the tensor type of a value, `float`, `int` or `bool`, or "" if it is unknown."""
    if isinstance(value, ast.UnaryOp) and isinstance(value.op, ast.USub):
        return _type_of(module, value.operand)
    if isinstance(value, ast.Constant):
        name = type(value.value).__name__
        return name if name in ("float", "int", "bool") else ""
    if isinstance(value, ast.BinOp):
        floats = isinstance(value.op, ast.Div) or "float" in (
            _type_of(module, value.left),
            _type_of(module, value.right),
        )
        return "float" if floats else ""
    return _type_of_call(module, value) if isinstance(value, ast.Call) else ""


def _type_of_call(module: Module, call: ast.Call) -> str:
    full = module.resolve(call.func)
    name = full.rpartition(".")[2]
    if not full.startswith(("tensorflow.", "keras.ops.")) or not call.args:
        return ""
    if name == "cast":
        kind = argument_of(call, "dtype", 1)
        text = module.segment(kind).strip("'\"").rpartition(".")[2] if kind is not None else ""
        return next((known for known in ("float", "bool", "int") if text.startswith(known)), "")
    if name in _FLOATS:
        return "float"
    if name in _FILLS or full == "tensorflow.random.normal":
        named = any(keyword.arg in (None, "dtype") for keyword in call.keywords) or len(call.args) > 1
        return "" if named else "float"
    return _type_of(module, call.args[0]) if name in _KEEPS else ""

"""Edits that turn an attribute of a layer or model into a variable that traced code can assign to."""

from __future__ import annotations

import ast

from fitdoctor.catalogue.graph.return_instead_of_store import own_reads
from fitdoctor.diagnosis import Edit, Fix
from fitdoctor.edits import fix, insert_after, spell
from fitdoctor.records import dataclass
from fitdoctor.source.callees import is_self
from fitdoctor.source.module import ClassInfo, FunctionInfo, Module

CONTAINERS = (ast.List, ast.Tuple, ast.Dict, ast.Set, ast.ListComp, ast.DictComp)
"""What a variable cannot hold: several tensors."""
_ASSIGNED: dict[type[ast.operator], str] = {ast.Add: "assign_add", ast.Sub: "assign_sub"}


@dataclass(frozen=True, eq=False)
class _Stored:
    """A statement in a traced method that stores a tensor on `self`."""

    function: FunctionInfo
    node: ast.Assign | ast.AugAssign
    name: str
    text: str
    """The source text of the tensor to assign."""

    @property
    def module(self) -> Module:
        """The file of the traced method."""
        return self.function.module


def as_state(
    function: FunctionInfo,
    owner: ClassInfo | None,
    node: ast.AST,
    value: ast.expr,
    text: str = "",
    scalar: bool = False,
) -> Fix | None:
    """Turn the attribute into a variable, and assign to it.

    Args:
        function: the traced method.
        owner: the class of its `self`.
        node: the statement that stores the tensor.
        value: the tensor in it.
        text: the source of the tensor, if it differs from `value`.
        scalar: whether it is known to be a scalar; the shape of other tensors may contain the batch axis.
    """
    module = function.module
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    target = targets[0] if len(targets) == 1 else None
    if owner is None or not isinstance(node, (ast.Assign, ast.AugAssign)) or node.value is not value:
        return None
    if isinstance(value, CONTAINERS):
        return None
    if not isinstance(target, ast.Attribute) or not is_self(module, target.value):
        return None
    init = owner.methods.get("__init__")
    stores = module.attribute_stores(owner.node).get(target.attr, [])
    others = [store for store in stores if module.statement(store) is not node]
    if init is None or len(others) > 1:
        return None
    stored = _Stored(function, node, target.attr, text or module.segment(value))
    tf, imports = spell(module.code(node), "tensorflow", "tf")
    shape = "" if scalar else f", shape={tf}.TensorShape(None)"
    made = f"{tf}.Variable({_first_value(module, others)}{shape}, trainable=False)"
    edits = created_in_init(module, init, others, target.attr, made)
    if not edits:
        return None
    title = f"make `self.{target.attr}` a variable and update it with `assign`"
    return fix(title, edits, _assigned(stored, value), imports)


def _first_value(module: Module, others: list[ast.AST]) -> float:
    """Return the initial number of the attribute, or 0 if it has none."""
    statement = module.statement(others[0]) if others else None
    value = statement.value if isinstance(statement, ast.Assign) else None
    number = value.value if isinstance(value, ast.Constant) else None
    return float(number) if isinstance(number, (int, float)) else 0.0


def _assigned(stored: _Stored, value: ast.expr) -> tuple[Edit, ...]:
    """Return the edits for `self.code.assign(…)`; name the tensor if the method uses it again."""
    module, node, text = stored.module, stored.node, stored.text
    place, holder = module.location(node), f"self.{stored.name}"
    if isinstance(node, ast.AugAssign):
        step = _ASSIGNED.get(type(node.op))
        return (Edit(place, f"{holder}.{step}({text})"),) if step is not None else ()
    # What is read before the store is the value of the step before.
    end = module.places.span(node)[1]
    inside = set(ast.walk(value))
    found = own_reads(stored.function, node)
    carried = any(read in inside for read in found)
    reads = [read for read in found if module.places.span(read)[0] >= end]
    if not reads or carried:
        return (Edit(place, f"{holder}.assign({text})"),)
    name = text if isinstance(value, ast.Name) else stored.name.lstrip("_")
    if name != text and name in module.index.scopes[stored.function.node].bindings:
        return (Edit(place, f"{holder}.assign({text})"),)
    named = "" if name == text else f"{name} = {text}\n{module.code(node).indent}"
    return (
        Edit(place, f"{named}{holder}.assign({name})"),
        *(Edit(module.location(read), name) for read in reads),
    )


def created_in_init(
    module: Module, init: FunctionInfo, others: list[ast.AST], name: str, made: str
) -> tuple[Edit, ...]:
    """Create the weight where the attribute gets its initial value, or after `super().__init__()`."""
    for store in others:
        if module.function_of(store) != init:
            return ()
        statement = module.parent(store)
        if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
            return (Edit(module.location(statement.value), made),)
        return ()
    assert not isinstance(init.node, ast.Lambda)
    for statement in init.node.body:
        if isinstance(statement, ast.Expr) and "super().__init__" in module.segment(statement):
            return insert_after(module.code(statement.value), f"self.{name} = {made}")
    return ()

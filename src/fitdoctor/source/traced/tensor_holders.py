"""Values of names and attributes created outside traced code: layers, variables, metrics, lists of them."""

from __future__ import annotations

import ast

from fitdoctor.source.module import ClassInfo, Module
from fitdoctor.source.traced.tensor_calls import MAKES_LAYER, returns
from fitdoctor.source.traced.tensor_values import (
    LAYER,
    LAYERS,
    METRIC,
    NOTHING,
    OWN,
    TENSOR,
    VARIABLE,
    Value,
    each,
)


def made(module: Module, expr: ast.expr | None) -> Value:
    """Return the kind of value that an expression outside traced code creates."""
    if isinstance(expr, ast.Call):
        name = module.resolve(expr.func)
        if returns(name) == "variable" or (
            isinstance(expr.func, ast.Attribute) and expr.func.attr in ("add_weight", "add_variable")
        ):
            return VARIABLE
        if name.startswith(MAKES_LAYER):
            return OWN if name.startswith(_MODELS) else LAYER
        if name.startswith("keras.metrics.") and name.rpartition(".")[2][:1].isupper():
            return METRIC
        found = module.definition(expr.func)
        if isinstance(found, ClassInfo) and found.kind in ("Layer", "Model", "Loss"):
            return LAYER if _gives_one(found) else OWN
    if isinstance(expr, (ast.List, ast.Tuple)) and expr.elts:
        return each([made(module, element) for element in expr.elts])
    if isinstance(expr, ast.ListComp):
        element = made(module, expr.elt)
        return Value("each", (element,)) if element.kind else NOTHING
    return NOTHING


_MODELS = ("keras.Model", "keras.applications.", "keras.models.Model", "keras.models.load_model")
"""Models that may have several outputs."""


def _gives_one(owner: ClassInfo) -> bool:
    """Whether a class of the user's gives one tensor where it is called."""
    if owner.kind == "Loss":
        return True
    found = next((one.methods["call"] for one in owner.module.ancestry(owner) if "call" in one.methods), None)
    return found is not None and found.module.flow(found.node).returned == TENSOR


def held_by(owner: ClassInfo | None, attribute: str) -> Value:
    """What `self.attribute` holds, by every assignment of the class."""
    if owner is None or owner.kind not in ("", "Layer", "Model", "Loss", "Metric"):
        return NOTHING
    if owner.kind == "Model" and attribute == "layers":
        return LAYERS
    for ancestor in owner.module.ancestry(owner):
        stores = ancestor.module.attribute_stores(ancestor.node).get(attribute, [])
        if stores:
            return _stored(ancestor, stores)
    return NOTHING


def _stored(owner: ClassInfo, stores: list[ast.AST]) -> Value:
    values = set()
    # A value assigned in traced code (`self.count = self.count + 1`) replaces the initial one.
    for store in [store for store in stores if not _is_put_while_tracing(owner, store)] or stores:
        statement = owner.module.parent(store)
        value = statement.value if isinstance(statement, (ast.Assign, ast.AnnAssign)) else None
        if isinstance(value, ast.Constant) and value.value is None:
            continue
        if isinstance(value, ast.List) and not value.elts:
            values.add(_appended(owner, store))
        elif owner.kind == "Model" and isinstance(value, ast.Name) and _is_parameter(owner.module, value):
            values.add(Value("given"))
        else:
            values.add(made(owner.module, value))
    return values.pop() if len(values) == 1 else NOTHING


def _is_put_while_tracing(owner: ClassInfo, store: ast.AST) -> bool:
    function = owner.module.function_of(store)
    return function is not None and function.name in ("call", "train_step", "test_step", "update_state")


def _appended(owner: ClassInfo, store: ast.AST) -> Value:
    """What `self.x.append(…)` puts into a list that starts empty."""
    wanted = getattr(store, "attr", "")
    values = []
    for call in owner.module.method_calls("append"):
        value = call.receiver if isinstance(call.node.func, ast.Attribute) else None
        if isinstance(value, ast.Attribute) and value.attr == wanted and call.node.args:
            values.append(made(owner.module, call.node.args[0]))
    return each(values)


def _is_parameter(module: Module, name: ast.Name) -> bool:
    scope = module.index.lookup(name.id, module.scope(name))
    return scope is not None and all(isinstance(node, ast.arg) for node in scope.bindings[name.id])

"""Determines which Keras object an expression is, by following it to its creation."""

from __future__ import annotations

import ast

from fitdoctor.source.module import ClassInfo, Module
from fitdoctor.source.names import kind_of

MODEL_MAKERS = frozenset(
    {
        "keras.models.load_model",
        "keras.models.clone_model",
        "keras.models.model_from_json",
        "keras.saving.load_model",
    }
)


def kind_of_value(module: Module, expr: ast.expr) -> str:
    """Return `Model`, `Layer`, `Optimizer`, `Dataset`, …; "" if unknown.

    Return the kind of `self` in a user's class.
    """
    if isinstance(expr, ast.Name) and expr.id == "self":
        owner = module.class_of(expr)
        return owner.kind if owner is not None else ""
    origin = module.origin(expr)
    return kind_of_call(origin.module, origin.node) if isinstance(origin.node, ast.Call) else ""


def kind_of_call(module: Module, call: ast.Call) -> str:
    """Return the kind of object that a constructor call creates."""
    made = module.definition(call.func)
    if isinstance(made, ClassInfo):
        return made.kind
    name = module.resolve(call.func)
    if name in MODEL_MAKERS or (name.startswith("keras.applications.") and name[-1:].isalnum()):
        return "Model" if name.rpartition(".")[2][:1].isupper() or name in MODEL_MAKERS else ""
    if name.startswith("tensorflow.data.Dataset."):
        return "Dataset"
    return kind_of(name)


def is_keras_model(module: Module, expr: ast.expr) -> bool:
    """Whether an expression is certainly a Keras model."""
    return kind_of_value(module, expr) == "Model"


def is_keras_optimizer(module: Module, expr: ast.expr) -> bool:
    """Whether an expression is certainly a Keras optimizer, by its creation or as a model's attribute."""
    if isinstance(expr, ast.Attribute) and expr.attr == "optimizer":
        owner = expr.value
        # In a callback, `self.model.optimizer` belongs to the model being trained.
        if isinstance(owner, ast.Attribute) and owner.attr == "model" and isinstance(owner.value, ast.Name):
            around = module.class_of(expr)
            if owner.value.id == "self" and around is not None and around.kind == "Callback":
                return True
        return is_keras_model(module, owner)
    return kind_of_value(module, expr) == "Optimizer" and class_of_user(module, expr) is None


def is_keras_metric(module: Module, expr: ast.expr) -> bool:
    """Whether an expression is certainly a metric, by its creation, from a list, or from a model."""
    if kind_of_value(module, expr) == "Metric" or _is_held_by_model(module, expr, "metrics"):
        return True
    origin = module.origin(expr)
    listed = origin.node.elts if isinstance(origin.node, (ast.List, ast.Tuple)) else []
    return bool(listed) and all(kind_of_value(origin.module, each) == "Metric" for each in listed)


def defines(module: Module, expr: ast.expr, method: str) -> bool:
    """Whether the object's user-defined class overrides the method."""
    owner = class_of_user(module, expr)
    return owner is not None and owner.module.method(owner, method) is not None


def may_define(module: Module, expr: ast.expr, method: str) -> bool:
    """Whether the object may have a user-defined method; a loaded model may be of any class."""
    if defines(module, expr, method):
        return True
    origin = module.origin(expr)
    loaded = isinstance(origin.node, ast.Call) and origin.module.resolve(origin.node.func) in MODEL_MAKERS
    modules = (module.project.modules if module.project is not None else ()) or (module,)
    return loaded and any(
        info.kind == "Model" and method in info.methods for other in modules for info in other.classes
    )


def class_of_user(module: Module, expr: ast.expr) -> ClassInfo | None:
    """Return the user-defined class of an object."""
    if isinstance(expr, ast.Name) and expr.id == "self":
        return module.class_of(expr)
    origin = module.origin(expr)
    made = origin.module.definition(origin.node.func) if isinstance(origin.node, ast.Call) else None
    return made if isinstance(made, ClassInfo) else None


_OF_EVERY_LAYER = frozenset(
    "output_shape input_shape get_output_at get_input_at get_output_shape_at get_input_shape_at inbound_nodes "
    "outbound_nodes".split()
)
"""Attributes that no Keras 3 layer has; some layers kept others, such as `stateful`."""


def reads_keras_layer(module: Module, node: ast.Attribute) -> bool:
    """Whether an attribute is read from a Keras layer; a custom layer may define it."""
    if not isinstance(node.ctx, ast.Load):
        return False
    made = module.made_by(node.value)
    if isinstance(made, ast.Call) and module.resolve(made.func).rpartition(".")[0] == "keras.layers":
        return True
    return (
        node.attr in _OF_EVERY_LAYER
        and _is_layer_of_model(module, node.value)
        and not _is_asked_for(module, node)
    )


def _is_layer_of_model(module: Module, expr: ast.expr) -> bool:
    """Whether an expression is a layer that a model holds: of a loop over `model.layers`, `model.layers[-1]`, by name."""
    if _is_held_by_model(module, expr, "layers"):
        return True
    origin = module.origin(expr)
    return (
        isinstance(origin.node, ast.Call)
        and isinstance(origin.node.func, ast.Attribute)
        and origin.node.func.attr == "get_layer"
        and is_keras_model(origin.module, origin.node.func.value)
    )


def _is_held_by_model(module: Module, expr: ast.expr, parts: str) -> bool:
    """Whether an expression is one of the `layers` or `metrics` of a model, by a loop over them or by its place."""
    origin = module.origin(expr)
    node: ast.expr = origin.node.value if isinstance(origin.node, ast.Subscript) else origin.node
    return (
        isinstance(node, ast.Attribute) and node.attr == parts and is_keras_model(origin.module, node.value)
    )


def _is_asked_for(module: Module, node: ast.Attribute) -> bool:
    """Whether the program checks for the attribute, or a user-defined class has it."""
    parent = module.parent(node)
    while parent is not None:
        if isinstance(parent, ast.Try):
            return True
        parent = module.parent(parent)
    named = any(constant.value == node.attr for constant in module.nodes(ast.Constant))
    return named or any(
        node.attr in owner.methods or node.attr in module.attribute_stores(owner.node)
        for owner in module.classes
    )

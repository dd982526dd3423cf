"""Which Keras object an expression surely is, followed to where it was made."""

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
    """`Model`, `Layer`, `Optimizer`, `Dataset`, …; "" when it cannot be told.

    `self` in a class of the user's is what the class is.
    """
    if isinstance(expr, ast.Name) and expr.id == "self":
        owner = module.class_of(expr)
        return owner.kind if owner is not None else ""
    origin = module.origin(expr)
    return kind_of_call(origin.module, origin.node) if isinstance(origin.node, ast.Call) else ""


def kind_of_call(module: Module, call: ast.Call) -> str:
    """What a constructor call makes."""
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
    """Whether an expression surely is a Keras model."""
    return kind_of_value(module, expr) == "Model"


def is_keras_optimizer(module: Module, expr: ast.expr) -> bool:
    """Whether an expression surely is an optimizer of Keras: by how it was made, or as that of a model."""
    if isinstance(expr, ast.Attribute) and expr.attr == "optimizer":
        owner = expr.value
        # `self.model.optimizer` in a callback is the model that is being trained.
        if isinstance(owner, ast.Attribute) and owner.attr == "model" and isinstance(owner.value, ast.Name):
            around = module.class_of(expr)
            if owner.value.id == "self" and around is not None and around.kind == "Callback":
                return True
        return is_keras_model(module, owner)
    return kind_of_value(module, expr) == "Optimizer" and _class_of_user(module, expr) is None


def defines(module: Module, expr: ast.expr, method: str) -> bool:
    """Whether the object is of a class of the user's that has its own method of that name."""
    owner = _class_of_user(module, expr)
    return owner is not None and owner.module.method(owner, method) is not None


def _class_of_user(module: Module, expr: ast.expr) -> ClassInfo | None:
    """The class of the user's that an object is of; it may have attributes of its own."""
    if isinstance(expr, ast.Name) and expr.id == "self":
        return module.class_of(expr)
    origin = module.origin(expr)
    made = origin.module.definition(origin.node.func) if isinstance(origin.node, ast.Call) else None
    return made if isinstance(made, ClassInfo) else None


def reads_keras_layer(module: Module, node: ast.Attribute) -> bool:
    """Whether an attribute is read of a layer of Keras itself; one of the user's may define it."""
    made = module.made_by(node.value)
    return (
        isinstance(node.ctx, ast.Load)
        and isinstance(made, ast.Call)
        and module.resolve(made.func).rpartition(".")[0] == "keras.layers"
    )

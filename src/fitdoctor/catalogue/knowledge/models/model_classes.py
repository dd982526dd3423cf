"""The user's model classes: what they inherit, and what their steps unpack, return and update."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fitdoctor.diagnosis import Location
from fitdoctor.facts import Frame, ModelFacts, Unknown
from fitdoctor.failure.failed_line import nodes_at
from fitdoctor.source.callees import is_self
from fitdoctor.source.keras_objects import kind_of_value
from fitdoctor.source.module import ClassInfo, FunctionInfo, Module
from fitdoctor.source.project import Project
from fitdoctor.source.traced.symbolic import own_nodes

STEPS = ("train_step", "test_step")
SETTINGS = frozenset({"training", "mask"})
"""Arguments of `call` that Keras passes automatically."""


def class_of_model(model: ModelFacts | Unknown, project: Project) -> ClassInfo | None:
    """Return the user's class of a model, if exactly one has its name."""
    if isinstance(model, Unknown) or not project:
        return None
    owner = project.class_named(model.class_name)
    return owner if owner is not None and owner.kind == "Model" else None


def is_plain(owner: ClassInfo, models: tuple[str, ...] = ("keras.Model",)) -> bool:
    """Whether a class and its user-defined bases inherit only from `keras.Model`."""
    for ancestor in owner.module.ancestry(owner):
        for base, node in zip(ancestor.bases, ancestor.node.bases, strict=True):
            if base in (*models, "object") or isinstance(ancestor.module.definition(node), ClassInfo):
                continue
            return False
    return True


def steps_of(module: Module) -> Iterator[FunctionInfo]:
    """Yield the `train_step` and `test_step` methods of the model classes in a file; on JAX they work differently."""
    for owner in module.classes:
        if owner.kind == "Model" and module.on_tensorflow:
            yield from (owner.methods[name] for name in STEPS if name in owner.methods)


def called_layers(module: Module | None, frame: Frame | None) -> Iterator[tuple[ast.Call, ClassInfo]]:
    """Yield the calls of custom layers and models on a line, with their classes."""
    for call in nodes_at(module, ast.Call, frame):
        origin = module.origin(call.func) if module is not None else None
        if origin is not None and isinstance(origin.node, ast.Call):
            owner = origin.module.definition(origin.node.func)
            if isinstance(owner, ClassInfo) and owner.kind in ("Layer", "Model"):
                yield call, owner


def required_inputs(method: FunctionInfo) -> tuple[str, ...]:
    """Return the required arguments of `call`, without `self` and those that Keras passes; () if any number fits."""
    arguments = method.node.args
    if arguments.vararg is not None:
        return ()
    listed = [argument.arg for argument in (*arguments.posonlyargs, *arguments.args)]
    required = listed[: len(listed) - len(arguments.defaults)] if arguments.defaults else listed
    return tuple(name for name in required[1:] if name not in SETTINGS)


def head(function: FunctionInfo) -> Location:
    """Return the first line of a function, with its parameters."""
    module, whole = function.module, function.module.location(function.node)
    line = module.line_text(whole.line, whole.cell).split("#")[0].rstrip()
    end = max(len(line) + 1, whole.column)
    return Location(whole.path, whole.line, whole.column, whole.line, end, whole.cell)


def returned(function: FunctionInfo) -> list[ast.expr]:
    """Return the expressions that a function returns, except None."""
    if isinstance(function.node, ast.Lambda):
        return [function.node.body]
    values = [statement.value for statement in function.module.returns.get(function.node, [])]
    return [value for value in values if value is not None and not _is_none(value)]


def _is_none(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and value.value is None


def batch_unpacking(step: FunctionInfo) -> tuple[ast.Assign, int] | None:
    """Return the top-level statement that unpacks a step's batch, and the number of parts."""
    node = step.node
    if isinstance(node, ast.Lambda) or len(step.parameters) < 2:
        return None
    batch = step.parameters[1]
    for statement in node.body:
        if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
            target = statement.targets[0]
            if isinstance(statement.value, ast.Name) and statement.value.id == batch:
                if isinstance(target, (ast.Tuple, ast.List)):
                    starred = any(isinstance(part, ast.Starred) for part in target.elts)
                    return None if starred else (statement, len(target.elts))
                return None
        if _mentions(statement, batch):
            # `if len(data) == 3`, `data = unpack(data)`: the step inspects the batch first.
            return None
    return None


def batch_as_tensor(step: FunctionInfo, *, refused: bool = False) -> ast.Name | None:
    """Return the first use of the batch as a single tensor; None if the step may unpack it.

    Args:
        step: `train_step` or `test_step`.
        refused: whether a layer rejected the batch for being several tensors, so that any call with it counts.
    """
    if isinstance(step.node, ast.Lambda) or len(step.parameters) < 2:
        return None
    first = uses = _names(step, step.parameters[1])
    alias = _only_alias(step, uses)
    if alias:
        uses = [use for use in _names(step, alias) if not isinstance(use.ctx, ast.Store)]
    if any(isinstance(use.ctx, ast.Store) for use in uses):
        return None
    module = step.module
    computed = refused and bool(uses)
    for use in uses:
        around = module.parent(use)
        given: ast.AST = use
        if isinstance(around, (ast.List, ast.Tuple)):  # `tf.concat([batch, other], 0)`
            given, around = around, module.parent(around)
        if (
            isinstance(around, ast.BinOp)
            or isinstance(around, ast.Call)
            and (_asks_shape(module, around) or given is use and _is_chain(module, around.func))
        ):
            computed = True
        elif not (isinstance(around, ast.Call) and given in around.args and _is_computation(module, around)):
            return None
    return first[0] if computed else None


_TAKES_ONE = ("Dense", "Conv", "Flatten", "Input", "Reshape", "Rescaling", "Embedding", "LSTM", "GRU")


def _names(step: FunctionInfo, name: str) -> list[ast.Name]:
    return [node for node in own_nodes(step) if isinstance(node, ast.Name) and node.id == name]


def _only_alias(step: FunctionInfo, uses: list[ast.Name]) -> str:
    """Return the alias of the batch in `x = data`, if that is its only use; else ""."""
    around = step.module.parent(uses[0]) if len(uses) == 1 else None
    if not isinstance(around, ast.Assign) or around.value is not uses[0] or len(around.targets) != 1:
        return ""
    target = around.targets[0]
    if not isinstance(target, ast.Name):
        return ""
    bound = [use for use in _names(step, target.id) if isinstance(use.ctx, ast.Store)]
    return target.id if len(bound) == 1 else ""


def _asks_shape(module: Module, call: ast.Call) -> bool:
    """Whether a call is `tf.shape(batch)`, which works on a single tensor only."""
    return module.resolve(call.func) in ("tensorflow.shape", "keras.ops.shape", "tensorflow.rank")


def _is_chain(module: Module, called: ast.expr) -> bool:
    """Whether the callee is a Sequential whose first layer expects one tensor."""
    made = module.origin(called)
    if not isinstance(made.node, ast.Call) or not made.module.resolve(made.node.func).endswith(".Sequential"):
        return False
    layers = made.node.args[0] if made.node.args else None
    if not isinstance(layers, (ast.List, ast.Tuple)) or not layers.elts:
        return False
    first = layers.elts[0]
    name = made.module.resolve(first.func).rpartition(".")[2] if isinstance(first, ast.Call) else ""
    return name.startswith(_TAKES_ONE)


def _is_computation(module: Module, call: ast.Call) -> bool:
    """Whether a call is a TensorFlow function, a loss, or an attribute of `self`, none of which unpack a batch."""
    if module.resolve(call.func).startswith(("tensorflow.", "keras.ops.", "keras.losses.")):
        return True
    own = module.own_attribute(call.func) and kind_of_value(module, call.func) in ("Layer", "Model")
    return is_self(module, call.func) or bool(own)


def _mentions(statement: ast.AST, name: str) -> bool:
    return any(isinstance(node, ast.Name) and node.id == name for node in ast.walk(statement))


# --- what a step updates -------------------------------------------------------------------------------------------


def reached_methods(step: FunctionInfo) -> list[FunctionInfo]:
    """Return a step and the methods of its class that it calls, directly or indirectly."""
    found, owner = [step], step.owner
    for current in found if owner is not None else ():
        for node in own_nodes(current):
            name = current.module.own_attribute(node)
            method = owner.module.method(owner, name) if name and owner is not None else None
            if method is not None and method not in found:
                found.append(method)
    return found


def differentiated(step: FunctionInfo) -> str:
    """Return the name of the value that a tape in the step differentiates; "" if it is not a plain name."""
    given = [site.node.args[0] for site in step.calls if site.method == "gradient" and site.node.args]
    return next((value.id for value in given if isinstance(value, ast.Name)), "")

"""Gradient paths through custom losses, layers and tapes."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable, Iterator
from functools import cached_property

from fitdoctor.records import dataclass
from fitdoctor.source.callees import callee, is_self
from fitdoctor.source.index import names_in
from fitdoctor.source.keras_objects import kind_of_call, kind_of_value
from fitdoctor.source.module import FunctionInfo, Module
from fitdoctor.source.traced.gradients import PREDICTS, Cut, IsRoot, body_of, cut_on_the_way, has_own_gradient
from fitdoctor.source.traced.tensor_calls import MAKES_VARIABLE


def first_cut(module: Module, function: FunctionInfo) -> Cut | None:
    """Return what blocks every path through a loss (from its predictions) or a `call` (from its layers)."""
    assert function.traced is not None
    if has_own_gradient(function):
        return None
    body = body_of(function)
    if function.traced.how == "loss":
        predictions = prediction_parameter(function)
        return cut_on_the_way(module, body, _named(predictions)) if predictions else None
    if function.traced.how == "lambda layer":
        return input_cut(module, function)
    return cut_on_the_way(module, body, lambda expr: is_layer_call(module, expr))


def layer_cut(function: FunctionInfo) -> Cut | None:
    """Return what blocks every path through a custom layer class."""
    owner = function.owner
    return input_cut(function.module, function) if owner is not None and owner.kind == "Layer" else None


def input_cut(module: Module, function: FunctionInfo) -> Cut | None:
    """Return what blocks every path from the input of a layer to its output."""
    parameters = [name for name in function.parameters if name != "self"]
    if not parameters or has_own_gradient(function):
        return None
    return cut_on_the_way(module, body_of(function), _named(parameters[0]))


def prediction_parameter(function: FunctionInfo) -> str:
    """Return the parameter of a loss for the predictions: `y_pred`, otherwise the second one after `self`."""
    parameters = [name for name in function.parameters if name != "self"]
    if "y_pred" in parameters:
        return "y_pred"
    if function.name == "compute_loss":  # compute_loss(x, y, y_pred, …)
        return parameters[2] if len(parameters) >= 3 else ""
    return parameters[1] if len(parameters) >= 2 else ""


def losses_that_ignore_predictions(module: Module) -> Iterator[tuple[FunctionInfo, ast.AST]]:
    """Return the loss functions that never read `y_pred`, with the values they return."""
    for function in module.functions:
        tracing = function.traced
        if tracing is None or tracing.how != "loss" or not tracing.direct:
            continue
        predictions = prediction_parameter(function)
        if not predictions:
            continue
        returned = [
            node
            for node in ast.walk(function.node)
            if isinstance(node, ast.Return) and node.value is not None
        ]
        calls = any(_brings_weights(module, node) for node in ast.walk(function.node))
        # What `functools.partial` or an enclosing function passes in may depend on weights.
        unknown = {predictions, *function.parameters[2 + ("self" in function.parameters) :]}
        around = module.function_of(function.node)
        while around is not None:
            unknown.update(around.parameters)
            around = module.function_of(around.node)
        if returned and not calls and unknown.isdisjoint(_names_behind(function, returned)):
            yield function, returned[-1]


def _names_behind(function: FunctionInfo, returned: Iterable[ast.AST]) -> set[str]:
    """Return every name that may enter the result, through assignments and mutating methods."""
    statements = [
        (_changed(node), names_in(node))
        for node in ast.walk(function.node)
        if isinstance(node, ast.stmt) and node is not function.node and not isinstance(node, ast.Return)
    ]
    found = {name for node in returned for name in names_in(node)}
    while True:
        more = {name for changed, read in statements if changed & found for name in read} - found
        if not more:
            return found
        found |= more


def _changed(statement: ast.stmt) -> set[str]:
    """Return the names that a statement binds or mutates."""
    return {
        inner.id
        for node in ast.walk(statement)
        for inner in (
            [node] if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) else _base(node)
        )
    } | ({statement.name} if isinstance(statement, (ast.FunctionDef, ast.ClassDef)) else set())


def _base(node: ast.AST) -> list[ast.Name]:
    """Return the name at the start of `name.method(…)` and `name[…]`."""
    while isinstance(node, (ast.Attribute, ast.Subscript, ast.Call)):
        node = node.func if isinstance(node, ast.Call) else node.value
        if isinstance(node, ast.Name):
            return [node]
    return []


def _brings_weights(module: Module, node: ast.AST) -> bool:
    """Return whether a loss may reach weights itself: it calls a model or unknown code, or reads variables."""
    if isinstance(node, ast.Call):
        return _call_uses_weights(module, node, frozenset(), 0) is not False
    if isinstance(node, ast.Attribute):
        return node.attr in _WEIGHTS
    return isinstance(node, ast.Name) and module.called(module.made_by(node)) in MAKES_VARIABLE


_WEIGHTS = ("trainable_variables", "trainable_weights", "weights", "variables", "losses", "kernel")


def tape_cut(module: Module) -> Cut | None:
    """Return what blocks the gradient between a model's output and the value that a tape differentiates."""
    for tape in tapes(module):
        for call in tape.gradients:
            loss = call.args[0] if call.args else None
            if isinstance(loss, ast.Name):
                cut = cut_on_the_way(
                    module, tape.block.body, lambda expr: is_model_output(module, expr), loss.id
                )
                if cut is not None:
                    return cut
    return None


def tape_cut_of_model(module: Module) -> Cut | None:
    """Return the same, but only if the differentiated weights certainly belong to the model that is called.

    A loss may stop the gradient of one model and train another with the same tape.
    """
    for tape in tapes(module):
        for call in tape.gradients:
            model = asked_about(module, call)
            loss = call.args[0] if call.args else None
            if model and isinstance(loss, ast.Name) and _is_only_called(module, tape.block, model):
                roots = _calls_of_own_layers(module) if model == "self" else _calls_of(module, model)
                cut = cut_on_the_way(module, tape.block.body, roots, loss.id)
                if cut is not None:
                    return cut
    return None


def assigned_under_tape(module: Module) -> Cut | None:
    """Return an assignment to a variable under a tape: the variable keeps the number, not its gradient path."""
    assigning = module.method_calls("assign", "assign_add", "assign_sub", "set_weights")
    under = [call.node for tape in tapes(module) for call in assigning if call.node in tape.nodes]
    return Cut(module, under[0], f"`{module.segment(under[0].func)}`") if under else None


def asked_about(module: Module, call: ast.Call) -> str:
    """Return the model whose weights a tape differentiates, as named in the source, or "" for anything else."""
    weights = module.made_by(call.args[1]) if len(call.args) > 1 else None
    if isinstance(weights, ast.Attribute) and weights.attr in ("trainable_variables", "trainable_weights"):
        return module.segment(weights.value)
    return ""


def _is_only_called(module: Module, block: ast.With, model: str) -> bool:
    """Return whether a block and the functions it calls only call a model (or its layers)."""
    own = _calls_of_own_layers(module)
    named = [
        node
        for inner in with_functions(module, block.body)
        for node in ast.walk(inner)
        if isinstance(node, (ast.Name, ast.Attribute)) and module.segment(node) == model
    ]
    return bool(named) and all(_is_call_of(module, node, own if model == "self" else None) for node in named)


def _is_call_of(module: Module, node: ast.AST, own: IsRoot | None) -> bool:
    """Return whether a model is called or asked to predict here, or one of its layers is called."""
    parent = module.parent(node)
    if isinstance(parent, ast.Call) and parent.func is node or _predicts(parent):
        return True
    call = module.parent(parent) if parent is not None and own is not None else None
    return isinstance(call, ast.Call) and own is not None and own(call)


def _calls_of_own_layers(module: Module) -> IsRoot:
    """Match `self(…)`, and `self.layer(…)` if every assignment to the attribute creates a layer or model."""

    def is_root(expr: ast.expr) -> bool:
        if not isinstance(expr, ast.Call):
            return False
        if not isinstance(expr.func, ast.Attribute):
            return is_self(module, expr.func)
        return is_self(module, expr.func.value) and _is_always_layer(module, expr.func)

    return is_root


def _is_always_layer(module: Module, attribute: ast.Attribute) -> bool:
    owner = module.class_of(attribute)
    stores = owner.module.attribute_stores(owner.node).get(attribute.attr, []) if owner is not None else []
    made = [getattr(module.parent(store), "value", None) for store in stores]
    return bool(made) and all(
        isinstance(value, ast.Call) and kind_of_call(module, value) in ("Layer", "Model") for value in made
    )


def with_functions(module: Module, body: list[ast.stmt]) -> list[ast.stmt]:
    """Return the statements, including those of the functions in this file that they call."""
    found = list(body)
    for statement in body:
        for node in ast.walk(statement):
            function = callee(module, node) if isinstance(node, ast.Call) else None
            if function is not None and function.module is module and function.name != "__init__":
                found += [inner for inner in body_of(function) if inner not in found]
    return found


def _predicts(node: ast.AST | None) -> bool:
    return isinstance(node, ast.Attribute) and node.attr in PREDICTS


def _calls_of(module: Module, model: str) -> IsRoot:
    return lambda expr: (
        isinstance(expr, ast.Call)
        and module.segment(expr.func) == model
        or isinstance(expr, ast.Attribute)
        and expr.attr in PREDICTS
        and module.segment(expr.value) == model
    )


@dataclass(frozen=True, eq=False)
class Tape:
    """A `with tf.GradientTape() as name:` block."""

    module: Module
    name: str
    block: ast.With
    maker: ast.Call

    @cached_property
    def gradients(self) -> list[ast.Call]:
        """The `tape.gradient(…)` calls after the block, until the name refers to another tape."""
        scope, start = self.module.function_of(self.block), self.block.lineno
        others = [
            other.block.lineno
            for other in tapes(self.module)
            if other.name == self.name and self.module.function_of(other.block) is scope
        ]
        end = min((line for line in others if line > start), default=10**9)
        return [
            site.node
            for site in self.module.method_calls("gradient", "jacobian")
            if site.function is scope
            and getattr(site.receiver, "id", "") == self.name
            and start < site.node.lineno < end
        ]

    @cached_property
    def nodes(self) -> list[ast.AST]:
        """Every node of the block."""
        return [node for inner in self.block.body for node in ast.walk(inner)]

    @cached_property
    def stored(self) -> set[str]:
        """The names that the block assigns."""
        return {
            each.id for each in self.nodes if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)
        }

    @cached_property
    def read(self) -> list[ast.Name]:
        """Where the block reads a name."""
        return [each for each in self.nodes if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load)]

    def watches(self, name: str) -> bool:
        """Return whether the tape watches a name, or its block computes it and so records it."""
        watching = (
            names_in(node)
            for node in self.nodes
            if isinstance(node, ast.Call) and self.module.segment(node.func) == f"{self.name}.watch"
        )
        return name in self.stored or any(name in names for names in watching)

    def before(self) -> list[ast.stmt]:
        """Return the statements before the block."""
        beside = self.module.block(self.block)
        return beside[: beside.index(self.block)]

    def until(self, call: ast.Call) -> list[ast.stmt] | None:
        """Return the statements after the block, up to the one with a call; None if that is elsewhere."""
        beside, asking = self.module.block(self.block), self.module.statement(call)
        return beside[beside.index(self.block) + 1 : beside.index(asking)] if asking in beside else None


def tapes(module: Module) -> Iterator[Tape]:
    """Yield every `with tf.GradientTape() as name`."""
    for block in module.nodes(ast.With):
        for item in block.items:
            match item:
                case ast.withitem(ast.Call() as maker, ast.Name(id=name)):
                    if module.called(maker) == "tensorflow.GradientTape":
                        yield Tape(module, name, block, maker)


OF_TRAINING = ("trainable_variables", "trainable_weights")


def trained_parts(module: Module, sources: ast.expr) -> list[str]:
    """Return the models whose variables are in a list of variables, as they are written."""
    listed = module.origin(sources).node
    variables = [
        node for node in ast.walk(listed) if isinstance(node, ast.Attribute) and node.attr in OF_TRAINING
    ]
    return list(dict.fromkeys(module.segment(node.value) for node in variables))


def is_layer_call(module: Module, expr: ast.expr) -> bool:
    """Return whether an expression calls a layer or model of `self`, and so depends on weights."""
    function = expr.func if isinstance(expr, ast.Call) else None
    own = isinstance(function, ast.Attribute) and getattr(function.value, "id", "") == "self"
    return own and function is not None and kind_of_value(module, function) in ("Layer", "Model")


def is_model_output(module: Module, expr: ast.expr) -> bool:
    """Return whether an expression contains the output of a model: a call or a `predict`."""
    if isinstance(expr, ast.Attribute) and expr.attr in PREDICTS:
        return _is_trained_model(module, expr.value) or kind_of_value(module, expr.value) == "Model"
    return is_model_call(module, expr)


def is_model_call(module: Module, expr: ast.expr) -> bool:
    """Return whether an expression calls a Keras model or layer, under any name."""
    if not isinstance(expr, ast.Call):
        return False
    if is_layer_call(module, expr) or _is_trained_model(module, expr.func):
        return True
    return isinstance(expr.func, (ast.Name, ast.Attribute)) and kind_of_value(module, expr.func) in (
        "Layer",
        "Model",
    )


def _is_trained_model(module: Module, expr: ast.expr) -> bool:
    """Return whether an expression is `self.model` in a callback, the model being trained."""
    if not (isinstance(expr, ast.Attribute) and expr.attr == "model" and isinstance(expr.value, ast.Name)):
        return False
    owner = module.class_of(expr)
    return expr.value.id == "self" and owner is not None and owner.kind == "Callback"


def _named(name: str) -> IsRoot:
    return lambda expr: isinstance(expr, ast.Name) and expr.id == name


# --- what computes from weights -------------------------------------------------------------------------------------

_DEEPEST = 4


def uses_weights(module: Module, body: Iterable[ast.AST], variables: frozenset[str], depth: int = 0) -> bool:
    """Return whether statements may use weights: they call a model or unknown code, or read a variable."""
    for statement in body:
        for node in ast.walk(statement):
            if isinstance(node, (ast.Name, ast.Attribute)) and module.segment(node) in variables:
                return True
            if isinstance(node, ast.Call) and _call_uses_weights(module, node, variables, depth) is not False:
                return True
    return False


def surely_uses_weights(module: Module, expr: ast.expr, variables: frozenset[str]) -> bool:
    """Return whether an expression certainly uses weights, directly or in a function it calls."""
    return any(
        isinstance(node, (ast.Name, ast.Attribute))
        and module.segment(node) in variables
        or isinstance(node, ast.Call)
        and _call_uses_weights(module, node, variables, 0) is True
        for node in ast.walk(expr)
    )


def _call_uses_weights(module: Module, call: ast.Call, variables: frozenset[str], depth: int) -> bool | None:
    """Return whether a call uses weights, or None if that is unknown."""
    if is_model_call(module, call):
        return True
    name = module.resolve(call.func)
    if name.startswith(("tensorflow.", "keras.", "numpy.")) or hasattr(builtins, name):
        return False
    made = module.origin(call.func)
    if made.module.called(made.node).startswith(("keras.losses.", "keras.metrics.")):
        return False
    function = callee(module, call)
    if function is None or depth >= _DEEPEST or _is_given_a_model(module, call):
        return None
    return uses_weights(function.module, body_of(function), variables, depth + 1)


def _is_given_a_model(module: Module, call: ast.Call) -> bool:
    values = (*call.args, *(keyword.value for keyword in call.keywords))
    return any(kind_of_value(module, value) in ("Model", "Layer") for value in values)

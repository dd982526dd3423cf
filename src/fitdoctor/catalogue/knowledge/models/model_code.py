"""The code that makes a model: the calls in it, through classes, functions, names and `Sequential.add`."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from fitdoctor.catalogue.knowledge.tracing.gradient_ways import Tape
from fitdoctor.source.assignments import last_assignment
from fitdoctor.source.definitions import ClassInfo, FunctionInfo
from fitdoctor.source.index import names_in, walk
from fitdoctor.source.keras_objects import class_of_user
from fitdoctor.source.module import Module
from fitdoctor.source.work_budget import spend

_STEPS = frozenset({"train_step", "test_step", "predict_step", "compute_loss", "compute_metrics"})


def calls_in_model(
    module: Module,
    model: ast.expr,
    follows_name: Callable[[Module, ast.Name], bool] = lambda _module, _name: True,
    follows_class: Callable[[list[FunctionInfo]], bool] = lambda _methods: True,
) -> Iterator[tuple[Module, ast.Call]]:
    """Yield the calls in the code that makes a model.

    Args:
        module: the file of the expression.
        model: an expression for the model.
        follows_name: whether to follow a name to its assignment.
        follows_class: whether to follow a class with these methods.
    """

    def methods(owner: ClassInfo) -> list[tuple[Module, ast.AST]]:
        found = [method for each in reversed(owner.ancestry) for method in each.methods.values()]
        if not follows_class(found):
            return []
        return [(method.module, method.node) for method in found if method.name not in _STEPS]

    owner, start = class_of_user(module, model), module.origin(model)
    pending: list[tuple[Module, ast.AST]] = methods(owner) if owner else [(start.module, start.node)]
    seen: set[ast.AST] = set()
    while pending:
        here, node = pending.pop()
        for each in () if node in seen else walk(node):
            spend()
            seen.add(each)
            if isinstance(each, ast.Name):
                assigned = last_assignment(here, each) if follows_name(here, each) else None
                if assigned is not None and assigned[0].value is not None:
                    pending.append((here, assigned[0].value))
            elif isinstance(each, ast.Call):
                made = here.definition(each.func)
                if isinstance(made, ClassInfo):
                    pending += methods(made)
                elif made is not None:
                    pending.append((made.module, made.node))
                else:
                    pending += _added(here, each)
                yield here, each


def _added(module: Module, call: ast.Call) -> Iterator[tuple[Module, ast.AST]]:
    """Yield the layers that are added to a `Sequential`."""
    if module.called(call) == "keras.Sequential":
        target = module.statement(call)
        names = names_in(target) if isinstance(target, ast.Assign) else set()
        for added in module.method_calls("add"):
            if getattr(added.receiver, "id", "") in names and module.scope(added.node) is module.scope(call):
                yield module, added.node


def trained_models(tape: Tape) -> dict[str, ast.expr]:
    """Return the models whose weights a tape computes gradients for, by how the source writes them."""
    module = tape.module
    return {
        module.segment(node.value): node.value
        for gradient in tape.gradients
        for weights in gradient.args[1:2]
        for node in ast.walk(module.made_by(weights))
        if isinstance(node, ast.Attribute) and node.attr in ("trainable_variables", "trainable_weights")
    }

"""Custom training loops with `strategy.run`: their optimizer and model, and where those are created."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fitdoctor.catalogue.devices.strategies import in_scope, moved_into_scope, replica_functions
from fitdoctor.diagnosis import Edit
from fitdoctor.edits import insert_after
from fitdoctor.records import dataclass
from fitdoctor.source.keras_objects import kind_of_call
from fitdoctor.source.module import Module


@dataclass(frozen=True)
class Loop:
    """A replica step that applies gradients with an optimizer."""

    optimizer: ast.expr
    """The expression that the step uses."""
    made: ast.Call
    """The construction of the optimizer."""
    model: ast.expr | None
    """The model whose variables the step updates, as an expression in the step."""
    model_made: ast.expr | None


def loops(module: Module) -> Iterator[Loop]:
    """Yield the loops of a file whose optimizer is created in that file."""
    steps = {function.node for function in replica_functions(module)}
    for site in module.method_calls("apply_gradients", "apply"):
        function = module.function_of(site.node)
        optimizer = site.receiver
        made = module.made_by(optimizer)
        if function is None or function.node not in steps or not isinstance(made, ast.Call):
            continue
        if kind_of_call(module, made) == "Optimizer":
            model = _changed(site.node)
            yield Loop(optimizer, made, model, module.made_by(model) if model is not None else None)


def _changed(call: ast.Call) -> ast.expr | None:
    """Return the model whose variables are zipped with the gradients."""
    for argument in call.args:
        for node in ast.walk(argument):
            if isinstance(node, ast.Attribute) and node.attr in ("trainable_variables", "trainable_weights"):
                return node.value
    return None


def is_built(module: Module, optimizer: ast.expr) -> bool:
    """Whether the file calls `build` on the optimizer."""
    return any(
        module.made_by(site.receiver) is module.made_by(optimizer) for site in module.method_calls("build")
    )


def built_in_scope(module: Module, loop: Loop) -> tuple[Edit, ...]:
    """Insert `optimizer.build(…)` after optimizer and model; no edits if they are in different blocks."""
    if loop.model is None or not isinstance(loop.model_made, ast.Call):
        return ()
    first, second = module.statement(loop.made), module.statement(loop.model_made)
    if module.parent(first) is not module.parent(second) or not in_scope(module, first):
        return ()
    later = max(loop.made, loop.model_made, key=lambda node: node.lineno)
    return insert_after(module.code(later), _build_line(module, loop))


def _build_line(module: Module, loop: Loop) -> str:
    return (
        f"{module.segment(loop.optimizer)}.build({module.segment(loop.model)}.trainable_variables)"
        if loop.model
        else ""
    )


def moved_and_built(module: Module, node: ast.AST, strategy: str) -> tuple[Edit, ...]:
    """Move a construction into the scope, and build a loop's optimizer there so that no replica has to."""
    loop = next((loop for loop in loops(module) if loop.made is node), None)
    after = loop is not None and loop.model_made is not None and loop.model_made.lineno < loop.made.lineno
    line = (
        _build_line(module, loop)
        if loop is not None and after and not is_built(module, loop.optimizer)
        else ""
    )
    moved = moved_into_scope(module, node, strategy, line)
    if loop is None or line or is_built(module, loop.optimizer) or not isinstance(loop.model_made, ast.Call):
        return moved
    # The model is created later, so the optimizer is built after it.
    apart = module.function_of(node) is not None or module.function_of(loop.model_made) is not None
    if apart or not in_scope(module, loop.model_made):
        return moved
    return (*moved, *insert_after(module.code(loop.model_made), _build_line(module, loop)))

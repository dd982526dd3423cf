"""Manual gradient steps: `w = w - rate * gradient` replaces the variable with a tensor, and `w -= …` is rejected."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fitdoctor.catalogue.graph.traced import at_frame
from fitdoctor.diagnosis import Edit
from fitdoctor.facts import Frame
from fitdoctor.records import dataclass
from fitdoctor.source.assignments import assignment_of
from fitdoctor.source.module import Module
from fitdoctor.source.traced.tensor_calls import MAKES_VARIABLE


@dataclass(frozen=True, eq=False)
class Step:
    """A statement that computes a new value for a name from its old one."""

    module: Module
    statement: ast.Assign | ast.AugAssign
    target: ast.Name
    change: ast.expr
    method: str
    """The in-place update method, `assign_add` or `assign_sub`."""

    @property
    def in_place(self) -> str:
        """Return the statement as an in-place update of a variable."""
        return f"{self.target.id}.{self.method}({self.module.segment(self.change)})"

    @property
    def edit(self) -> Edit:
        """Return the edit that replaces the statement."""
        return Edit(self.module.location(self.statement), self.in_place)


def steps_behind(module: Module, block: ast.With) -> Iterator[Step]:
    """Return the steps after a block in the same loop."""
    parent = module.parent(block)
    if isinstance(parent, (ast.For, ast.While)) and block in parent.body:
        for statement in parent.body[parent.body.index(block) + 1 :]:
            step = _step(module, statement)
            if step is not None:
                yield step


def refused_steps(module: Module, frame: Frame) -> list[Step]:
    """Return the rejected step, and steps on other variables in the same function that would be rejected next."""
    steps = [_step(module, statement) for statement in module.nodes(ast.AugAssign)]
    refused = next(
        (step for step in steps if step is not None and at_frame(module, step.statement, frame)), None
    )
    if refused is None:
        return []
    here = module.function_of(refused.statement)
    return [
        step
        for step in steps
        if step is not None
        and module.function_of(step.statement) is here
        and (step is refused or was_variable(module, step.target))
    ]


def was_variable(module: Module, name: ast.Name) -> bool:
    """Return whether one of the values assigned to a name is a variable."""
    scope = module.index.lookup(name.id, module.scope(name))
    bound = scope.bindings[name.id] if scope is not None else []
    values = [assignment_of(module, node).value for node in bound]
    return any(
        isinstance(value, ast.Call) and module.resolve(value.func) in MAKES_VARIABLE for value in values
    )


def _step(module: Module, statement: ast.stmt) -> Step | None:
    if isinstance(statement, ast.AugAssign):
        target, operator, change = statement.target, statement.op, statement.value
    elif isinstance(statement, ast.Assign) and isinstance(statement.value, ast.BinOp):
        first, value = statement.targets[0], statement.value
        if not isinstance(first, ast.Name) or not isinstance(value.left, ast.Name):
            return None
        if value.left.id != first.id:
            return None
        target, operator, change = first, value.op, value.right
    else:
        return None
    if not isinstance(target, ast.Name) or not isinstance(operator, (ast.Add, ast.Sub)):
        return None
    method = "assign_sub" if isinstance(operator, ast.Sub) else "assign_add"
    return Step(module, statement, target, change, method)

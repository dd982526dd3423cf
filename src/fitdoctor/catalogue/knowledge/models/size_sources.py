"""Where a size passed to a layer by name is set: an assignment, or the argument of the only call."""

from __future__ import annotations

import ast

from fitdoctor.catalogue.knowledge.data.data_trail import node_of
from fitdoctor.facts import Argument, Code
from fitdoctor.records import dataclass
from fitdoctor.source.module import Module
from fitdoctor.source.origins import origin
from fitdoctor.source.project import Project


@dataclass(frozen=True)
class Decided:
    """The expression that sets a named size."""

    code: Code
    alone: bool
    """Whether nothing else reads the names in between, so that a new value changes only this size."""


def decided_size(project: Project, argument: Argument | None, axis: int | None = None) -> Decided | None:
    """Return the expression that sets a size; None if it is literal in the call or may have other values.

    Args:
        project: the source.
        argument: the size passed in the call, or a shape.
        axis: the index within a shape.
    """
    found = node_of(project, Code(argument.location, argument.text)) if argument is not None else None
    if found is None:
        return None
    module, node = found
    if axis is not None and isinstance(node, (ast.Tuple, ast.List)):
        node = node.elts[axis] if -len(node.elts) <= axis < len(node.elts) else node
    if not isinstance(node, ast.Name):
        return None
    end = origin(module, node)
    if axis is not None and isinstance(end.node, (ast.Tuple, ast.List)):
        return None  # a whole shape: the edit of the input is moved there
    if end.path or not end.certain or isinstance(end.node, ast.Name):
        return None
    names = [(module, node), *((step.module, step.node) for step in end.steps if step.how != "write")]
    alone = all(_reads(where, name) == 1 for where, name in names if isinstance(name, ast.Name))
    # A named constant states the intent, so the code that deviates from it is wrong.
    if isinstance(end.node, ast.Constant) and end.steps[-1].how != "argument":
        return None
    return Decided(end.module.code(end.node), alone)


def constant_behind(project: Project, argument: Argument | None) -> Code | None:
    """Return the single literal that an argument refers to: `classes = 9`, `CONFIG = {"classes": 9}`."""
    found = node_of(project, Code(argument.location, argument.text)) if argument is not None else None
    if found is None or not isinstance(found[1], (ast.Name, ast.Attribute, ast.Subscript)):
        return None
    end = origin(found[0], found[1])
    if not end.certain or end.path or end.writes or not isinstance(end.node, ast.Constant):
        return None
    return end.module.code(end.node) if isinstance(end.node.value, int) else None


def _reads(module: Module, name: ast.Name) -> int:
    """Count the reads of a name in its scope."""
    scope = module.index.lookup(name.id, module.scope(name))
    return sum(
        1
        for node in module.nodes(ast.Name)
        if node.id == name.id
        and isinstance(node.ctx, ast.Load)
        and module.index.lookup(name.id, module.scope(node)) is scope
    )

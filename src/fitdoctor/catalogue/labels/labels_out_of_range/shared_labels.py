"""Labels whose array is also used elsewhere, such as in the features: edit only their use as labels."""

from __future__ import annotations

import ast

from fitdoctor.catalogue.knowledge.data.data_trail import node_of
from fitdoctor.facts import ArrayFacts, Unknown
from fitdoctor.records import replace
from fitdoctor.source.module import Module
from fitdoctor.source.origins import origin
from fitdoctor.source.project import Project


def as_labels_alone(labels: ArrayFacts, project: Project | Unknown) -> ArrayFacts:
    """Return the labels with code that only affects them: the last assignment before fit, or its argument."""
    made = node_of(project, labels.code)
    used = node_of(project, labels.use)
    if made is None or used is None or not isinstance(used[1], ast.expr) or not isinstance(made[1], ast.expr):
        return labels
    if not _is_computed_with(made[0], made[1]):
        return labels
    for step in origin(used[0], used[1]).steps:
        node = step.node
        statement = step.module.parent(node)
        if not isinstance(statement, ast.Assign) or statement.value is not node or step.how == "write":
            continue
        if isinstance(node, ast.expr) and not _is_computed_with(step.module, node):
            return replace(labels, code=step.module.code(node))
    return replace(labels, code=Unknown("the array is also used elsewhere"))


def as_one_piece(labels: ArrayFacts, project: Project | Unknown) -> ArrayFacts:
    """Return the labels before a loader slices them, if it does nothing else."""
    found = node_of(project, labels.code)
    node = found[1] if found is not None else None
    if found is None or not isinstance(node, ast.Subscript) or not isinstance(node.value, ast.Name):
        return labels
    module, name = found[0], node.value
    made = module.made_by(name)
    statement = module.parent(made)
    if made is name or not isinstance(statement, ast.Assign) or statement.value is not made:
        return labels
    scope = module.index.lookup(name.id, module.scope(name))
    reads = [
        read
        for read in module.reads.get(name.id, [])
        if module.index.lookup(name.id, module.scope(read)) is scope
    ]
    return replace(labels, code=module.code(made)) if all(_is_cut(module, read) for read in reads) else labels


def _is_cut(module: Module, read: ast.AST) -> bool:
    """Whether the expression is a slice `y[:60]`; comparing or indexing would change with the labels."""
    around = module.parent(read)
    return isinstance(around, ast.Subscript) and around.value is read and isinstance(around.slice, ast.Slice)


def _is_computed_with(module: Module, value: ast.expr) -> bool:
    """Whether the name of a value is used in a computation, not only passed on, split or printed."""
    statement = module.parent(value)
    target = (
        statement.targets[0] if isinstance(statement, ast.Assign) and len(statement.targets) == 1 else None
    )
    if not isinstance(target, ast.Name):
        return False
    scope = module.index.lookup(target.id, module.scope(target))
    end = module.places.span(value)[1]
    for read in module.reads.get(target.id, []):
        if module.index.lookup(target.id, module.scope(read)) is not scope:
            continue
        # `y = y + 1` reads the previous value of the name.
        if module.scope(read) is module.scope(target) and module.places.span(read)[0] < end:
            continue
        around = module.parent(read)
        if isinstance(around, (ast.BinOp, ast.UnaryOp)) or (
            isinstance(around, ast.Call) and _goes_into_arithmetic(module, around)
        ):
            return True
    return False


def _goes_into_arithmetic(module: Module, call: ast.Call) -> bool:
    """Whether a call computes new values from its arguments, as `np.sin(month)`."""
    name = module.resolve(call.func)
    counted = ("numpy.unique", "numpy.bincount", "numpy.array", "numpy.asarray", "numpy.max", "numpy.min")
    return name.startswith(("numpy.", "tensorflow.math.")) and name not in counted

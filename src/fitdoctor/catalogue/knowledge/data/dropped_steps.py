"""`ds.batch(32)` as a statement: it returns a new dataset, and the result is discarded."""

from __future__ import annotations

import ast
from collections.abc import Collection

from fitdoctor.catalogue.knowledge.data.pipeline_steps import BATCHING
from fitdoctor.diagnosis import Edit, Fix, Location
from fitdoctor.edits import fix
from fitdoctor.facts import DataFacts, FitFacts, Unknown
from fitdoctor.source.project import Project


def result_dropped(
    project: Project, call: FitFacts | Unknown, data: DataFacts, steps: Collection[str] = BATCHING
) -> tuple[Location, Fix] | None:
    """Return the stage whose result is discarded, on the name passed to `fit`, and its fix."""
    if not project or isinstance(call, Unknown) or isinstance(call.code, Unknown):
        return None
    module = project.module_at(call.code.location.path)
    given = call.code.argument("x", 0) if data.role == "training" else call.code.argument("validation_data")
    if module is None or given is None or not given.text.isidentifier():
        return None
    for statement in module.nodes(ast.Expr):
        node = statement.value
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            continue
        name = node.func.value
        if node.func.attr in steps and isinstance(name, ast.Name) and name.id == given.text:
            location = module.location(node)
            kept = Edit(location.start, f"{name.id} = ")
            return location, fix(f"assign the result of `{node.func.attr}`", (kept,))
    return None

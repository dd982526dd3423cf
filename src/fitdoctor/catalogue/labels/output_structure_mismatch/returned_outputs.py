"""Wrong keys in the dict of outputs that a custom `call` returns."""

from __future__ import annotations

import ast

from fitdoctor.diagnosis import Location
from fitdoctor.facts import DataFacts, ModelFacts, Unknown
from fitdoctor.source.project import Project


def misnamed_output(
    model: ModelFacts, data: DataFacts, names: tuple[str, ...], project: Project | Unknown
) -> tuple[Location, str, str] | None:
    """Return location and name of the output key that differs from losses and labels, and the name they use."""
    labels = {array.key for array in data.y} if data.y_structure == "dict" else set()
    wanted = [key for key in model.loss_keys if key in labels and key not in names]
    odd = [name for name in names if name not in labels and name not in model.loss_keys]
    if len(wanted) != 1 or len(odd) != 1 or isinstance(project, Unknown):
        return None
    owner = project.class_named(model.class_name)
    function = owner.module.method(owner, "call") if owner is not None else None
    written = [
        key
        for node in (ast.walk(function.node) if function is not None else ())
        if isinstance(node, ast.Dict)
        for key in node.keys
        if isinstance(key, ast.Constant) and key.value == odd[0]
    ]
    if function is None or len(written) != 1:
        return None
    return function.module.location(written[0]), odd[0], wanted[0]

"""Find labels that a program has but does not pass: a name that matches the features, an unused parameter."""

from __future__ import annotations

import ast

from fitdoctor.catalogue.knowledge.data.data_trail import node_of
from fitdoctor.catalogue.knowledge.data.generator_sources import expression_of
from fitdoctor.catalogue.knowledge.labels.paired_names import label_names_for
from fitdoctor.diagnosis import Edit
from fitdoctor.facts import Code, DataFacts, Unknown
from fitdoctor.source.index import names_in
from fitdoctor.source.module import FunctionInfo
from fitdoctor.source.project import Project


def labels_beside(project: Project | Unknown, features: Code) -> str:
    """Return the only name in scope that matches the features: `y_train` for `x_train`, `labels` for `images`; else ""."""
    found = node_of(project, features)
    if found is None or not isinstance(found[1], ast.Name):
        return ""
    module, name = found[0], found[1]
    known = [
        other
        for other in label_names_for(name.id)
        if module.index.lookup(other, module.scope(name)) is not None
    ]
    return known[0] if len(known) == 1 else ""


def returned_with_label(project: Project | Unknown, data: DataFacts) -> tuple[Edit, ...]:
    """Return the label that a `map` function receives but does not return."""
    for step in data.pipeline:
        found = expression_of(project, step.code) if step.operation == "map" else None
        call = found[1] if found is not None else None
        if found is None or not isinstance(call, ast.Call) or not call.args:
            continue
        function = found[0].definition(call.args[0])
        if not isinstance(function, FunctionInfo) or len(function.parameters) != 2:
            continue
        module, label = function.module, function.parameters[1]
        returned = [each.value for each in module.returns.get(function.node, [])]
        if isinstance(function.node, ast.Lambda):
            returned = [function.node.body]
        if len(returned) != 1 or returned[0] is None or isinstance(returned[0], (ast.Tuple, ast.Dict)):
            continue
        body = function.node.body if isinstance(function.node.body, list) else [function.node.body]
        if any(label in names_in(part) for part in body):
            continue
        text = f"{module.segment(returned[0])}, {label}"
        lambda_ = isinstance(function.node, ast.Lambda)
        return (Edit(module.location(returned[0]), f"({text})" if lambda_ else text),)
    return ()


def sliced_with_labels(project: Project | Unknown, data: DataFacts) -> tuple[Edit, ...]:
    """Change `from_tensor_slices(x)` to `from_tensor_slices((x, y))` if y is in scope and no stage unpacks x."""
    source = data.pipeline[0].code if data.pipeline else Unknown("no pipeline")
    if isinstance(source, Unknown) or not source.name.endswith("from_tensor_slices"):
        return ()
    if any(step.operation in ("map", "filter", "flat_map") for step in data.pipeline):
        return ()
    given = source.argument("tensors", 0)
    labels = labels_beside(project, Code(given.location, given.text)) if given is not None else ""
    return (Edit(given.location, f"({given.text}, {labels})"),) if given is not None and labels else ()

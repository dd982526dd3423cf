"""One-hot labels encoded per batch: only as wide as the largest class in that batch."""

from __future__ import annotations

import ast

from fitdoctor.catalogue.knowledge.data.generator_sources import batches_behind, own_nodes
from fitdoctor.diagnosis import Fix
from fitdoctor.edits import fix, set_argument
from fitdoctor.facts import Code, DataFacts, Unknown
from fitdoctor.source.project import Project


def counted_in_each_batch(data: DataFacts | Unknown, project: Project) -> Code | None:
    """Return the `to_categorical` call without `num_classes` in a generator or PyDataset."""
    if isinstance(data, Unknown) or data.form not in ("generator", "pydataset"):
        return None
    for function, _value in batches_behind(project, data.code):
        for node in own_nodes(function):
            if isinstance(node, ast.Call) and _counts_itself(node):
                if function.module.resolve(node.func).endswith("utils.to_categorical"):
                    return function.module.code(node)
    return None


def _counts_itself(call: ast.Call) -> bool:
    return len(call.args) == 1 and not any(
        keyword.arg in (None, "num_classes", "nb_classes") for keyword in call.keywords
    )


def told_classes(call: Code, units: int) -> Fix:
    """Set `num_classes`, so that every batch has the same number of columns."""
    title = f"set `num_classes={units}`: a single batch does not contain every class"
    return fix(title, set_argument(call, "num_classes", str(units), position=1))

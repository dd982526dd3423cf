"""What determines the structure of the batches of a dataset or generator, and edits that change it."""

from __future__ import annotations

import ast

from fitdoctor.catalogue.knowledge.data.generator_sources import batches_behind, expression_of
from fitdoctor.catalogue.knowledge.data.pipeline_steps import with_step_after, with_step_before
from fitdoctor.diagnosis import Edit
from fitdoctor.edits import spell, wrap
from fitdoctor.facts import Code, DataFacts, Unknown
from fitdoctor.source.callees import function_given, returned_by
from fitdoctor.source.definitions import argument_of
from fitdoctor.source.module import Module
from fitdoctor.source.origins import origin
from fitdoctor.source.project import Project


def as_tuple(module: Module, node: ast.List) -> Edit:
    """Replace a list with a tuple."""
    text = module.segment(node)
    comma = "," if len(node.elts) == 1 and not text[1:-1].rstrip().endswith(",") else ""
    return Edit(module.location(node), f"({text[1:-1]}{comma})")


def last_step(data: DataFacts) -> Code | Unknown:
    """Return the last pipeline stage with a place in the source, otherwise what created the data."""
    return next((step.code for step in reversed(data.pipeline) if isinstance(step.code, Code)), data.code)


def mapped(data: DataFacts, end: Code | Unknown, call: str) -> tuple[Edit, ...]:
    """Add a `.map(…)` stage after the last one of a dataset, or before it if it prefetches."""
    if data.form != "dataset":
        return ()
    if data.pipeline and data.pipeline[-1].operation == "prefetch" and data.pipeline[-1].code == end:
        return with_step_before(end, call)
    return with_step_after(end, call)


def grouped(project: Project, source: Code | Unknown, inputs: int) -> tuple[Edit, ...]:
    """Add parentheses around the inputs: in a literal tuple, or in a call with one."""
    found = expression_of(project, source)
    if found is None or not isinstance(found[1], (ast.Call, ast.Tuple)):
        return ()
    module, node = found
    given = node.args if isinstance(node, ast.Call) else [node]
    only = given[0] if len(given) == 1 else None
    parts = only.elts if isinstance(only, ast.Tuple) else given
    if len(parts) <= inputs:
        return ()
    first, last = module.location(parts[0]), module.location(parts[inputs - 1])
    return (Edit(first.start, "("), Edit(last.end, ")"))


def structuring(data: DataFacts, size: int, project: Project) -> Code | Unknown:
    """Return what structures an element: the tuple that a mapped function returns, a `zip`, a batch, or the source."""
    sized = [step for step in data.pipeline if len(step.specs) == size and isinstance(step.code, Code)]
    for step in reversed(sized):
        if step.operation == "map":
            return _returned_in(project, step.code)
    return next(
        (step.code for step in sized),
        data.pipeline[0].code if data.pipeline else _given_out(data, size, project),
    )


def _returned_in(project: Project, code: Code | Unknown) -> Code | Unknown:
    """Return the tuple that the function of a `map` returns; the `map` itself if that is not evident."""
    module, node = expression_of(project, code) or (None, None)
    mapped_by = argument_of(node, "map_func", 0) if isinstance(node, ast.Call) else None
    function = function_given(module, mapped_by) if module is not None and mapped_by is not None else None
    returned = returned_by(function) if function is not None else None
    return (
        function.module.code(returned) if function is not None and isinstance(returned, ast.Tuple) else code
    )


def _given_out(data: DataFacts, size: int, project: Project) -> Code | Unknown:
    """Return the tuple of this many parts that a generator yields or a PyDataset returns."""
    for function, value in batches_behind(project, data.code):
        if isinstance(value, (ast.Tuple, ast.List)) and len(value.elts) == size:
            return function.module.code(value)
    return Unknown("the data has no pipeline")


def samples_as_arrays(module: Module, batch: ast.expr) -> tuple[Edit, ...]:
    """Convert lists of samples, collected one by one, to arrays."""
    edits: list[Edit] = []
    for part in batch.elts[:2] if isinstance(batch, ast.Tuple) else []:
        end = origin(module, part)
        if end.path or any(step.how not in ("name", "write") for step in end.steps):
            continue  # an element of a list is not a list
        made = end.node
        if isinstance(made, ast.ListComp) or isinstance(made, ast.List) and not made.elts:
            code = module.code(part)
            numpy, imports = spell(code, "numpy", "np")
            edits += [*wrap(code, f"{numpy}.array({{}})"), *imports]
    return tuple(dict.fromkeys(edits))

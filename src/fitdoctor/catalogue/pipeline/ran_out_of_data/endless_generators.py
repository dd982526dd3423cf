"""Edits that restart a generator when it ends, because `fit` needs more than one pass over it."""

from __future__ import annotations

import ast

from fitdoctor.catalogue.knowledge.data.data_trail import node_of
from fitdoctor.catalogue.knowledge.data.generator_sources import loop_of
from fitdoctor.diagnosis import Edit
from fitdoctor.edits import append_arguments, insert_before
from fitdoctor.facts import DataFacts, FitFacts, Unknown
from fitdoctor.source.module import FunctionInfo, Module
from fitdoctor.source.project import Project


def going_on_for_ever(
    function: FunctionInfo | None, fit: FitFacts, data: DataFacts, project: Project | Unknown
) -> tuple[Edit, ...]:
    """Wrap the loop that yields in `while True:`, and set the number of steps if it is known."""
    steps: tuple[Edit, ...] = ()
    if not fit.steps_per_epoch:
        if not isinstance(data.batches, int):
            return ()
        steps = append_arguments(fit.code, f"steps_per_epoch={data.batches}")
    if function is None:
        found = node_of(project, data.code)
        written = _as_function(*found) if found is not None else ()
    else:
        written = _in_function(function)
    return (*written, *steps) if written else ()


def _in_function(function: FunctionInfo) -> tuple[Edit, ...]:
    loop = loop_of(function)
    if not isinstance(loop, ast.For) or any(map(_long_text, ast.walk(loop))):
        return ()
    code = function.module.code(loop)
    inner = code.text.replace("\n", "\n    ")
    return (Edit(code.location, f"while True:\n{code.indent}    {inner}"),)


def _as_function(module: Module, node: ast.AST) -> tuple[Edit, ...]:
    """Replace `(… for … in …)`, which can be read only once, with a generator function."""
    written = module.made_by(node) if isinstance(node, ast.expr) else node
    if not isinstance(written, ast.GeneratorExp) or any(map(_long_text, ast.walk(written))):
        return ()
    code = module.code(written)
    name = "batches_for_ever"
    lines = [f"def {name}():", "while True:"]
    for part in written.generators:
        if part.is_async:
            return ()
        lines.append(f"for {module.segment(part.target)} in {module.segment(part.iter)}:")
        lines += [f"if {module.segment(condition)}:" for condition in part.ifs]
    lines.append(f"yield {module.segment(written.elt)}")
    text = "\n".join(f"{code.indent * bool(at)}{'    ' * at}{line}" for at, line in enumerate(lines))
    taken = any(isinstance(each, ast.Name) and each.id == name for each in module.nodes(ast.Name))
    if taken or "\n" in "".join(lines):
        return ()
    # A call with a single argument shares its parentheses with the generator expression.
    around = module.parent(written)
    bare = isinstance(around, ast.Call) and not code.text.startswith("(")
    return () if bare else (*insert_before(code, f"{text}\n"), Edit(code.location, f"{name}()"))


def _long_text(node: ast.AST) -> bool:
    """Return whether text spans several lines, which indenting would change."""
    is_text = isinstance(node, ast.JoinedStr) or (
        isinstance(node, ast.Constant) and isinstance(node.value, str)
    )
    return is_text and node.lineno != node.end_lineno  # type: ignore[attr-defined]

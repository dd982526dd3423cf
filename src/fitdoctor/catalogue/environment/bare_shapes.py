"""A number where Keras 3 expects a shape: `Input(shape=(10))`, which is `Input(shape=10)`."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fitdoctor.catalogue import Cause
from fitdoctor.catalogue.graph.traced import module_of, raised_here
from fitdoctor.diagnosis import Confidence, Edit, Evidence, Finding
from fitdoctor.edits import fix
from fitdoctor.facts import FailureFacts, Unknown
from fitdoctor.patterns import pattern
from fitdoctor.source.keras_names import INPUTS
from fitdoctor.source.module import CallSite, Module
from fitdoctor.source.project import Project

_SAID = pattern(r"Cannot convert '(?P<number>\d+)' to a shape\.")


def bare_numbers(cause: Cause, module: Module) -> Iterator[Finding]:
    """Report input shapes that are certainly numbers."""
    for site in module.calls:
        given = _shape_given(site)
        if given is not None and _is_number(module, given):
            yield _finding(cause, module, given, Confidence.LIKELY, [])


def refused_number(cause: Cause, failure: FailureFacts, project: Project | Unknown) -> Iterator[Finding]:
    """Report the number that Keras rejected as a shape."""
    said, frame = _SAID.search(failure.message), failure.last_user_frame
    if said is None or frame is None:
        return
    evidence, module = [raised_here(failure)], module_of(project, frame)
    for site in module.calls if module is not None else ():
        given = _shape_given(site)
        if module is not None and given is not None and _is_number(module, given):
            yield _finding(cause, module, given, Confidence.CERTAIN, evidence)
            return
    number = said["number"]
    yield cause.finding(
        f"`{number}` is a number, but Keras 3 expects a shape",
        subject="input shape of the model",
        location=frame.location,
        evidence=evidence,
        fixes=[fix(f"write a tuple, with a comma: `({number},)`")],
        confidence=Confidence.CERTAIN,
    )


def _shape_given(site: CallSite) -> ast.expr | None:
    if not site.name.startswith("keras."):
        return None  # Keras 2 (`tf_keras`) accepts a number
    if site.name in INPUTS:
        return site.argument("shape", 0)
    return site.argument("input_shape") if site.name.startswith("keras.layers.") else None


def _is_number(module: Module, given: ast.expr) -> bool:
    """Return whether it is a literal or counted integer: `10`, `len(columns)`, `x.shape[1]`."""
    made = module.made_by(given)
    if isinstance(made, ast.Constant):
        return isinstance(made.value, int) and not isinstance(made.value, bool)
    if isinstance(made, ast.Call):
        return isinstance(made.func, ast.Name) and made.func.id == "len"
    if not isinstance(made, ast.Subscript) or not isinstance(made.slice, (ast.Constant, ast.UnaryOp)):
        return False
    return isinstance(made.value, ast.Attribute) and made.value.attr == "shape"


def _finding(
    cause: Cause, module: Module, given: ast.expr, confidence: Confidence, evidence: list[Evidence]
) -> Finding:
    text, here = module.segment(given), module.location(given)
    line = module.line_text(here.line, here.cell)
    # `shape=(10)` already has parentheses, which are not part of the number.
    enclosed = line[: here.column - 1].replace(" ", "").endswith("=(")
    edit = Edit(here.end, ",") if enclosed else Edit(here, f"({text},)")
    return cause.finding(
        f"`{text}` is a number, but Keras 3 expects a shape, and a one-element tuple needs a comma",
        subject="input shape of the model",
        location=here,
        evidence=[Evidence(claim="shape", observed=text, expected=f"({text},)"), *evidence],
        fixes=[fix(f"write `({text},)`", (edit,))],
        confidence=confidence,
    )

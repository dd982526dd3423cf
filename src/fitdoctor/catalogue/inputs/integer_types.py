"""Two types of whole numbers in one operation: TensorFlow takes int32 and int64 for strangers."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fitdoctor.catalogue import Cause
from fitdoctor.catalogue.graph.traced import at_frame, module_of, raised_here
from fitdoctor.diagnosis import Confidence, Edit, Evidence, Finding, Fix
from fitdoctor.edits import fix, spell
from fitdoctor.facts import FailureFacts, Frame, Unknown
from fitdoctor.failure.patterns import dtype_mismatch
from fitdoctor.patterns import pattern
from fitdoctor.source.module import Module
from fitdoctor.source.project import Project

_WHOLE = pattern(r"u?int\d{1,2}")
_SIMPLE = (ast.Name, ast.Attribute, ast.Subscript)


def refused(cause: Cause, failure: FailureFacts, project: Project | Unknown) -> Iterator[Finding]:
    """TensorFlow names both types, and both are of whole numbers."""
    said, frame = dtype_mismatch(failure.message), failure.last_user_frame
    if (
        said is None
        or frame is None
        or failure.type not in ("TypeError", "ValueError", "InvalidArgumentError")
    ):
        return
    if not all(_WHOLE.fullmatch(name) for name in (said.found, said.expected)) or said.found == said.expected:
        return
    operation = f" `{said.operation}`" if said.operation else ""
    yield cause.finding(
        f"the operation{operation} gets {said.expected} and {said.found}: both must be of one type",
        subject="types of an operation",
        location=frame.location,
        evidence=[
            Evidence("types that met", said.found, said.expected, "failure.message", frame.location),
            raised_here(failure),
        ],
        fixes=list(_cast(module_of(project, frame), frame)) or [fix("cast one to the type of the other")],
        confidence=Confidence.CERTAIN,
    )


def _cast(module: Module | None, frame: Frame) -> Iterator[Fix]:
    """The first operand as the second, where the line has one operation of two tensors."""
    if module is None:
        return
    pairs = [pair for pair in _pairs(module) if at_frame(module, pair[0], frame)]
    if len(pairs) != 1 or not all(isinstance(part, _SIMPLE) for part in pairs[0]):
        return
    one, other = pairs[0]
    tf, imports = spell(module.code(one), "tensorflow", "tf")
    cast = f"{tf}.cast({module.segment(one)}, {module.segment(other)}.dtype)"
    yield fix(f"cast one to the type of the other: `{cast}`", (Edit(module.location(one), cast),), imports)


def _pairs(module: Module) -> Iterator[tuple[ast.expr, ast.expr]]:
    for node in module.nodes(ast.BinOp):
        yield node.left, node.right
    for compared in module.nodes(ast.Compare):
        if len(compared.comparators) == 1:
            yield compared.left, compared.comparators[0]
    for call in module.calls:
        if call.name.startswith("tensorflow.") and len(call.node.args) == 2:
            if call.name.rpartition(".")[2] in (
                "equal",
                "add",
                "subtract",
                "multiply",
                "not_equal",
                "greater",
            ):
                yield call.node.args[0], call.node.args[1]

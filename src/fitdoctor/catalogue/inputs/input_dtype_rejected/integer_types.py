"""Integer dtypes: int32 and int64 do not mix, and floats are not accepted as indices or labels."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from fitdoctor.catalogue import Cause
from fitdoctor.diagnosis import Confidence, Edit, Evidence, Finding, Fix
from fitdoctor.edits import fix, spell
from fitdoctor.facts import FailureFacts, Frame, Unknown
from fitdoctor.failure.failed_line import at_frame, module_of, raised_here
from fitdoctor.failure.patterns import DtypeMismatch, dtype_mismatch
from fitdoctor.source.module import Module
from fitdoctor.source.project import Project

_WHOLE = re.compile(r"u?int\d{1,2}")
_SIMPLE = (ast.Name, ast.Attribute, ast.Subscript)


def refused(cause: Cause, failure: FailureFacts, project: Project | Unknown) -> Iterator[Finding]:
    """Report an operation on two different integer dtypes."""
    said, frame = dtype_mismatch(failure.message), failure.last_user_frame
    if (
        said is None
        or frame is None
        or failure.type not in ("TypeError", "ValueError", "InvalidArgumentError")
    ):
        return
    if not all(_WHOLE.fullmatch(name) for name in (said.found, said.expected)) or said.found == said.expected:
        return
    yield cause.finding(
        f"the operation{_named(said)} receives {said.expected} and {said.found}, but both must have the same dtype",
        frame.location,
        Evidence("dtype of the operand", said.found, said.expected, "failure.message", frame.location),
        raised_here(failure),
        *(list(_cast(module_of(project, frame), frame)) or [fix("cast one to the dtype of the other")]),
        subject="dtypes of an operation",
        confidence=Confidence.CERTAIN,
    )


def wants_whole(said: DtypeMismatch) -> bool:
    """Whether an operation accepts only integers but received floats."""
    return (
        bool(said.allowed)
        and all(_WHOLE.fullmatch(name) for name in said.allowed)
        and said.found in ("float", "double", "half", "float16", "float32", "float64", "bfloat16")
    )


def floats_refused(cause: Cause, failure: FailureFacts, project: Project | Unknown) -> Iterator[Finding]:
    """Report labels or indices that are floats, such as labels from a table or the result of a division."""
    said, frame = dtype_mismatch(failure.message), failure.last_user_frame
    if said is None or frame is None or not wants_whole(said):
        return
    found = {"float": "float32", "double": "float64"}.get(said.found, said.found)
    yield cause.finding(
        f"the operation{_named(said)} expects integer labels or indices, but receives {found}",
        frame.location,
        Evidence("dtype received", found, ", ".join(said.allowed), "failure.message", frame.location),
        raised_here(failure),
        fix("cast the labels or indices: `tf.cast(labels, tf.int32)`"),
        subject="dtypes of an operation",
        confidence=Confidence.CERTAIN,
    )


def _named(said: DtypeMismatch) -> str:
    return f" `{said.operation}`" if said.operation else ""


def _cast(module: Module | None, frame: Frame) -> Iterator[Fix]:
    """Cast the first operand to the dtype of the second, if the line has one operation on two tensors."""
    if module is None:
        return
    pairs = [pair for pair in _pairs(module) if at_frame(module, pair[0], frame)]
    if len(pairs) != 1 or not all(isinstance(part, _SIMPLE) for part in pairs[0]):
        return
    one, other = pairs[0]
    tf, imports = spell(module.code(one), "tensorflow", "tf")
    cast = f"{tf}.cast({module.segment(one)}, {module.segment(other)}.dtype)"
    yield fix(f"cast one to the dtype of the other: `{cast}`", (Edit(module.location(one), cast),), imports)


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

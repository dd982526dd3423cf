"""Layer sizes that are not an `int`: NumPy integers, which Keras 2 accepts, or strings."""

from __future__ import annotations

from collections.abc import Iterator

from fitdoctor.catalogue import Cause
from fitdoctor.diagnosis import Edit, Evidence, Finding
from fitdoctor.edits import fix
from fitdoctor.facts import Code, FailureFacts, Unknown
from fitdoctor.failure.failed_line import calls_at
from fitdoctor.failure.patterns import rejected_integer
from fitdoctor.source.models.layer_settings import POSITIONAL
from fitdoctor.source.project import Project

_REMEDY = "convert it with `int(…)`"


def rejected_units(cause: Cause, message: str, code: Code | Unknown) -> Iterator[Finding]:
    """Report layer units that NumPy computes, from source."""
    units = code.argument("units", 0) if isinstance(code, Code) else None
    if units is not None and rejected_integer(message) is not None:
        yield cause.finding(
            "`units` is a NumPy number, but Keras 3 expects an `int`",
            units.location,
            Evidence("argument of the layer", units.text, "an `int`"),
            fix(_REMEDY, (Edit(units.location, f"int({units.text})"),)),
            subject="argument units",
        )


def rejected_size(cause: Cause, failure: FailureFacts, project: Project) -> Iterator[Finding]:
    """Report a NumPy integer that a Keras 3 layer rejected."""
    said = rejected_integer(failure.message)
    if said is None or failure.type not in ("ValueError", "TypeError"):
        return
    written = _written(said.name, failure, project)
    edits = [] if written is None else [Edit(written.location, f"int({written.text})")]
    seen = Evidence("argument of the layer", said.number or "a different type", "an `int`", "failure.message")
    yield cause.certain(
        f"`{said.name}` is {said.number or 'a number'}, but not an `int`: Keras 3 rejects NumPy integers and strings",
        written.location if written is not None else failure.location,
        seen,
        fix(_REMEDY, edits),
        subject=f"argument {said.name}",
    )


def _written(name: str, failure: FailureFacts, project: Project) -> Code | None:
    """Return the argument of that name, if the failing line creates a single layer."""
    found = []
    for call in calls_at(failure, project):
        order = POSITIONAL.get(call.name.rpartition(".")[2], ())
        argument = call.argument(name, order.index(name) if name in order else None)
        if argument is not None and ".layers." in call.name:
            found.append(call.module.code(argument))
    return found[0] if len(found) == 1 else None

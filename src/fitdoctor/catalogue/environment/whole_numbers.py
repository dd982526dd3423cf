"""Layer sizes that are not an `int`: NumPy integers, which Keras 2 accepts, or strings."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fitdoctor.catalogue import Cause
from fitdoctor.catalogue.graph.traced import at_frame, module_of
from fitdoctor.diagnosis import Confidence, Edit, Evidence, Finding
from fitdoctor.edits import fix
from fitdoctor.facts import Code, FailureFacts, Frame, Unknown
from fitdoctor.patterns import pattern
from fitdoctor.source.models.layer_settings import POSITIONAL
from fitdoctor.source.module import Module
from fitdoctor.source.project import Project

_REFUSED = pattern(
    r"invalid value for (?:argument )?`(?P<name>\w+)`, expected a positive integer\. "
    r"Received: \w+=(?P<number>[1-9]\d*)(?![\d.])"
    r"|`(?P<named>\w+)` must be a positive integer\. Received: \w+=(?P<given>[1-9]\d*) \(of type (?:u?int\d+|str)\)"
    r"|Expected an integer value for `(?P<wanted>\w+)`, got <class 'numpy\.u?int\d+'>"
    r"|(?P<state>output|state)_size must be an integer"
)


def is_refused_number(message: str) -> bool:
    """Return whether a message rejects an integer because of its type."""
    return _REFUSED.search(message) is not None


def numpy_number(cause: Cause, failure: FailureFacts, project: Project | Unknown) -> Iterator[Finding]:
    """Report a NumPy integer that a Keras 3 layer rejected."""
    said = _REFUSED.search(failure.message)
    if said is None or failure.type not in ("ValueError", "TypeError"):
        return
    name = said["name"] or said["named"] or said["wanted"] or "units"
    number = said["number"] or said["given"] or ""
    frame = failure.last_user_frame
    module = module_of(project, frame)
    written = _written(module, frame, name) if module is not None and frame is not None else None
    edits: tuple[Edit, ...] = ()
    where = frame.location if frame is not None else None
    if module is not None and written is not None:
        where = module.location(written)
        edits = (Edit(where, f"int({module.segment(written)})"),)
    yield cause.finding(
        f"`{name}` is {number or 'a number'}, but not an `int`: Keras 3 rejects NumPy integers and strings",
        subject=f"argument {name}",
        location=where,
        evidence=[
            Evidence(
                claim="argument of the layer",
                observed=number or "a different type",
                expected="an `int`",
                fact="failure.message",
            )
        ],
        fixes=[fix("convert it with `int(…)`", edits)],
        confidence=Confidence.CERTAIN,
    )


def numpy_units(cause: Cause, message: str, code: Code | Unknown) -> Iterator[Finding]:
    """Report layer units that NumPy computes, from source."""
    said = _REFUSED.search(message)
    units = code.argument("units", 0) if isinstance(code, Code) else None
    if said is None or units is None:
        return
    yield cause.finding(
        "`units` is a NumPy number, but Keras 3 expects an `int`",
        subject="argument units",
        location=units.location,
        evidence=[Evidence("argument of the layer", units.text, "an `int`")],
        fixes=[fix("convert it with `int(…)`", (Edit(units.location, f"int({units.text})"),))],
        confidence=Confidence.LIKELY,
    )


def _written(module: Module, frame: Frame, name: str) -> ast.expr | None:
    """Return the argument of that name, if the failing line creates a single layer."""
    found = []
    for call in module.calls:
        if ".layers." not in call.name or not at_frame(module, call.node, frame):
            continue
        order = POSITIONAL.get(call.name.rpartition(".")[2], ())
        argument = call.argument(name, order.index(name) if name in order else None)
        if argument is not None:
            found.append(argument)
    return found[0] if len(found) == 1 else None

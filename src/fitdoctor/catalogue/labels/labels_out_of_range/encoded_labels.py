"""Labels that `to_categorical` has no column for."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from fitdoctor.catalogue import Cause
from fitdoctor.diagnosis import Confidence, Edit, Evidence, Finding
from fitdoctor.edits import fix, unsafe, wrap
from fitdoctor.facts import FailureFacts, Unknown
from fitdoctor.failure.called import called_in
from fitdoctor.failure.failed_line import at_frame, module_of
from fitdoctor.source.project import Project

_SAID = re.compile(r"index (?P<value>-?\d+) is out of bounds for axis 1 with size (?P<size>\d+)")
_ENCODER = "to_categorical"


def refused(cause: Cause, failure: FailureFacts, project: Project | Unknown) -> Iterator[Finding]:
    """Report the label and the number of columns that NumPy names."""
    said = _SAID.search(failure.message) if failure.type == "IndexError" else None
    frame, last = failure.last_user_frame, failure.frames[-1] if failure.frames else None
    if said is None or frame is None or last is None:
        return
    # Keras filters its own frames, so the user's line may be the last.
    if last.function != _ENCODER and (last is not frame or called_in(frame) != _ENCODER):
        return
    value, size = int(said["value"]), int(said["size"])
    shift = "if the labels start at 1, subtract 1: `to_categorical(y - 1, …)`"
    yield cause.finding(
        f"label {value} has no column: `{_ENCODER}` creates {size}, for classes 0 to {size - 1}",
        frame.location,
        Evidence(
            "label found", str(value), f"0 to {size - 1}", fact="failure.message", location=frame.location
        ),
        *([unsafe(shift, _shifted(failure, project))] if value == size else []),
        fix("renumber the classes from 0 without gaps, or set `num_classes` to the largest label plus 1"),
        subject="labels",
        confidence=Confidence.CERTAIN,
    )


def _shifted(failure: FailureFacts, project: Project | Unknown) -> tuple[Edit, ...]:
    """Subtract 1 from the labels in the only call on the line."""
    frame = failure.last_user_frame
    module = module_of(project, frame)
    if module is None or frame is None:
        return ()
    calls = [site.node for site in module.calls if site.name.rpartition(".")[2] == _ENCODER]
    here = [call for call in calls if at_frame(module, call, frame)]
    given = here[0].args[0] if len(here) == 1 and here[0].args else None
    simple = isinstance(given, (ast.Name, ast.Attribute, ast.Subscript))
    return wrap(module.code(given), "{} - 1") if given is not None and simple else ()

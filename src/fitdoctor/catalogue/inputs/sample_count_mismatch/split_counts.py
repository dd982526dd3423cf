"""Arrays of different lengths passed to `train_test_split` or `from_tensor_slices`."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from fitdoctor.catalogue import Cause
from fitdoctor.diagnosis import Confidence, Evidence, Finding, Location
from fitdoctor.edits import fix
from fitdoctor.facts import FailureFacts, Unknown
from fitdoctor.failure.failed_line import at_frame, module_of
from fitdoctor.source.project import Project

_SAID = re.compile(
    r"Found input variables with inconsistent numbers of samples: \[(?P<sizes>[\d, ]{1,200})\]"
)


def refused(cause: Cause, failure: FailureFacts, project: Project | Unknown) -> Iterator[Finding]:
    """Report the sample counts in the message."""
    said, frame = _SAID.search(failure.message), failure.last_user_frame
    if said is None or frame is None:
        return
    called = {inner.function for inner in failure.frames if inner.library}
    if called and "train_test_split" not in called:
        return  # an estimator of scikit-learn checks its data in the same words
    sizes = [int(size) for size in said["sizes"].split(",")]
    odd = next((at for at, size in enumerate(sizes) if size != sizes[0]), 0)
    yield cause.finding(
        f"the arrays to split have {' and '.join(f'{size:,}' for size in sizes)} samples, but need the same number",
        _made(failure, project, odd) or frame.location,
        Evidence("samples", said["sizes"], "the same number", "failure.message", frame.location),
        fix("build the arrays from the same samples"),
        subject="numbers of samples",
        confidence=Confidence.CERTAIN,
    )


_SLICED = re.compile(r"Dimensions (?P<first>\d+) and (?P<other>\d+) are not compatible")


def sliced(cause: Cause, failure: FailureFacts, project: Project | Unknown) -> Iterator[Finding]:
    """Report `from_tensor_slices` of arrays whose first axes differ."""
    said, frame = _SLICED.search(failure.message), failure.last_user_frame
    module = module_of(project, frame)
    if said is None or frame is None or failure.type != "ValueError":
        return
    calls = [
        site.node
        for site in (module.calls if module is not None else ())
        if site.name.endswith(".from_tensor_slices")
        and module is not None
        and at_frame(module, site.node, frame)
    ]
    if not calls and "from_tensor_slices" not in frame.text:
        return
    yield cause.finding(
        f"the arrays in `from_tensor_slices` have {said['first']} and {said['other']} samples, but need the same number",
        module.location(calls[0]) if calls and module is not None else frame.location,
        Evidence("samples", said["other"], said["first"], "failure.message", frame.location),
        fix("build the arrays from the same samples"),
        subject="numbers of samples",
        confidence=Confidence.CERTAIN,
    )


def _made(failure: FailureFacts, project: Project | Unknown, position: int) -> Location | None:
    """Return where the array of another length is created."""
    frame = failure.last_user_frame
    module = module_of(project, frame)
    if module is None or frame is None:
        return None
    split = [
        site.node
        for site in module.calls
        if site.name.startswith("sklearn.") and at_frame(module, site.node, frame)
    ]
    if len(split) != 1 or position >= len(split[0].args):
        return None
    end = module.origin(split[0].args[position])
    known = end.certain and not end.path and not isinstance(end.node, ast.Name)
    return end.module.location(end.node) if known else None

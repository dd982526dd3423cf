"""Names whose dtype or shape changes in a branch or loop iteration, parsed from TensorFlow's error."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from fitdoctor.catalogue import Cause
from fitdoctor.diagnosis import Confidence, Evidence, Finding, Fix, Location
from fitdoctor.edits import spell, unsafe, wrap
from fitdoctor.facts import FailureFacts, Unknown
from fitdoctor.failure.failed_line import function_at, module_of, stands_at
from fitdoctor.records import dataclass
from fitdoctor.source.project import Project
from fitdoctor.source.traced.symbolic import own_nodes

_IN_BRANCHES = re.compile(
    r"""^['"](?P<name>[\w.\[\]]+)['"]\ has\ (?P<what>dtype|shape)\ (?P<first>.{1,80}?)\ in\ the\ (?:main|TRUE)\ branch,
    \ but\ (?:has\ )?(?:dtype|shape)[ =](?P<second>.{1,80}?)\ in\ the\ (?:else|FALSE)\ branch""",
    re.VERBOSE | re.MULTILINE,
)
_IN_LOOP = re.compile(
    r"""^['"](?P<name>[\w.\[\]]+)['"]\ has\ (?P<what>dtype|shape)\ (?P<first>.{1,80}?)\ before\ the\ loop,
    \ but\ (?:has\ )?(?:dtype|shape)[ =](?P<second>.{1,80}?)\ after\ one\ iteration""",
    re.VERBOSE | re.MULTILINE,
)


@dataclass(frozen=True)
class Changed:
    """A name whose dtype or shape differs between branches or iterations."""

    name: str
    what: str
    """`dtype` or `shape`."""
    first: str
    second: str
    location: Location | None
    """The line that assigns the differing value."""


def changed_in(part: str, failure: FailureFacts, project: Project | Unknown) -> Changed | None:
    """Parse from the failure which name changes in a `branch` or `loop`."""
    said = (_IN_BRANCHES if part == "branch" else _IN_LOOP).search(failure.message)
    if said is None:
        return None
    frame = failure.last_user_frame
    location = next(_stores(said["name"], failure, project), frame.location if frame is not None else None)
    return Changed(said["name"], said["what"], said["first"], said["second"], location)


def changed_finding(
    cause: Cause,
    failure: FailureFacts,
    changed: Changed | None,
    words: tuple[str, str, str],
    otherwise: tuple[str, str],
    fixes: list[Fix],
) -> Finding:
    """Return the finding for a branch or loop that TensorFlow rejected because a value changes in it.

    Args:
        cause: the cause to report.
        failure: the failure.
        changed: the name that changes, if TensorFlow reports it.
        words: what such a name is called, and where it has its first and second value.
        otherwise: the message and subject to use without a name.
        fixes: the fixes.
    """
    frame = failure.last_user_frame
    message, subject = otherwise
    location = frame.location if frame is not None else None
    called, first, second = words
    if changed is not None:
        message = f"`{changed.name}` has {changed.what} {changed.first} {first} and {changed.second} {second}"
        subject, location = f"{called} {changed.name}", changed.location
    part = called.split()[0]
    return cause.finding(
        message,
        location,
        Evidence(f"TensorFlow rejected the {part}", failure.message.split("\n")[0][:160]),
        *fixes,
        subject=subject,
        confidence=Confidence.CERTAIN,
    )


def alike(changed: Changed | None, failure: FailureFacts, project: Project | Unknown) -> Iterator[Fix]:
    """Cast the value of one branch to the dtype of the other; prefer floats."""
    if changed is None or changed.what != "dtype":
        return
    types = (changed.first, changed.second)
    wanted = next((name for name in types if "float" in name), changed.first)
    module = module_of(project, failure.last_user_frame)
    for statement, in_else in _assignments(changed.name, failure, project):
        if module is None or types[in_else] == wanted or not isinstance(statement, ast.Assign):
            continue
        tensorflow, imports = spell(module.code(statement), "tensorflow", "tf")
        edits = wrap(module.code(statement.value), f"{tensorflow}.cast({{}}, {tensorflow}.{wanted})")
        yield unsafe(f"cast `{changed.name}` to {wanted} in this branch too", edits, imports)
        return


def _assignments(
    name: str, failure: FailureFacts, project: Project | Unknown
) -> Iterator[tuple[ast.stmt, bool]]:
    """Return the assignments to the name in the failing `if`, and whether each is in the `else`."""
    module = module_of(project, failure.last_user_frame)
    for part, store in _stored_in_parts(name, failure, project):
        if module is not None and isinstance(part, ast.If):
            statement = module.statement(store)
            yield statement, any(statement is one for other in part.orelse for one in ast.walk(other))


def _stores(name: str, failure: FailureFacts, project: Project | Unknown) -> Iterator[Location]:
    """Return the lines of the failing statement that assign the name."""
    module = module_of(project, failure.last_user_frame)
    for _part, store in _stored_in_parts(name, failure, project):
        if module is not None:
            yield module.location(module.statement(store))


def _stored_in_parts(
    name: str, failure: FailureFacts, project: Project | Unknown
) -> Iterator[tuple[ast.stmt, ast.Name]]:
    frame = failure.last_user_frame
    module = module_of(project, frame)
    function = (
        function_at(module, frame.line, frame.cell) if module is not None and frame is not None else None
    )
    if module is None or function is None or frame is None:
        return
    for node in own_nodes(function):
        if not isinstance(node, (ast.If, ast.For, ast.While)):
            continue
        if not stands_at(module.location(node), frame.line, frame.cell):
            continue
        for inner in ast.walk(node):
            if isinstance(inner, ast.Name) and inner.id == name and isinstance(inner.ctx, ast.Store):
                yield node, inner

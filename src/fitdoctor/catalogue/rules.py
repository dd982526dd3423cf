"""Rules: one way each in which a cause shows itself, in the source and in the words of the exception.

A rule says what to look for and what to report. Whether a match is likely or certain, what the traceback adds to it, and
what to report when the source does not show the place, is the same for all rules and decided here. `Cause.rule` and
`Cause.message` declare them.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator

from fitdoctor.catalogue import Cause, catalogue
from fitdoctor.diagnosis import Confidence, Evidence, Finding, Location, Severity
from fitdoctor.edits import fix
from fitdoctor.facts import FailureFacts, Frame
from fitdoctor.failure.failed_line import module_of, raised_here, stands_at
from fitdoctor.failure.frames import is_framework
from fitdoctor.failure.traced_code import made_line
from fitdoctor.records import dataclass, replace
from fitdoctor.source.module import Module
from fitdoctor.source.project import Project

Finder = Callable[..., Iterable[Finding]]
"""Yields the findings of a `Module`. A second parameter, `FailureFacts | None` or `Frame | None`, gets the failure or its
last user frame, where the exception shows what the source leaves open."""


@dataclass(frozen=True)
class Rule:
    """One way in which a cause shows itself."""

    says: re.Pattern[str] | None = None
    """The message of its exception, if there is one."""
    problem: str = ""
    """The message if the source does not show the place; `{name}` is a group of the pattern. "" to report nothing."""
    remedy: str | tuple[str, ...] = ""
    """The fixes that go with it."""
    subject: str = ""
    types: tuple[str, ...] = ()
    """The types of the exception; () for any."""
    raised_in: tuple[str, ...] = ()
    """Library functions, one of which the traceback must show; () if the words are enough."""
    place: re.Pattern[str] | None = None
    """The file and function that raised it, as `path:function`; None for any."""
    node: re.Pattern[str] | None = None
    """The node of the graph that failed; None for any."""
    of_framework: bool = False
    """Whether the traceback must show that Keras or TensorFlow raised it: other programs use these words too."""
    also: tuple[str, ...] = ()
    """Other causes that the same words can have."""
    confidence: Confidence = Confidence.LIKELY
    """How sure the words alone make it."""
    find: Finder | None = None
    """Finds it in the source; None if only the exception shows it."""
    words: tuple[str, ...] = ()
    """The source contains one of these if the rule applies; () if no word is needed."""
    fits: Callable[[FailureFacts], bool] | None = None
    """What else the failure must show, unless there is a match on a line that raised."""
    anywhere: bool = False
    """Whether the exception is raised on another line than those that the finding mentions."""
    unread: bool = False
    """Whether the words alone are reported only if the source was not read."""


def find(rule: Rule, module: Module, failure: FailureFacts | None = None) -> Iterable[Finding]:
    """Return what a rule finds in a file."""
    spoken_of = failure is not None or not rule.words or any(map(module.mentions, rule.words))
    if rule.find is None or not spoken_of:
        return ()
    wanted = [str(each) for each in rule.find.__annotations__.values()][1:-1]
    if not wanted:
        return rule.find(module)
    at_frame = wanted[0].startswith("Frame")
    return rule.find(module, failure.last_user_frame if at_frame and failure is not None else failure)


def findings_from_failure(
    cause: Cause, rules: Iterable[Rule], failure: FailureFacts, project: Project
) -> Iterator[Finding]:
    """Report the first rule whose exception this is: at its match in the source, else by the words of the exception."""
    fitting = [(rule, said) for rule in rules if (said := match_message(failure, rule)) is not None]
    for rule, _said in fitting:
        match = _at_failure(rule, failure, project)
        if match is not None and (not rule.anywhere or rule.fits is None or rule.fits(failure)):
            yield certain(match, failure)
            return
    for rule, said in fitting:
        unread = not project
        if rule.problem and (unread or not rule.unread) and (rule.fits is None or rule.fits(failure)):
            yield _from_words(cause, rule, said, failure)
            return


def certain(
    finding: Finding, failure: FailureFacts, *seen: Evidence, confidence: Confidence = Confidence.CERTAIN
) -> Finding:
    """Return a finding from source that explains a failure.

    What the failure shows is its evidence, by default where the tensor was created and the line that raised, and replaces
    what the source shows there.
    """
    seen = seen or (*_created(failure), raised_here(failure))
    places = {each.location for each in seen}
    known = (each for each in finding.evidence if each.location is None or each.location not in places)
    return replace(finding, confidence=confidence, evidence=(*known, *seen))


def _created(failure: FailureFacts) -> Iterator[Evidence]:
    """Yield where the symbolic tensor was created that a failure is about."""
    made = made_line(failure)
    if made is not None:
        yield Evidence("the tensor was created here", fact="failure.made_at", location=made.location)


def is_raised_at(finding: Finding, module: Module, failure: FailureFacts) -> bool:
    """Return whether a finding mentions the statement of a file on which the user's last frame is."""
    frame = failure.last_user_frame
    return frame is not None and _mentions(finding, _lines(module, frame))


def match_message(failure: FailureFacts, rule: Rule) -> re.Match[str] | None:
    """Return the match of the message, if the exception also fits otherwise."""
    if rule.says is None or rule.types and failure.type not in rule.types:
        return None
    match = rule.says.search(failure.message)
    if match is None and "\n" in failure.message:  # mail programs wrap lines
        match = rule.says.search(" ".join(failure.message.split()))
    library = [frame for frame in failure.frames if frame.library]
    inner = {frame.function for frame in library}
    if not inner or any(frame.path.endswith("traceback_utils.py") for frame in library):
        inner.add(failure.called)  # Keras removes its own frames there
    if match is None or rule.raised_in and inner.isdisjoint(rule.raised_in):
        return None
    named = bool(failure.called) and failure.called in rule.raised_in
    if rule.of_framework and not named and not any(is_framework(frame.path) for frame in failure.frames):
        return None
    if rule.node is not None and not rule.node.search(failure.node):
        return None
    return match if rule.place is None or rule.place.search(_raised_by(failure)) else None


def _raised_by(failure: FailureFacts) -> str:
    last = failure.frames[-1] if failure.frames else None
    if last is None or not last.library:
        return ""
    path = re.sub(r"\.pyc$", ".py", last.path.replace("\\", "/"))  # Python 2 names the compiled file
    return f"{path}:{last.function}"


def _from_words(cause: Cause, rule: Rule, said: re.Match[str], failure: FailureFacts) -> Finding:
    groups = {name: value or "" for name, value in said.groupdict().items()}
    remedies = (rule.remedy,) if isinstance(rule.remedy, str) else rule.remedy
    evidence = raised_here(failure)
    return cause.finding(
        rule.problem.format(**groups),
        evidence.location,
        *_created(failure),
        evidence,
        *(fix(remedy.format(**groups) if groups else remedy) for remedy in remedies),
        subject=rule.subject.format(**groups),
        notes=[f"it can also be {other}: {catalogue()[other].title}" for other in rule.also],
        confidence=Confidence.POSSIBLE if rule.also else rule.confidence,
        severity=cause.severity if failure.type.endswith("Warning") else Severity.ERROR,
    )


def _at_failure(rule: Rule, failure: FailureFacts, project: Project) -> Finding | None:
    """Return the match on the innermost line of the traceback that has one, or else anywhere if the rule says so."""
    # A finder that looks at the line is less strict about it.
    takes_frame = rule.find is not None and "Frame | None" in rule.find.__annotations__.values()
    for frame in reversed(failure.user_frames[-1:] if takes_frame else failure.user_frames):
        module = module_of(project, frame)
        found = list(find(rule, module, failure)) if module is not None else []
        lines = _lines(module, frame) if module is not None and found else None
        for finding in found:
            if lines is not None and _mentions(finding, lines):
                return finding
    modules = project.modules if rule.anywhere and project else ()
    given = None if takes_frame else failure
    return next((finding for module in modules for finding in find(rule, module, given)), None)


def _lines(module: Module, frame: Frame) -> Location:
    """Return the statement that a frame is on: a call may raise on another line than the one of its argument."""
    for statement in ast.walk(module.tree):
        if isinstance(statement, ast.stmt) and not hasattr(statement, "body"):
            location = module.location(statement)
            if stands_at(location, frame.line, frame.cell):
                return location
    return replace(frame.location, path=module.path)


def _mentions(finding: Finding, lines: Location) -> bool:
    """Return whether the finding or its evidence is on these lines."""
    places = (finding.location, *(evidence.location for evidence in finding.evidence))
    return any(
        place is not None
        and (place.path, place.cell) == (lines.path, lines.cell)
        and place.line <= lines.end_line
        and lines.line <= place.end_line
        for place in places
    )

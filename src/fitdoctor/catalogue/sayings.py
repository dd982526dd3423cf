"""Messages that show their cause by their words alone, whatever the program is."""

from __future__ import annotations

from collections.abc import Iterator

from fitdoctor.catalogue import Cause, catalogue
from fitdoctor.diagnosis import Confidence, Evidence, Finding, Severity
from fitdoctor.edits import fix
from fitdoctor.facts import FailureFacts
from fitdoctor.failure.frames import is_framework
from fitdoctor.records import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re


@dataclass(frozen=True)
class Saying:
    """A message and what it means."""

    expected: re.Pattern[str]
    problem: str
    """The finding's message; `{name}` is a group of the pattern."""
    remedy: str
    types: tuple[str, ...] = ()
    """The exception types with this message; empty for any."""
    raised_in: tuple[str, ...] = ()
    """Library functions, one of which the traceback must show; empty if the words alone are enough."""
    of_framework: bool = False
    """Whether the traceback must show that Keras or TensorFlow raised it: other programs use these words too."""
    also: tuple[str, ...] = ()
    """Other causes that the same words can have."""
    confidence: Confidence = Confidence.LIKELY


def match_message(failure: FailureFacts, saying: Saying) -> re.Match[str] | None:
    """Return the match of the message, if the exception also fits otherwise."""
    match = saying.expected.search(failure.message)
    if match is None and "\n" in failure.message:  # mail programs wrap lines
        match = saying.expected.search(" ".join(failure.message.split()))
    if match is None or saying.types and failure.type not in saying.types:
        return None
    if not _raised_in(failure, saying.raised_in) or saying.of_framework and not _by_framework(failure):
        return None
    return match


def findings_from_message(
    cause: Cause, failure: FailureFacts, sayings: tuple[Saying, ...], subject: str
) -> Iterator[Finding]:
    """Report the first saying that the failure's message matches."""
    for saying in sayings:
        match = match_message(failure, saying)
        if match is None:
            continue
        frame = failure.last_user_frame
        place = frame.location if frame is not None else None
        groups = {name: value or "" for name, value in match.groupdict().items()}
        yield cause.finding(
            saying.problem.format(**groups),
            subject=subject,
            location=place,
            evidence=[Evidence("the error message", match[0][:160], "", "failure.message", place)],
            fixes=[fix(saying.remedy.format(**groups) if groups else saying.remedy)],
            notes=[f"it can also be {other}: {catalogue()[other].title}" for other in saying.also],
            confidence=Confidence.POSSIBLE if saying.also else saying.confidence,
            severity=cause.severity if failure.type.endswith("Warning") else Severity.ERROR,
        )
        return


def _raised_in(failure: FailureFacts, functions: tuple[str, ...]) -> bool:
    inner = {frame.function for frame in failure.frames if frame.library}
    return not functions or not inner.isdisjoint(functions)


def _by_framework(failure: FailureFacts) -> bool:
    return any(is_framework(frame.path) for frame in failure.frames)

"""Reads of `logs` and of a history, taken from the quoted line of a traceback without source."""

from __future__ import annotations

from collections.abc import Iterator

from fitdoctor.catalogue import Cause
from fitdoctor.catalogue.model.logged_values import OF_NONE
from fitdoctor.diagnosis import Confidence, Evidence, Finding
from fitdoctor.edits import unsafe
from fitdoctor.facts import FailureFacts
from fitdoctor.patterns import pattern

_ITEM = pattern(r"\blogs\[(['\"])(?P<name>\w+)\1\]")
_GET = pattern(r"\blogs\.get\((['\"])(?P<name>\w+)\1\)")
_HISTORY = pattern(r"\.history\[(['\"])(?P<name>(?!acc\b)\w+)\1\]")
"""`acc` is the older name of a metric that is there: another cause."""


def quoted_reads(cause: Cause, failure: FailureFacts) -> Iterator[Finding]:
    """Report the missing value that the failing line reads."""
    frame = failure.last_user_frame
    if frame is None:
        return
    in_callback = frame.function.startswith("on_")
    if failure.type == "KeyError":
        found = {
            read["name"]: of_history
            for asked, of_history in ((_HISTORY, True), *(((_ITEM, False),) if in_callback else ()))
            for read in asked.finditer(frame.text)
            if repr(read["name"]) == failure.message.strip()
        }
    elif in_callback and OF_NONE.search(failure.message):
        found = {read["name"]: False for read in _GET.finditer(frame.text)}
    else:
        return
    if len(found) != 1:
        return
    ((name, of_history),) = found.items()
    message = (
        f"the history has no `{name}`: "
        + ("`fit` received no validation data, or " if name.startswith("val_") else "")
        + "there is no metric of that name"
        if of_history
        else f"`{frame.function}` reads `{name}`, which `fit` does not report: it uses the names of the metrics"
    )
    remedy = "read the name of an existing metric"
    yield cause.finding(
        message,
        subject=f"history key {name}" if of_history else f"logs of {frame.function}",
        location=frame.location,
        evidence=[Evidence(claim="the failing line", observed=frame.text[:120], fact="failure.frames")],
        fixes=[unsafe(f"pass validation data to `fit`, or {remedy}" if name.startswith("val_") else remedy)],
        confidence=Confidence.CERTAIN,
    )

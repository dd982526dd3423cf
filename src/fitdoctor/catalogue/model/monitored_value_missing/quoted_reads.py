"""Reads of `logs` and of a history, taken from the quoted line of a traceback without source."""

from __future__ import annotations

import re
from collections.abc import Iterator

from fitdoctor.catalogue import Cause
from fitdoctor.catalogue.model.monitored_value_missing.logged_values import OF_NONE
from fitdoctor.diagnosis import Confidence, Evidence, Finding
from fitdoctor.edits import unsafe
from fitdoctor.facts import FailureFacts

_ITEM = re.compile(r"\blogs\[(['\"])(?P<name>\w+)\1\]")
_GET = re.compile(r"\blogs\.get\((['\"])(?P<name>\w+)\1\)")
_HISTORY = re.compile(r"\.history\[(['\"])(?P<name>(?!acc\b)\w+)\1\]")
"""`acc` is the older name of a metric that is there: another cause."""


def quoted_reads(cause: Cause, failure: FailureFacts) -> Iterator[Finding]:
    """Report the missing value that the failing line reads."""
    frame = failure.last_user_frame
    if _in_early_stopping(failure):
        yield _monitored(cause, failure)
        return
    if failure.type == "KeyError" and _raised_by_callback(failure):
        yield _in_path(cause, failure)
        return
    if frame is None:
        yield from _bare_key(cause, failure)
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
        frame.location,
        Evidence("the failing line", frame.text[:120], fact="failure.frames"),
        unsafe(f"pass validation data to `fit`, or {remedy}" if name.startswith("val_") else remedy),
        subject=f"history key {name}" if of_history else f"logs of {frame.function}",
        confidence=Confidence.CERTAIN,
    )


_OF_VALIDATION = re.compile(
    r"^'(?P<name>val_(?:loss|accuracy|\w+_(?:loss|accuracy)|mae|mse|auc|precision|recall)"
    r"|(?:(?:sparse_)?categorical_|binary_)?accuracy)'$"
)
_NONE_COMPARED = re.compile(
    r"unsupported operand type\(s\) for -: 'NoneType' and 'float'|'[<>]' not supported between"
)


def _bare_key(cause: Cause, failure: FailureFacts) -> Iterator[Finding]:
    """Report a missing validation value by its name alone: only a history or `logs` has such keys."""
    said = _OF_VALIDATION.match(failure.message.strip()) if failure.type == "KeyError" else None
    if said is not None:
        of_validation = said["name"].startswith("val_")
        yield cause.finding(
            f"`fit` reports no `{said['name']}`: "
            + ("it got no validation data, or there is" if of_validation else "there is")
            + " no metric of that name",
            None,
            Evidence("the missing key", said["name"], fact="failure.message"),
            unsafe(
                ("pass validation data to `fit`, or " if of_validation else "")
                + "read the name of an existing metric"
            ),
            subject=f"history key {said['name']}",
            confidence=Confidence.LIKELY,
        )


def _raised_by_callback(failure: FailureFacts) -> bool:
    """Whether a callback of Keras before 3 raised it at the end of an epoch."""
    last = failure.frames[-1] if failure.frames else None
    if last is None or not last.library or not last.path.replace("\\", "/").endswith("/callbacks.py"):
        return False
    return last.function == "on_epoch_end"


def _in_path(cause: Cause, failure: FailureFacts) -> Finding:
    name, frame = failure.message.strip().strip("'\""), failure.last_user_frame
    return cause.finding(
        f"the checkpoint path uses `{name}`, which `fit` does not report"
        if name
        else "the checkpoint path uses a value that `fit` does not report",
        frame.location if frame is not None else None,
        Evidence("Keras cannot format the path", name, fact="failure.message"),
        unsafe("use a value that `fit` reports in the path; `val_…` names need validation data"),
        subject="path of ModelCheckpoint",
        confidence=Confidence.LIKELY,
    )


def _in_early_stopping(failure: FailureFacts) -> bool:
    """Whether a callback of Keras before 2.3 compared a value that `fit` does not report."""
    return _raised_by_callback(failure) and _NONE_COMPARED.search(failure.message) is not None


def _monitored(cause: Cause, failure: FailureFacts) -> Finding:
    frame = failure.last_user_frame
    return cause.finding(
        "a callback monitors a value that `fit` does not report",
        frame.location if frame is not None else None,
        Evidence("the callback found no value", failure.message[:120], fact="failure.message"),
        unsafe("monitor `loss`, or the name of an existing metric; pass validation data for `val_…` names"),
        subject="callbacks",
        confidence=Confidence.LIKELY,
    )

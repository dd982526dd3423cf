"""Parse a logged `FitWillFail` back into its finding."""

from __future__ import annotations

import re
from re import Match

from fitdoctor.diagnosis import NOTEBOOK, Applicability, Confidence, Finding, Fix, Location, Moment, Severity
from fitdoctor.facts import FailureFacts

_SAID = re.compile(r"(?P<id>FIT\d{3}) (?P<slug>[a-z0-9-]+): (?P<message>.*?)(?: \((?P<place>[^()\n]+)\))?$")
_HELP = re.compile(r"\s*help: (?P<title>.+)")
_IN_CELL = re.compile(r"cell In\[(\d{1,6})\], line (\d{1,6})$")
_IN_FILE = re.compile(r"(.+?):(?:cell (\d{1,6}):)?(\d{1,9})$")


def logged_finding(failure: FailureFacts) -> Finding | None:
    """Return the finding in the message of a `FitWillFail`, None for another failure."""
    if failure.type != "FitWillFail":
        return None
    first, _, rest = failure.message.partition("\n")
    said = _SAID.match(first.strip())
    if said is None:
        return None
    remedy = _HELP.match(rest)
    fixes = (Fix(remedy["title"].strip(), Applicability.DISPLAY),) if remedy else ()
    return Finding(
        said["id"],
        said["slug"],
        Severity.ERROR,
        Confidence.CERTAIN,
        Moment.BEFORE_FIT,
        said["message"],
        location=_location(said["place"] or ""),
        fixes=fixes,
    )


_REPORT = re.compile(
    r"(?m)^(?P<severity>error|warning|info)\[(?P<id>FIT\d{3})\]: (?P<message>.+(?:\n  (?! *-->).+)*)"
    r"(?:\n *--> (?P<place>.+):\d+$)?(?P<rest>(?:\n(?:[ \d]|help: ).*)*)"
)
_REMEDY = re.compile(r"(?m)^help: (?P<title>.+(?:\n {6}.+)*)")
_LABEL = re.compile(r" \((?:safe|unsafe)\b[^()]*\)$")
_CERTAINTY = re.compile(r"(?m)^ +(?:=) (?P<name>certain|likely|possible): ")


def reported_in(text: str) -> tuple[Finding, ...]:
    """The findings of reports that `run` printed into a log."""
    return tuple(_reported(block) for block in _REPORT.finditer(text))


def _reported(block: Match[str]) -> Finding:
    from fitdoctor.catalogue import find

    cause, rest = find(block["id"]), block["rest"]
    remedy, certainty = _REMEDY.search(rest), _CERTAINTY.search(rest)
    title = _LABEL.sub("", _joined(remedy["title"])) if remedy else ""
    return Finding(
        block["id"],
        cause.slug if cause is not None else "",
        Severity(block["severity"]),
        Confidence(certainty["name"]) if certainty else Confidence.LIKELY,
        Moment.BEFORE_FIT,
        _joined(block["message"]),
        location=_location(block["place"] or ""),
        fixes=(Fix(title, Applicability.DISPLAY),) if title else (),
    ).with_fingerprint()


def _joined(text: str) -> str:
    """A text that was wrapped, in one line."""
    return " ".join(text.split())


def _location(place: str) -> Location | None:
    cell = _IN_CELL.match(place)
    if cell:
        return Location(NOTEBOOK, int(cell[2]), cell=int(cell[1]))
    file = _IN_FILE.match(place)
    if file is None:
        return None
    return Location(file[1], int(file[3]), cell=int(file[2]) if file[2] else None)

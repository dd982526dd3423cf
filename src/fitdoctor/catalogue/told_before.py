"""A log of a program that fitdoctor itself stopped: what it said then, as a finding."""

from __future__ import annotations

from fitdoctor.diagnosis import (
    NOTEBOOK,
    Applicability,
    Confidence,
    Finding,
    Fix,
    Location,
    Moment,
    Severity,
)
from fitdoctor.facts import FailureFacts
from fitdoctor.patterns import pattern

_SAID = pattern(r"(?P<id>FIT\d{3}) (?P<slug>[a-z0-9-]+): (?P<message>.*?)(?: \((?P<place>[^()\n]+)\))?$")
_HELP = pattern(r"\s*help: (?P<title>.+)")
_IN_CELL = pattern(r"cell In\[(\d{1,6})\], line (\d{1,6})$")
_IN_FILE = pattern(r"(.+?):(?:cell (\d{1,6}):)?(\d{1,9})$")


def told_before(failure: FailureFacts) -> Finding | None:
    """The finding that the message of a `FitWillFail` tells, or None where it is none."""
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


def _location(place: str) -> Location | None:
    cell = _IN_CELL.match(place)
    if cell:
        return Location(NOTEBOOK, int(cell[2]), cell=int(cell[1]))
    file = _IN_FILE.match(place)
    if file is None:
        return None
    return Location(file[1], int(file[3]), cell=int(file[2]) if file[2] else None)

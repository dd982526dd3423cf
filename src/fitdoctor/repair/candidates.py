"""Which repairs to try for a finding, best first."""

from __future__ import annotations

import os
from collections.abc import Sequence

from fitdoctor.diagnosis import Applicability, Edit, Finding, Fix, Location
from fitdoctor.records import dataclass
from fitdoctor.repair.files import may_edit

MOST = 8
"""How many repairs are tried for one finding: each takes a run of the program."""

_SAFETY = {Applicability.SAFE: 0, Applicability.UNSAFE: 1, Applicability.DISPLAY: 2}


@dataclass(frozen=True)
class Candidate:
    """A repair that may be tried."""

    fix: Fix
    distance: int = 0
    """Lines between the cause and the nearest edit."""
    order: int = 0
    """Its position among those that the cause suggests."""

    @property
    def rank(self) -> tuple[int, int, int, int]:
        """Safest first; then in the order of the cause; then nearest to the cause; then smallest."""
        return (_SAFETY[self.fix.applicability], self.order, self.distance, self.size)

    @property
    def size(self) -> int:
        """Roughly how many characters it adds or removes."""
        return sum(len(edit.replacement) + _span(edit.location) for edit in self.fix.edits)

    def reasons(self, passed_over: Candidate | None = None) -> list[str]:
        """Return why it was chosen, one line each.

        Args:
            passed_over: the next one in rank, which was not tried because this one works.
        """
        if passed_over is None:
            return []
        return [f"chosen over “{passed_over.fix.title}”, which {self._worse(passed_over)}"]

    def _worse(self, other: Candidate) -> str:
        """Return why another candidate comes later: the first difference in their ranks."""
        safety, order, distance, _size = (a == b for a, b in zip(self.rank, other.rank, strict=True))
        if not safety:
            return "is unsafe: it changes what the model learns"
        if not order:
            return "is less likely"
        return "is a larger change" if distance else "is farther from the cause"


def _span(location: Location) -> int:
    return max(location.end_column - location.column, 0) if location.line == location.end_line else 40


def candidates(finding: Finding, root: str) -> tuple[Candidate, ...]:
    """Return all repairs with edits in the project's files, ranked, without those that only the user can make.

    Args:
        finding: what to repair.
        root: the project's folder.
    """
    found = (
        Candidate(fix, _distance(finding.location, fix.edits), order)
        for order, fix in enumerate(finding.fixes)
        if fix.edits and fix.applicability is not Applicability.DISPLAY
    )
    allowed = (each for each in found if all(may_edit(path, root) for path in _paths(each.fix.edits)))
    return tuple(sorted(allowed, key=lambda each: each.rank))


def _distance(place: Location | None, edits: Sequence[Edit]) -> int:
    if place is None:
        return 0
    here = [abs(e.location.line - place.line) for e in edits if e.location.path == place.path]
    return min(here, default=10_000)


def _paths(edits: Sequence[Edit]) -> set[str]:
    return {os.path.realpath(edit.location.path) for edit in edits}

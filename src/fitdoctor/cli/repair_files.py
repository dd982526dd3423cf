"""Writes the safe edits of findings to the user's files, byte for byte the same elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from pathlib import Path

from fitdoctor.diagnosis import Applicability, Edit, Finding
from fitdoctor.records import dataclass
from fitdoctor.repair.files import CannotEdit, Change, UserFile, edited, file_of, read_file


@dataclass(frozen=True)
class Repaired:
    """A file before and after the repair."""

    path: str
    change: Change
    fixes: int
    """How many findings the change repairs."""

    def write(self) -> None:
        """Replace the file's content with the new text."""
        Path(self.path).write_bytes(self.change.file.encoded(self.change.new))

    def diff(self) -> str:
        """The change as a unified diff."""
        return self.change.diff()


def repair(findings: Iterable[Finding], files: Collection[str]) -> list[Repaired]:
    """Return how the safe fixes of these findings change the named files."""
    repaired = [
        _repaired(read_file, path, fixes) for path, fixes in sorted(_safe_fixes(findings, files).items())
    ]
    return [each for each in repaired if each is not None]


def repair_text(findings: Iterable[Finding], path: str, raw: bytes) -> Repaired | None:
    """Return the repaired text of a source that is not in a file; None if nothing changes."""
    fixes = _safe_fixes(findings, (path,)).get(path, [])
    return _repaired(lambda name: file_of(name, raw), path, fixes)


def _safe_fixes(findings: Iterable[Finding], files: Collection[str]) -> dict[str, list[tuple[Edit, ...]]]:
    """Return, by file, the edits of each finding that can be made without asking."""
    chosen: dict[str, list[tuple[Edit, ...]]] = {}
    for finding in findings:
        fix = next(
            (fix for fix in finding.fixes if fix.applicability is Applicability.SAFE and fix.edits), None
        )
        if fix is None:
            continue
        paths = {edit.location.path for edit in fix.edits}
        if len(paths) == 1 and paths <= set(files):
            chosen.setdefault(paths.pop(), []).append(fix.edits)
    return chosen


def _repaired(read: Callable[[str], UserFile], path: str, fixes: list[tuple[Edit, ...]]) -> Repaired | None:
    try:
        file = read(path)
    except CannotEdit:
        return None
    edits: list[Edit] = []
    new, count = file.text, 0
    for fix in fixes:
        try:
            tried = edited(file, file.text, [*edits, *fix])
            file.encoded(tried)
        # It overlaps with a fix that was taken already: the next round will see to it.
        except CannotEdit:
            continue
        if tried != new:
            edits, new, count = [*edits, *fix], tried, count + 1
    return Repaired(path, Change(file, new), count) if new != file.text else None

"""Writes the safe edits of findings into the user's files, byte for byte the same elsewhere."""

from __future__ import annotations

import ast
import difflib
import tokenize
import warnings
from collections.abc import Iterable
from dataclasses import dataclass, replace
from io import BytesIO
from pathlib import Path

from fitdoctor.diagnosis import Applicability, Edit, Finding
from fitdoctor.edits import apply_edits


@dataclass(frozen=True)
class Repaired:
    """A file as it is and as it would be."""

    path: str
    old: str
    new: str
    encoding: str
    fixes: int
    """How many findings the change mends."""

    def write(self) -> None:
        """Put the new text in the file's place."""
        Path(self.path).write_bytes(self.new.encode(self.encoding))

    def diff(self) -> str:
        """The change as a unified diff."""
        # Split at \n alone, as Python counts lines; a \r before it belongs to the line.
        old, new = (
            [line.rstrip("\r\n") + "\n" for line in text.split("\n")] for text in (self.old, self.new)
        )
        lines = difflib.unified_diff(_no_last(old), _no_last(new), f"a/{self.path}", f"b/{self.path}")
        return "".join(lines)


def _no_last(lines: list[str]) -> list[str]:
    return lines[:-1] if lines and lines[-1] == "\n" else lines


def repair(findings: Iterable[Finding]) -> list[Repaired]:
    """The files that the safe fixes of these findings change. Notebooks are left alone."""
    chosen: dict[str, list[tuple[Edit, ...]]] = {}
    for finding in findings:
        fix = next(
            (fix for fix in finding.fixes if fix.applicability is Applicability.SAFE and fix.edits), None
        )
        if fix is None or any(edit.location.cell is not None for edit in fix.edits):
            continue
        paths = {edit.location.path for edit in fix.edits}
        if len(paths) == 1:
            chosen.setdefault(paths.pop(), []).append(fix.edits)
    repaired = [_repaired(path, fixes) for path, fixes in sorted(chosen.items())]
    return [each for each in repaired if each is not None]


def _repaired(path: str, fixes: list[tuple[Edit, ...]]) -> Repaired | None:
    try:
        raw = Path(path).read_bytes()
        encoding, _lines = tokenize.detect_encoding(BytesIO(raw).readline)
        old = raw.decode(encoding)
    except (OSError, SyntaxError, UnicodeDecodeError):
        return None
    # A lone carriage return is a line break to Python and none to us: such a file is left alone.
    if "\r" in old.replace("\r\n", "") or not _parses(old):
        return None
    newline = "\r\n" if "\r\n" in old else "\n"
    edits: list[Edit] = []
    new, count = old, 0
    for fix in fixes:
        more = [replace(edit, replacement=edit.replacement.replace("\n", newline)) for edit in fix]
        try:
            tried = apply_edits(old, [*edits, *more])
        # It overlaps with a fix that was taken already: the next round will see to it.
        except ValueError:
            continue
        if tried != new and _parses(tried):
            edits, new, count = [*edits, *more], tried, count + 1
    return Repaired(path, old, new, encoding, count) if new != old else None


def _parses(text: str) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(text.removeprefix("\ufeff"))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True

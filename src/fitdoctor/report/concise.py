"""One line per finding, for editors and grep: `path:line:column: severity FIT203 message`."""

from __future__ import annotations

from typing import Any

from fitdoctor.diagnosis import Diagnosis, Finding
from fitdoctor.report import Look
from fitdoctor.report.paint import printable


def render(diagnosis: Diagnosis, look: Look) -> str:
    """The findings, then what no cause explains, in the order of the files."""
    lines = [
        f"{_place(found)}{found.severity.value} {found.id} {printable(found.message)}"
        for found in sorted(diagnosis.findings, key=by_place)
    ]
    for failure in diagnosis.unexplained:
        where = f"{failure.location}: " if failure.location else ""
        first = failure.message.strip().split("\n")[0]
        note = f" ({failure.note})" if failure.note else ""
        lines.append(
            f"{printable(where)}unexplained {failure.type} {printable(first)}".rstrip() + printable(note)
        )
    lines += [f"fitdoctor: {crash.where}: {printable(crash.error)}" for crash in diagnosis.crashes]
    return "".join(f"{line}\n" for line in lines)


def _place(finding: Finding) -> str:
    location = finding.location
    if location is None:
        return ""
    return printable(f"{location.exact}: ")


def by_place(finding: Finding) -> tuple[Any, ...]:
    """Sort key by file and line; findings without a location come first."""
    location = finding.location
    if location is None:
        return (0, "", 0, 0, 0, finding.id)
    return (1, location.path, location.cell or 0, location.line, location.column, finding.id)

"""One self-contained page: styles inside, no script, all user text escaped."""

from __future__ import annotations

from pathlib import Path

from fitdoctor import __version__
from fitdoctor.diagnosis import Diagnosis, Finding, Location, Severity
from fitdoctor.optional_packages import require
from fitdoctor.report import Look
from fitdoctor.report.excerpt import Lines, hunks

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def render(diagnosis: Diagnosis, look: Look) -> str:
    """The diagnosis as an HTML page.

    Raises:
        MissingPackage: Jinja2 is not installed.
    """
    jinja2 = require("jinja2", "HTML output")
    # Always on: the page shows the user's code, names and messages.
    environment = jinja2.Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    environment.filters["names"] = _names
    template = environment.from_string((Path(__file__).parent / "page.html.jinja").read_text("utf-8"))
    lines = Lines(diagnosis)
    page: str = template.render(
        diagnosis=diagnosis,
        version=diagnosis.tool_version or __version__,
        findings=[_finding(found, lines) for found in diagnosis.findings],
        pictures=_pictures(diagnosis),
        counts=[
            (severity.value, sum(found.severity is severity for found in diagnosis.findings))
            for severity in Severity
        ],
    )
    # Bytes that were no text in a file name cannot be written as UTF-8.
    return page.encode("utf-8", "replace").decode("utf-8") + "\n"


def _pictures(diagnosis: Diagnosis) -> list[tuple[Any, Any]]:
    """Return each memory curve with its drawing."""
    if not diagnosis.memory:
        return []
    from fitdoctor.report.memory import drawn

    return [
        (course, drawn(course.points, course.free, max((size for _stage, size in course.points), default=0)))
        for course in diagnosis.memory
    ]


def _names(text: str) -> Any:
    """Return a sentence as HTML with its `names` as code; each piece is escaped separately."""
    from markupsafe import Markup, escape

    parts = text.split("`")
    if len(parts) % 2 == 0:
        return escape(text)
    return Markup("").join(
        Markup("<code>{}</code>").format(part) if index % 2 else escape(part)
        for index, part in enumerate(parts)
    )


def _finding(finding: Finding, lines: Lines) -> dict[str, Any]:
    return {
        "finding": finding,
        "place": _place(finding.location),
        "rows": _excerpt(finding.location, lines) if finding.location else [],
        "pairs": [each for each in finding.evidence if each.observed or each.expected],
        "seen": [each for each in finding.evidence if not (each.observed or each.expected)],
        "fixes": [(fix, hunks(fix, lines)) for fix in finding.fixes],
    }


def _place(location: Location | None) -> str:
    return "" if location is None else location.exact


def _excerpt(location: Location, lines: Lines) -> list[tuple[int, str, str, str]]:
    """Return rows of (line number, before the span, the span, after it)."""
    text = lines.at(location.path, location.line, location.cell)
    if text is None:
        return []
    rows = []
    above = lines.before(location)
    if above is not None:
        rows.append((above[0], above[1], "", ""))
    start = min(max(location.column - 1, 0), len(text))
    one_line = location.end_line == location.line and location.end_column > location.column
    end = min(location.end_column - 1, len(text)) if one_line else len(text)
    rows.append((location.line, text[:start], text[start:end], text[end:]))
    return rows

"""Workflow commands of GitHub Actions: annotations on the lines of a pull request."""

from __future__ import annotations

from fitdoctor.diagnosis import Diagnosis, Finding, Severity
from fitdoctor.report import Look
from fitdoctor.report.concise import by_place

_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}


def render(diagnosis: Diagnosis, look: Look) -> str:
    """Return one command per finding, ordered by file."""
    commands = [_command(found) for found in sorted(diagnosis.findings, key=by_place)]
    for failure in diagnosis.unexplained:
        place = {} if failure.location is None else {"file": failure.location.path}
        if failure.location is not None and failure.location.cell is None:
            place["line"] = str(failure.location.line)
        commands.append(_written("error", {**place, "title": failure.type}, failure.message))
    return "".join(f"{command}\n" for command in commands)


def _command(finding: Finding) -> str:
    message = finding.message
    for fix in finding.fixes[:1]:
        message += f"\nhelp: {fix.title}"
    title = f"{finding.id} {finding.slug}"
    location = finding.location
    properties: dict[str, str] = {}
    if location is not None:
        properties["file"] = location.path
        if location.cell is not None:
            # Lines count within the cell: as lines of the file they would mark the wrong place.
            title += f" (cell {location.cell}, line {location.line})"
        else:
            properties["line"] = str(location.line)
            properties["endLine"] = str(location.end_line)
            if location.end_line == location.line and location.end_column > location.column:
                properties["col"] = str(location.column)
                properties["endColumn"] = str(location.end_column - 1)
    return _written(_COMMANDS[finding.severity], {**properties, "title": title}, message)


def _written(command: str, properties: dict[str, str], message: str) -> str:
    listed = ",".join(f"{name}={_property(value)}" for name, value in properties.items())
    return f"::{command} {listed}::{_data(message)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")

"""SARIF 2.1.0, for code scanning and editors."""

from __future__ import annotations

import json
from pathlib import PurePath
from typing import Any
from urllib.parse import quote

from fitdoctor import __version__
from fitdoctor.diagnosis import Diagnosis, Finding, Fix, Location, Severity
from fitdoctor.report import Look
from fitdoctor.report.concise import by_place

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}


def render(diagnosis: Diagnosis, look: Look) -> str:
    """The diagnosis as a SARIF log of one run."""
    findings = sorted(diagnosis.findings, key=by_place)
    rules = {finding.id: index for index, finding in enumerate(_one_each(findings))}
    run: dict[str, Any] = {
        "tool": {
            "driver": {
                "name": "fitdoctor",
                "version": diagnosis.tool_version or __version__,
                "rules": [_rule(finding) for finding in _one_each(findings)],
            }
        },
        "columnKind": "unicodeCodePoints",
        "results": [_result(finding, rules[finding.id]) for finding in findings],
        "invocations": [_invocation(diagnosis)],
    }
    return json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


def _one_each(findings: list[Finding]) -> list[Finding]:
    return sorted({finding.id: finding for finding in findings}.values(), key=lambda found: found.id)


def _rule(finding: Finding) -> dict[str, Any]:
    name = "".join(word.capitalize() for word in finding.slug.split("-"))
    rule: dict[str, Any] = {
        "id": finding.id,
        "name": name,
        "shortDescription": {"text": finding.slug.replace("-", " ")},
        "defaultConfiguration": {"level": _LEVELS[finding.severity]},
    }
    from fitdoctor.catalogue import catalogue

    cause = catalogue().get(finding.id)
    if cause is not None:
        rule["shortDescription"] = {"text": cause.title}
        rule["help"] = {"text": cause.page.strip(), "markdown": cause.page.strip()}
    return rule


def _result(finding: Finding, rule_index: int) -> dict[str, Any]:
    result: dict[str, Any] = {
        "ruleId": finding.id,
        "ruleIndex": rule_index,
        "level": _LEVELS[finding.severity],
        "message": {"text": _message(finding)},
        "properties": {"confidence": finding.confidence.value, "moment": finding.moment.value},
    }
    if finding.location is not None:
        result["locations"] = [_location(finding.location)]
    related = [_related(each.claim, each.location) for each in finding.evidence if each.location is not None]
    if related:
        result["relatedLocations"] = related
    if finding.fingerprint:
        result["partialFingerprints"] = {"fitdoctor/v1": finding.fingerprint}
    fixes = [_fix(fix) for fix in finding.fixes if fix.edits and _in_plain_files(fix)]
    if fixes:
        result["fixes"] = fixes
    return result


def _message(finding: Finding) -> str:
    lines = [finding.message]
    for each in finding.evidence:
        if each.observed or each.expected:
            pair = [f"observed {each.observed}"] if each.observed else []
            pair += [f"expected {each.expected}"] if each.expected else []
            lines.append(f"{each.claim}: {', '.join(pair)}")
    lines += [f"help: {fix.title}" for fix in finding.fixes]
    return "\n".join(lines)


def _location(location: Location) -> dict[str, Any]:
    physical: dict[str, Any] = {"artifactLocation": {"uri": _uri(location.path)}}
    if location.cell is None:
        physical["region"] = _region(location)
        return {"physicalLocation": physical}
    # A region counts lines of the file, ours count lines of the cell.
    name = f"cell {location.cell}, line {location.line}"
    return {"physicalLocation": physical, "logicalLocations": [{"name": name, "kind": "member"}]}


def _related(claim: str, location: Location) -> dict[str, Any]:
    return {**_location(location), "message": {"text": claim}}


def _region(location: Location, *, whole: bool = False) -> dict[str, int]:
    region = {"startLine": location.line, "startColumn": location.column, "endLine": location.end_line}
    if whole or location.end_column > 0:
        region["endColumn"] = max(location.end_column, 1)
    return region


def _uri(path: str) -> str:
    pure = PurePath(path)
    if pure.is_absolute():
        return pure.as_uri()
    return quote(pure.as_posix())


def _in_plain_files(fix: Fix) -> bool:
    return all(edit.location.cell is None for edit in fix.edits)


def _fix(fix: Fix) -> dict[str, Any]:
    changes: dict[str, list[dict[str, Any]]] = {}
    for edit in fix.edits:
        replacement = {
            "deletedRegion": _region(edit.location, whole=True),
            "insertedContent": {"text": edit.replacement},
        }
        changes.setdefault(edit.location.path, []).append(replacement)
    return {
        "description": {"text": fix.title},
        "artifactChanges": [
            {"artifactLocation": {"uri": _uri(path)}, "replacements": replacements}
            for path, replacements in changes.items()
        ],
    }


def _invocation(diagnosis: Diagnosis) -> dict[str, Any]:
    notifications = [
        {"level": "error", "message": {"text": f"{crash.where}: {crash.error}"}}
        for crash in diagnosis.crashes
    ]
    invocation: dict[str, Any] = {"executionSuccessful": True}
    if notifications:
        invocation["toolExecutionNotifications"] = notifications
    return invocation

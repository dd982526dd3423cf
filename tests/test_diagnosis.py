"""Diagnoses: their JSON form and what can be asked of them."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings

from fitdoctor.diagnosis import (
    Confidence,
    Diagnosis,
    Finding,
    Location,
    Moment,
    Script,
    Severity,
)
from tests.strategies import drawn


def found(**changes):
    base = Finding(
        "FIT203",
        "labels-out-of-range",
        Severity.ERROR,
        Confidence.CERTAIN,
        Moment.BEFORE_FIT,
        "labels run to 10",
    )
    return replace(base, **changes)


@settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))
@given(drawn(Diagnosis, depth=5))
def test_a_diagnosis_survives_json(diagnosis):
    written = json.dumps(diagnosis.to_json(), allow_nan=False)
    read = Diagnosis.from_json(json.loads(written))
    assert read == diagnosis
    assert read.tool_version == diagnosis.tool_version


def test_the_json_form_is_the_published_one():
    plain = Diagnosis((found(location=Location("train.py", 12, 1, 12, 40)),), tool_version="1.2").to_json()
    assert plain["schema_version"] == 1
    assert plain["tool"] == {"name": "fitdoctor", "version": "1.2"}
    assert {"findings", "skipped", "crashes"} <= set(plain)
    assert "script" not in plain
    assert set(plain["findings"][0]) == {
        *("id", "slug", "severity", "confidence", "moment", "message", "subject", "location"),
        *("evidence", "fixes", "notes", "fingerprint"),
    }
    assert plain["findings"][0]["location"] == {
        "path": "train.py",
        "line": 12,
        "column": 1,
        "end_line": 12,
        "end_column": 40,
        "cell": None,
    }


def test_the_script_is_there_when_a_program_was_run():
    assert Diagnosis(script=Script(exit_code=1)).to_json()["script"]["exit_code"] == 1


@pytest.mark.parametrize("plain", [{}, [], None, "text", {"schema_version": 2}, {"schema_version": "1"}])
def test_what_is_no_diagnosis_of_ours_is_refused(plain):
    with pytest.raises(ValueError, match="schema"):
        Diagnosis.from_json(plain)


def test_a_reader_takes_a_diagnosis_without_the_later_fields():
    assert Diagnosis.from_json({"schema_version": 1, "findings": []}) == Diagnosis()


def test_only_a_certain_error_stops_a_program():
    assert found().stops
    assert not found(confidence=Confidence.LIKELY).stops
    assert not found(severity=Severity.WARNING).stops


def test_a_fingerprint_stays_when_the_line_moves_and_changes_with_its_text():
    first = found(location=Location("train.py", 12)).with_fingerprint("model.fit(x, y)")
    moved = found(location=Location("train.py", 99, 5)).with_fingerprint("    model.fit(x, y)")
    other = found(location=Location("train.py", 12)).with_fingerprint("model.fit(x, z)")
    assert first.fingerprint == moved.fingerprint != other.fingerprint


def test_findings_are_counted_from_a_severity_on():
    diagnosis = Diagnosis((found(), found(severity=Severity.WARNING), found(severity=Severity.INFO)))
    assert [len(diagnosis.at_least(severity)) for severity in Severity] == [1, 2, 3]
    assert not diagnosis.ok
    assert Diagnosis((found(severity=Severity.INFO),)).ok

"""`fitdoctor report`: a saved diagnosis drawn again."""

from __future__ import annotations

import json

import pytest

from fitdoctor.report import FORMATS, render
from tests.report.samples import EVERYTHING


@pytest.fixture
def saved(tmp_path):
    path = tmp_path / "run.json"
    path.write_text(render(EVERYTHING, "json"), "utf-8")
    return path


@pytest.mark.parametrize("fmt", FORMATS)
def test_a_saved_diagnosis_is_drawn_in_every_format(run, saved, fmt):
    done = run("report", saved, "--output-format", fmt)
    assert done.status == 0 and "FIT203" in done.out


def test_what_is_drawn_again_is_what_was_saved(run, saved):
    assert run("report", saved, "--output-format", "json").json == json.loads(saved.read_text("utf-8"))


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "truncated"),
        (render(EVERYTHING, "json")[:500], "truncated"),
        ("hello", "is not JSON"),
        ('{"a": 1,, }', "is not JSON"),
        ("[]", "not a fitdoctor diagnosis"),
        ('{"schema_version": 2}', "schema version 2 is not supported"),
        ('{"schema_version": 1, "findings": [{"id": 3}]}', "expected"),
        ('{"schema_version": 1, "findings": [{"id": "FIT203"}]}', "run.json"),
        ('{"schema_version": 1, "findings": 7}', "expected a list"),
        ("[" * 100_000, "nested too deeply"),
    ],
)
def test_what_is_no_saved_diagnosis_is_one_clear_line(run, tmp_path, text, complaint):
    path = tmp_path / "run.json"
    path.write_text(text, "utf-8")
    done = run("report", path)
    assert done.status == 2 and complaint in done.err
    assert "Traceback" not in done.err and done.err.count("\n") == 1


def test_a_file_that_is_not_text_or_not_there_is_said(run, tmp_path):
    (tmp_path / "run.json").write_bytes(b"\xff\xfe\x00")
    assert "is not JSON" in run("report", tmp_path / "run.json").err
    assert "cannot read" in run("report", tmp_path / "none.json").err
    assert "cannot read" in run("report", tmp_path).err

"""The published JSON Schema describes what fitdoctor writes."""

from __future__ import annotations

import contextlib
import copy
import io
import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from fitdoctor.catalogue import catalogue
from fitdoctor.cli import main
from fitdoctor.diagnosis import Diagnosis, Location, MemoryCourse, Raised, Script, Way, WayStep
from scripts.documentation.json_schema import schema
from tests.support.diagnosed import explain as explain_text

CORPUS = Path(__file__).parents[1] / "corpus"
VALIDATOR = jsonschema.Draft202012Validator(schema())


def lint_json(path: Path) -> Any:
    with contextlib.redirect_stdout(io.StringIO()) as out:
        main(["lint", str(path), "--output-format", "json", "--no-cache", "--jobs", "1"])
    return json.loads(out.getvalue())


def test_the_schema_is_one() -> None:
    jsonschema.Draft202012Validator.check_schema(schema())


def test_what_lint_writes_is_valid() -> None:
    programs = [path for cause in catalogue().values() for path in cause.folder.glob("broken.py")][::12]
    found = [lint_json(path) for path in programs]
    assert sum(bool(each["findings"]) for each in found) > 5
    for each in found:
        VALIDATOR.validate(each)


def test_what_explain_finds_is_valid() -> None:
    for path in sorted((CORPUS / "tracebacks").glob("*.txt"))[::25]:
        VALIDATOR.validate(explain_text(path.read_text("utf-8")).to_json())


def test_what_run_writes_is_valid() -> None:
    place = Location("train.py", 3)
    diagnosis = Diagnosis(
        script=Script(1, None, Raised("ValueError", "…")),
        ways=(Way("fit", place, (WayStep("data", "x", "(3,)"),)),),
        memory=(MemoryCourse("fit", None, 32, (("forward", 10),), 5),),
    )
    VALIDATOR.validate(diagnosis.to_json())


@pytest.mark.parametrize("field", ["severity", "location", "fixes"])
def test_a_finding_without_a_field_is_not_valid(field: str) -> None:
    program = next(iter(catalogue()["FIT203"].folder.glob("broken.py")))
    wrong = copy.deepcopy(lint_json(program))
    VALIDATOR.validate(wrong)
    del wrong["findings"][0][field]
    assert not VALIDATOR.is_valid(wrong)

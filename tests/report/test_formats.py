"""The formats of other tools."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest

from fitdoctor.diagnosis import Diagnosis, Edit, Fix, Location
from fitdoctor.report import render
from tests.report.samples import EVERYTHING, NOTEBOOK, PRIMARY

SCHEMA = json.loads((Path(__file__).parent / "sarif_subset.json").read_text("utf-8"))


def sarif(diagnosis):
    log = json.loads(render(diagnosis, "sarif"))
    jsonschema.validate(log, SCHEMA)
    return log["runs"][0]


# --- concise, json, github ---


def test_concise_is_one_line_a_finding_in_the_order_of_the_files():
    assert render(EVERYTHING, "concise").split("\n") == [
        "other.py:3:1: warning FIT210 the loss expects logits, but `softmax` gives probabilities",
        "study.ipynb:cell 4:2:1: info FIT301 the model was not compiled",
        "train.py:8:20: error FIT203 labels run from 1 to 10, but the model has 10 units: classes 0 to 9",
        "train.py:8: unexplained ValueError strange",
        "fitdoctor: FIT999 judge: KeyError: 3",
        "",
    ]


def test_a_message_of_several_lines_stays_on_one():
    finding = replace(PRIMARY, message="one\ntwo")
    assert render(Diagnosis((finding,)), "concise").count("\n") == 1


def test_json_is_read_back():
    assert Diagnosis.from_json(json.loads(render(EVERYTHING, "json"))) == EVERYTHING


def test_json_names_the_tool_s_version():
    assert json.loads(render(Diagnosis(), "json"))["tool"]["version"]


def test_json_can_hold_names_that_are_no_text():
    finding = replace(PRIMARY, location=Location("bad\udcff.py", 1))
    json.loads(render(Diagnosis((finding,)), "json").encode("utf-8"))


def test_github_marks_the_lines():
    commands = render(EVERYTHING, "github").split("\n")
    assert (
        "::error file=train.py,line=8,endLine=8,col=20,endColumn=26,title=FIT203 labels-out-of-range::"
        "labels run from 1 to 10, but the model has 10 units: classes 0 to 9%0Ahelp: shift the labels"
    ) in commands
    assert commands[0].startswith("::warning file=other.py")
    assert commands[1] == (
        "::notice file=study.ipynb,title=FIT301 not-compiled (cell 4%2C line 2)::the model was not compiled"
    )


def test_github_commands_cannot_be_broken_out_of():
    evil = replace(PRIMARY, message="100%\r\n::error::x", location=Location("a,b:c\n.py", 1), fixes=())
    (command,) = render(Diagnosis((evil,)), "github").splitlines()
    assert command.startswith("::error file=a%2Cb%3Ac%0A.py,")
    assert command.endswith("::100%25%0D%0A::error::x")


# --- sarif ---


def test_sarif_fits_its_schema():
    run = sarif(EVERYTHING)
    assert [result["ruleId"] for result in run["results"]] == ["FIT210", "FIT301", "FIT203"]
    for result in run["results"]:
        assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"]


def test_sarif_of_nothing_fits_its_schema():
    assert sarif(Diagnosis())["results"] == []


def test_sarif_carries_the_fix_the_fingerprint_and_the_other_places():
    (result,) = sarif(Diagnosis((PRIMARY,)))["results"]
    assert result["partialFingerprints"] == {"fitdoctor/v1": "0123456789abcdef"}
    (fix,) = result["fixes"]
    (change,) = fix["artifactChanges"]
    assert change["artifactLocation"]["uri"] == "train.py"
    assert change["replacements"] == [
        {
            "deletedRegion": {"startLine": 8, "startColumn": 20, "endLine": 8, "endColumn": 27},
            "insertedContent": {"text": "y_train - 1"},
        }
    ]
    assert result["relatedLocations"][0]["physicalLocation"]["region"]["startLine"] == 6
    assert "observed 10, first in row 3, expected at most 9" in result["message"]["text"]


def test_sarif_gives_no_region_in_a_notebook():
    edit = Edit(NOTEBOOK.location, "x")
    (result,) = sarif(Diagnosis((replace(NOTEBOOK, fixes=(Fix("t", edits=(edit,)),)),)))["results"]
    (location,) = result["locations"]
    assert "region" not in location["physicalLocation"]
    assert location["logicalLocations"][0]["name"] == "cell 4, line 2"
    assert "fixes" not in result


@pytest.mark.parametrize(
    ("path", "uri"),
    [("my code/größe.py", "my%20code/gr%C3%B6%C3%9Fe.py"), ("/tmp/a b.py", "file:///tmp/a%20b.py")],
)
def test_sarif_paths_are_uris(path, uri):
    (result,) = sarif(Diagnosis((replace(PRIMARY, location=Location(path, 1), fixes=(), evidence=()),)))[
        "results"
    ]
    assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == uri

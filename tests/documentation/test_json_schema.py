"""The published JSON Schema describes what fitdoctor writes."""

from __future__ import annotations

import contextlib
import copy
import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from fitdoctor.catalogue import catalogue
from fitdoctor.cli import main
from scripts.documentation.json_schema import memory_schema, schema
from tests.support.diagnosed import explain as explain_text
from tests.support.fork_server import ForkServer

ROOT = Path(__file__).parents[2]
CORPUS = ROOT / "tests/corpus"
PROGRAM = ROOT / "src/fitdoctor/catalogue/labels/labels_out_of_range/broken.py"
VALIDATOR = jsonschema.Draft202012Validator(schema())


def forked_json(server: ForkServer, *words: str, folder: Path) -> Any:
    """What a command writes as JSON about a program that need not import TensorFlow again."""
    written = folder / "written.json"
    server.command(folder, words[0], "--output-format", "json", "--output-file", str(written), *words[1:])
    return json.loads(written.read_text("utf-8"))


def command_json(*words: str, folder: Path) -> Any:
    """What a command writes as JSON, in a process of its own."""
    written = folder / "written.json"
    subprocess.run(
        [
            *(sys.executable, "-m", "fitdoctor", words[0], "--output-format", "json"),
            *("--output-file", str(written), *words[1:]),
        ],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src"), "TF_CPP_MIN_LOG_LEVEL": "3"},
        capture_output=True,
        timeout=300,
    )
    return json.loads(written.read_text("utf-8"))


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


@pytest.mark.tf
@pytest.mark.parametrize("command", ["run", "fix"])
def test_what_a_run_writes_is_valid(command: str, tmp_path: Path, server: ForkServer) -> None:
    found = forked_json(server, command, str(PROGRAM), folder=tmp_path)
    VALIDATOR.validate(found)
    assert found["findings"][0]["id"] == "FIT203" and found["script"]["exit_code"] == 1
    assert found["ways"][0]["steps"] and found["ways"][0]["data"] and found["memory"]
    assert found["invocation"]["command"] == command
    assert found["findings"][0]["fixes"][0]["verified"] is (command == "fix")


@pytest.mark.tf
def test_training_that_ended_is_valid(tmp_path: Path, server: ForkServer) -> None:
    found = forked_json(server, "run", str(PROGRAM.with_name("fixed.py")), folder=tmp_path)
    VALIDATOR.validate(found)
    assert found["trainings"][0]["history"] and not found["findings"]


@pytest.mark.tf
def test_a_prediction_of_memory_is_valid(tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text(
        "import keras\n\nmodel = keras.Sequential([keras.Input((8,)), keras.layers.Dense(1)])\n"
        "model.compile('adam', 'mse')\n"
    )
    found = command_json("memory", "model.py", folder=tmp_path)
    validator = jsonschema.Draft202012Validator(memory_schema())
    validator.validate(found)
    assert found["memory"]["needed"] > found["memory"]["peak"] > 0
    del found["memory"]["peak"]
    assert not validator.is_valid(found)


def test_what_scan_and_env_write_is_valid(tmp_path: Path) -> None:
    (tmp_path / "train.csv").write_text("width,height,species\n1,2,0\n3,nan,1\n")
    scanned = command_json("scan", "train.csv", "--labels", "species", folder=tmp_path)
    VALIDATOR.validate(scanned)
    assert scanned["findings"] and scanned["scan"]["data"][0]["components"]
    environment = command_json("env", folder=tmp_path)
    VALIDATOR.validate(environment)
    assert environment["environment"]["python"]


def test_the_example_on_the_page_is_valid() -> None:
    page = (ROOT / "docs/json.md").read_text("utf-8")
    [example] = re.findall(r"^```json\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    VALIDATOR.validate(json.loads(example))
    assert set(json.loads(example)) <= set(schema()["properties"])


@pytest.mark.parametrize("field", ["severity", "location", "fixes"])
def test_a_finding_without_a_field_is_not_valid(field: str) -> None:
    program = next(iter(catalogue()["FIT203"].folder.glob("broken.py")))
    wrong = copy.deepcopy(lint_json(program))
    VALIDATOR.validate(wrong)
    del wrong["findings"][0][field]
    assert not VALIDATOR.is_valid(wrong)

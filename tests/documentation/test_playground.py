"""The playground says what the command line says: the same package, in Pyodide."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from fitdoctor.catalogue import catalogue
from scripts.documentation import playground_files
from scripts.documentation.cause_pages import printed

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
CORPUS = ROOT / "tests/corpus"

pytestmark = [
    pytest.mark.xdist_group("playground"),
    pytest.mark.skipif(shutil.which("node") is None, reason="Node.js is not installed"),
    pytest.mark.skipif(
        not playground_files.available(), reason="npm has not installed Pyodide: run `make docs`"
    ),
]


def notebook(source: str) -> str:
    """A notebook with one cell."""
    cell = {"cell_type": "code", "metadata": {}, "execution_count": 1, "outputs": [], "source": source}
    return json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5})


def questions() -> dict[str, str]:
    """Texts that people paste, by kind and name: all that were recorded, and every program of the catalogue."""
    asked = {
        f"text {path.stem}": path.read_text("utf-8") for path in sorted((CORPUS / "tracebacks").glob("*.txt"))
    }
    for name, runs in printed().items():
        asked |= {f"text {name} in Keras {keras}": seen["text"] for keras, seen in runs.items()}
    for cause in catalogue().values():
        for path in sorted(cause.folder.glob("broken*.txt")):
            asked[f"text {cause.id} {path.stem}"] = path.read_text("utf-8")
        for path in sorted([*cause.folder.glob("broken*.py"), *cause.folder.glob("fixed*.py")]):
            asked[f"program {cause.id} {path.stem}"] = path.read_text("utf-8")
    asked["notebook"] = notebook(asked["program FIT203 broken"])
    asked["text nothing"] = "the weather is fine today"
    asked["text hostile"] = "ValueError: <script>alert(1)</script> & <img src=x onerror=alert(1)>"
    asked["program clean"] = "import keras\n\nmodel = keras.Sequential()\n"
    asked["program broken"] = "import keras\n\nmodel = keras.Sequential(\n"
    return asked


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    asked = questions()
    folder = tmp_path_factory.mktemp("playground")
    (folder / "asked.json").write_text(json.dumps(list(asked.values())), encoding="utf-8")
    done = subprocess.run(
        [
            "node",
            str(HERE / "playground.mjs"),
            str(playground_files.PYODIDE),
            str(playground_files.write_packages()),
            str(ROOT / "docs/playground"),
            str(folder / "asked.json"),
            str(folder / "answered.json"),
        ],
        capture_output=True,
        text=True,
        timeout=900,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return dict(zip(asked, json.loads((folder / "answered.json").read_text("utf-8")), strict=True))


def on_the_command_line(text: str, folder: Path) -> Any:
    """What commands print, in a folder that says nothing about Keras."""
    done = subprocess.run(
        [sys.executable, "-c", _ASK],
        input=text,
        capture_output=True,
        text=True,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


_ASK = """
import contextlib, io, json, sys
from fitdoctor.cli import main

told = []
for text, words in json.load(sys.stdin):
    sys.stdin = io.TextIOWrapper(io.BytesIO(text.encode()))
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()):
        main(words)
    told.append(out.getvalue())
print(json.dumps(told))
"""
"""Ask the command line many things in one process."""


def test_every_answer_is_that_of_the_command_line(answers: dict[str, dict[str, Any]], tmp_path: Path) -> None:
    asked = questions()
    commands, given = [], []
    for name, answer in answers.items():
        for part in answer["parts"]:
            words = (
                ["explain", "-"]
                if "explain" in part["command"]
                else ["lint", "-", "--stdin-filename", part["command"].split()[-1]]
            )
            commands.append((asked[name], [*words, "--output-format", "json"]))
            given.append((name, part["diagnosis"]))
            if part["diff"]:
                commands.append((asked[name], [*words, "--diff"]))
                given.append((name, part["diff"]))
    told = on_the_command_line(json.dumps(commands), tmp_path)
    different = []
    for (name, playground), text in zip(given, told, strict=True):
        terminal = json.loads(text) if text.startswith("{") else text
        if terminal != playground and (terminal or playground["findings"]):
            different.append(name)
    assert not different
    assert len(given) > 1000


def test_what_was_pasted_is_recognised(answers: dict[str, dict[str, Any]]) -> None:
    wrong = {name: answer["kind"] for name, answer in answers.items() if answer["kind"] != name.split()[0]}
    assert not wrong


def test_a_cause_is_named_and_its_repair_shown(answers: dict[str, dict[str, Any]]) -> None:
    for name in ("FIT203 broken", "FIT107 broken", "FIT902 broken"):
        part = answers[f"program {name}"]["parts"][0]
        assert part["diagnosis"]["findings"][0]["id"] == name.split()[0]
        assert part["diff"] and part["fixed"]
        assert not answers[f"program {name.replace('broken', 'fixed')}"]["parts"][0]["diagnosis"]["findings"]
    for cause in ("FIT101", "FIT203", "FIT401"):
        told = answers[f"text {cause}/broken in Keras 3"]["parts"][0]["diagnosis"]["findings"]
        assert told[0]["id"] == cause


def test_hostile_text_stays_text(answers: dict[str, dict[str, Any]]) -> None:
    shown = answers["text hostile"]["parts"][0]["html"]
    assert "&lt;img" in shown or "&lt;script" in shown
    assert "<img" not in shown and "<script>alert" not in shown


def test_a_program_that_is_not_python_is_reported(answers: dict[str, dict[str, Any]]) -> None:
    assert "train.py" in answers["program broken"]["parts"][0]["remarks"]

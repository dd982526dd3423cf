"""`run --locate`: a second, traced run finds the line in a helper or another file that made the data bad."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from fitdoctor.plain import to_plain
from fitdoctor.runner.second_run import ANSWERS, TASK, Question, Task
from fitdoctor.runner.session import Options, write_options
from fitdoctor.runner.supervise import BOOTSTRAP

pytest.importorskip("tensorflow")

TARGETS = """import numpy as np


def numbers(words):
    return np.where(words == "yes", 1.0, -1.0)
"""
SURVEY = """from dataclasses import dataclass

import numpy as np

from targets import numbers


@dataclass
class Survey:
    inputs: np.ndarray
    targets: np.ndarray


def load(n):
    words = np.random.choice(["no", "yes"], size=n)
    return Survey(inputs=np.random.normal(size=(n, 4)), targets=numbers(words))
"""
TRAIN = """import keras
from survey import load

survey = load(160)
model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1, activation="sigmoid")])
model.compile("adam", "binary_crossentropy")
print("training")
model.fit(survey.inputs, survey.targets, epochs=1, verbose=0)
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    for name, text in (("targets", TARGETS), ("survey", SURVEY), ("train", TRAIN)):
        (folder / f"{name}.py").write_text(text)
    return folder


def _run(folder: Path, *options: str) -> tuple[str, dict[str, Any]]:
    report = folder.parent / "report.json"
    command = [sys.executable, "-m", "fitdoctor", "run", *options, "--output-format", "json"]
    ended = subprocess.run(
        [*command, "--output-file", str(report), "train.py"], cwd=folder, capture_output=True, text=True
    )
    return ended.stdout, json.loads(report.read_text())


def test_the_line_is_found_in_another_file(project: Path) -> None:
    printed, report = _run(project, "--locate")
    finding = report["findings"][0]
    assert finding["id"] == "FIT208"
    assert (finding["location"]["path"], finding["location"]["line"]) == ("targets.py", 5)
    assert any("`fit` ← `np.where(" in each["claim"] for each in finding["evidence"])
    assert printed == "training\n"
    assert report["crashes"] == []


def _second_run(folder: Path, line: int) -> Path:
    """Run the program a second time, asked for the labels at a line of `train.py`."""
    session = folder.parent / "session"
    session.mkdir()
    options = Options(script="train.py", folder=str(folder), second=True)
    write_options(session, options)
    question = Question("y", "range", [-1.0, 1.0], last=True)
    task = Task(str(folder / "train.py"), line, "fit", (question,))
    (session / TASK).write_text(json.dumps(to_plain(task)))
    subprocess.run([sys.executable, str(BOOTSTRAP), str(session)], cwd=folder, capture_output=True)
    return session


def test_a_second_run_ends_before_it_writes(project: Path) -> None:
    train = project / "train.py"
    train.write_text(TRAIN.replace('print("training")', 'open("log.txt", "a").write("x")'))
    session = _second_run(project, 8)
    assert not (session / ANSWERS).exists()
    assert not (project / "log.txt").exists()


def test_a_second_run_that_comes_to_another_call_has_no_answer(project: Path) -> None:
    assert not (_second_run(project, 7) / ANSWERS).exists()

"""Programs under Keras 2 (`TF_USE_LEGACY_KERAS=1`): silence on those that work, the cause of those that fail."""

from __future__ import annotations

from pathlib import Path

import pytest

from fitdoctor.source.module import Module
from fitdoctor.source.read import source_from_text
from tests.support.diagnosed import explain, lint, marked, run_plain, run_watched
from tests.support.fork_server import ForkServer

PROGRAMS = sorted((Path(__file__).parent / "programs").glob("*.py"))
WORKING = [path for path in PROGRAMS if path.name.startswith("working_")]
FAILING = [path for path in PROGRAMS if path.name.startswith("failing_")]

pytestmark = [pytest.mark.tf, pytest.mark.xdist_group("keras_2")]


@pytest.mark.parametrize("path", WORKING, ids=lambda path: path.stem)
def test_nothing_is_found_in_what_works(path: Path, legacy: ForkServer) -> None:
    diagnosis, ended = run_watched(legacy, path)
    assert ended.status == 0, ended.stderr[-1500:]
    told = (*diagnosis.findings, *lint(path).findings)
    assert not told, [(found.id, found.message) for found in told]
    assert not diagnosis.crashes


@pytest.mark.parametrize("path", FAILING, ids=lambda path: path.stem)
def test_the_cause_is_found_when_it_fails_and_from_its_text(path: Path, legacy: ForkServer) -> None:
    mark = marked(path.read_text(encoding="utf-8"))
    assert mark is not None
    diagnosis, ended = run_watched(legacy, path, keep_going=True)
    first = diagnosis.primary
    assert first is not None and first.location is not None, ended.stderr[-1500:]
    assert (first.id, first.location.line in mark.accepted) == (mark.id, True)
    told = explain(ended.stderr, path).primary
    assert told is not None and told.id == mark.id


@pytest.mark.versions
def test_the_abstract_pass_proves_failures_and_changes_nothing(legacy: ForkServer) -> None:
    ended = run_plain(legacy, Path(__file__).parent / "trial_program.py")
    assert ended.status == 0, ended.stderr[-2500:]


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ('import os\nos.environ["TF_USE_LEGACY_KERAS"] = "1"\nimport tensorflow as tf\n', 2),
        ('os.environ.setdefault("TF_USE_LEGACY_KERAS", "1")\n', 2),
        ('os.environ["TF_USE_LEGACY_KERAS"] = "0"\n', 3),
        ("import tf_keras as keras\n", 2),
        ("import keras\nimport tf_keras\n", 3),
        ("import tensorflow as tf\n", 3),
    ],
)
def test_a_program_that_chooses_its_keras_is_judged_for_it(text: str, version: int) -> None:
    assert Module(source_from_text(text, "train.py")).keras == version

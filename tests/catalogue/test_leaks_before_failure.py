"""Symbolic tensors that a program still holds are told before anything fails; what is rightly kept is not."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from fitdoctor.diagnosis import Severity
from tests.support.diagnosed import run_watched
from tests.support.fork_server import ForkServer

pytestmark = pytest.mark.tf

HEAD = """
import keras
import numpy as np
import tensorflow as tf

x, y = np.ones((8, 3), "float32"), np.ones((8, 1), "float32")
"""
CALLBACK = """
class Last(keras.layers.Layer):
    def call(self, t):
        KEPT.append(t * 2)
        return t

KEPT = []

def main():
    model = keras.Sequential([keras.Input((3,)), Last(), keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    model.fit(x, y, verbose=0)

main()
"""
OWN_LOOP = """
class Trainer:
    def __init__(self):
        self.weight = tf.Variable(1.0)

    @tf.function
    def step(self, t):
        self.kept = self.weight * t
        return self.kept + 1.0

trainer = Trainer()
trainer.step(tf.ones(3))
"""
UNREAD = """
class Trainer:
    @tf.function
    def step(self, t):
        self.kept = t * 2.0
        return t

trainer = Trainer()
trainer.step(tf.ones(3))
"""


@pytest.mark.parametrize(
    ("body", "cause", "line"),
    [
        (CALLBACK, "FIT402", "KEPT.append(t * 2)"),
        (UNREAD, "FIT401", "self.kept = t * 2.0"),
        (OWN_LOOP, "", ""),
    ],
    ids=["list in a layer", "attribute in a loop of one's own", "read in its own trace"],
)
def test_told_without_a_failure(server: ForkServer, tmp_path: Path, body: str, cause: str, line: str) -> None:
    script = tmp_path / "train.py"
    script.write_text(HEAD + textwrap.dedent(body))
    diagnosis, ended = run_watched(server, script)
    assert ended.status == 0
    assert not diagnosis.crashes
    assert [found.id for found in diagnosis.findings] == ([cause] if cause else [])
    for found in diagnosis.findings:
        assert found.severity is Severity.INFO
        assert found.location is not None
        assert script.read_text().split("\n")[found.location.line - 1].strip() == line
        assert "in memory" in found.message

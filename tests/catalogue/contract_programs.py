"""Programs with methods that Keras calls, and what the judges say of them."""

from __future__ import annotations

import textwrap

from fitdoctor.diagnose import examine_failure, examine_source
from fitdoctor.diagnosis import Finding
from fitdoctor.facts import FailureFacts, Frame
from fitdoctor.source.module import Module
from fitdoctor.source.project import Project
from fitdoctor.source.read import source_from_text

HEAD = """\
import keras
import numpy as np
import tensorflow as tf
from keras import layers

x = np.zeros((64, 6), dtype="float32")
y = np.zeros((64, 1), dtype="float32")
"""
FIRST = len(HEAD.splitlines())
STEP = """
    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(y - self(x)))
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
"""


def project(text: str, keras: int = 3) -> Project:
    return Project([Module(source_from_text(HEAD + textwrap.dedent(text), "train.py", keras))])


def found(text: str, cause: str, keras: int = 3) -> list[Finding]:
    diagnosis = examine_source(project(text, keras))
    assert not diagnosis.crashes
    return [finding for finding in diagnosis.findings if finding.id == cause]


def failed(
    text: str, cause: str, type_: str, message: str, *lines: tuple[int, str], **more: str
) -> list[Finding]:
    """The findings after a failure whose frames stand at lines (counted after the head) of functions."""
    frames = tuple(Frame("train.py", FIRST + line, function) for line, function in lines)
    keras = Frame("/lib/site-packages/keras/src/trainers/trainer.py", 1, "step", library=True)
    failure = FailureFacts(type_, message, frames=(*frames, keras), **more)  # type: ignore[arg-type]
    diagnosis = examine_failure(failure, lambda: project(text))
    assert not diagnosis.crashes
    return [finding for finding in diagnosis.findings if finding.id == cause]


def line_of(finding: Finding) -> int:
    assert finding.location is not None
    return finding.location.line - FIRST


NET = "net = keras.Sequential([keras.Input((6,)), layers.Dense(1)])\n"

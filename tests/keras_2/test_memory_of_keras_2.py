"""`memory` on models of Keras 2: in a process of its own, because a program has one Keras."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.tf
pytest.importorskip("tf_keras")

PROGRAM = """
import numpy as np
from tensorflow import keras

import fitdoctor

layers = keras.layers
stack = keras.Sequential([keras.Input((64,)), layers.Dense(512, activation="relu"), layers.Dense(1)])
stack.compile("adam", "mse")
found = fitdoctor.memory(stack, batch_size=64)
sizes = {share.name: share.bytes for share in found.kinds}
weights = 4 * (64 * 512 + 512 + 512 + 1)
assert found.how == "traced" and 0 <= sizes["weights"] - weights < 1024, sizes
assert sizes["optimizer"] >= 2 * weights, sizes
quick = {share.name: share.bytes for share in fitdoctor.memory(stack, batch_size=64, quick=True).kinds}
assert quick["activations"] >= 64 * 4 * 512 and quick["weights"] == weights, quick
assert not stack.optimizer.variables or len(stack.optimizer.variables) < 3  # nothing was made


class Own(keras.Model):
    def __init__(self):
        super().__init__()
        self.inner, self.outer = layers.Dense(32), layers.Dense(1)

    def call(self, x):
        return self.outer(self.inner(x))


own = Own()
own.compile("adam", "mse")
x, y = np.ones((64, 8), "float32"), np.ones((64, 1), "float32")
assert fitdoctor.memory(own, x, y).how == "traced"
assert not own.built
own.fit(x, y, verbose=0)

open_ended = keras.Sequential([keras.Input((None, 3), name="steps"), layers.LSTM(4), layers.Dense(1)])
open_ended.compile("adam", "mse")
unbuilt = keras.Sequential([layers.Dense(3)])
unbuilt.compile("adam", "mse")
for model, words in ((open_ended, "input `steps` has open dimensions"), (unbuilt, "does not declare its input shape")):
    try:
        fitdoctor.memory(model)
    except fitdoctor.MemoryUnknown as error:
        assert words in str(error), error
    else:
        raise AssertionError(words)
assert fitdoctor.memory(open_ended, input_shape=(20, 3)).how == "traced"
"""


def test_models_of_every_kind():
    ended = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        capture_output=True,
        text=True,
        env={**os.environ, "TF_USE_LEGACY_KERAS": "1", "TF_CPP_MIN_LOG_LEVEL": "3"},
        timeout=200,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr[-2000:]

"""What grows while a program runs: tensors in lists, traces of a function; told with the line, and nothing else is."""

from __future__ import annotations

import json
import textwrap
from pathlib import Path

import pytest

from tests.runner.programs import forked
from tests.support.fork_server import ForkServer

pytestmark = pytest.mark.tf


def told(server: ForkServer, folder: Path, program: str) -> list[tuple[str, int | None, str]]:
    """(id, line, moment) of what is found."""
    path = folder / "train.py"
    path.write_text(textwrap.dedent(program))
    forked(server, folder, "--output-format", "json", "--output-file", "out.json", path.name)
    found = json.loads((folder / "out.json").read_text())["findings"]
    return [(one["id"], (one["location"] or {}).get("line"), one["moment"]) for one in found]


KEEPER = """\
import numpy as np
import tensorflow as tf
from tensorflow import keras


class Keeper(keras.callbacks.Callback):
    def __init__(self):
        super().__init__()
        self.kept, self.losses = [], []

    def on_train_batch_end(self, batch, logs=None):
        noise = tf.random.normal((256, 1024))
        self.kept.append({kept})
        self.losses.append(logs["loss"])


def main():
    batches = [tf.zeros((256, 1024)) for _ in range(30)]
    x = np.random.rand(1000, 8).astype("float32")
    model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    model.fit(x, x.sum(1, keepdims=True), verbose=0, callbacks=[Keeper()])
    return len(batches)


main()
"""


def test_a_list_that_grows_by_tensors(tmp_path, server):
    assert told(server, tmp_path, KEEPER.format(kept="noise")) == [("FIT804", 13, "while_training")]


def test_numbers_and_data_are_no_growth(tmp_path, server):
    assert told(server, tmp_path, KEEPER.format(kept="float(noise[0, 0])")) == []


STEPS = """\
import tensorflow as tf


class Trainer:
    def __init__(self):
        self.weight = tf.Variable(1.0)

    @tf.function
    def step(self, batch, settings):
        self.weight.assign_sub(0.001 * tf.reduce_mean(batch) * settings["rate"])
        return self.weight


def rates():
    value = 0.1
    while value > 0.01:
        value *= 0.95
        yield {{"rate": {value}}}


trainer = Trainer()
for settings in rates():
    trainer.step(tf.ones((4, 4)), settings)
"""


def test_a_function_that_is_traced_at_every_call(tmp_path, server):
    assert told(server, tmp_path, STEPS.format(value="value")) == [("FIT412", 8, "while_training")]


def test_a_function_that_is_traced_once(tmp_path, server):
    assert told(server, tmp_path, STEPS.format(value="tf.constant(value)")) == []

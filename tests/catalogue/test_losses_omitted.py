"""Custom losses and the terms that layers collect (FIT410)."""

from __future__ import annotations

import pytest

from tests.catalogue.contract_programs import found

LOOP = """
import keras, tensorflow as tf
{}
optimizer = keras.optimizers.Adam()
for x, y in data:
    with tf.GradientTape() as tape:
        loss = loss_fn(y, model(x, training=True)){}
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
"""
STEP = """
import keras, tensorflow as tf
class Net(keras.Model):
    def __init__(self):
        super().__init__()
        self.head = keras.layers.Dense(1, kernel_regularizer=keras.regularizers.l2(0.01))
    def call(self, x):
        return self.head(x)
    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            loss = {}
        weights = self.trainable_weights
        self.optimizer.apply(tape.gradient(loss, weights), weights)
        return {{"loss": loss}}
"""


@pytest.mark.parametrize(
    "model",
    [
        "model = keras.Sequential([keras.layers.Dense(1, kernel_regularizer='l2')])",
        "def build(rate):\n    model = keras.Sequential()\n"
        "    model.add(keras.layers.Dense(1, bias_regularizer=keras.regularizers.L1(rate)))\n    return model\n"
        "model = build(0.1)",
        "class Noisy(keras.layers.Layer):\n    def call(self, x):\n        self.add_loss(tf.reduce_mean(x))\n"
        "        return x\nmodel = keras.Sequential([Noisy(), keras.layers.Dense(1)])",
    ],
)
def test_terms_left_out_of_a_loop(model: str) -> None:
    (finding,) = found(LOOP.format(model, ""), "FIT410")
    assert [edit.replacement.strip() for edit in finding.fixes[0].edits] == ["loss += sum(model.losses)"]
    assert found(LOOP.format(model, " + sum(model.losses)"), "FIT410") == []
    helper = "\ndef penalty(m):\n    return sum(m.losses)\n"
    assert found(LOOP.format(model, " + penalty(model)") + helper, "FIT410") == []


def test_terms_left_out_of_a_train_step() -> None:
    (finding,) = found(STEP.format("self.loss_fn(y, self(x, training=True))"), "FIT410")
    assert [edit.replacement.strip() for edit in finding.fixes[0].edits] == ["loss += sum(self.losses)"]
    assert found(STEP.format("self.compute_loss(x, y, self(x, training=True))"), "FIT410") == []


@pytest.mark.parametrize(
    "model",
    [
        "model = keras.Sequential([keras.layers.Dense(1)])",
        "model = keras.Sequential([keras.layers.Dense(1, kernel_regularizer=None)])",
        "model = keras.Sequential([keras.layers.Dense(1, kernel_regularizer=keras.regularizers.l2(0.0))])",
        # The regularized model is another one.
        "model = keras.Sequential([keras.layers.Dense(1)])\n"
        "other = keras.Sequential([keras.layers.Dense(1, kernel_regularizer='l2')])",
    ],
)
def test_models_without_terms(model: str) -> None:
    assert found(LOOP.format(model, ""), "FIT410") == []

"""Data of `evaluate` and `predict` on another scale than the training data (FIT717)."""

from __future__ import annotations

import pytest

from tests.catalogue.contract_programs import found

DATA = """
import keras, numpy as np
(x_train, y_train), (x_test, y_test) = keras.datasets.mnist.load_data()
model = keras.Sequential([keras.Input((28, 28)), keras.layers.Flatten(), keras.layers.Dense(10)])
model.compile('adam', keras.losses.SparseCategoricalCrossentropy(from_logits=True))
"""


@pytest.mark.parametrize("later", ["model.evaluate(x_test, y_test)", "model.predict(x_test)"])
def test_pixels_are_divided_for_training_only(later: str) -> None:
    fit = "x_train = x_train / 255\nmodel.fit(x_train, y_train)\n"
    (finding,) = found(DATA + fit + later, "FIT717")
    assert [edit.replacement for edit in finding.fixes[0].edits] == ["x_test / 255"]
    assert finding.message.startswith("`x_test` ranges from 0 to 255")


@pytest.mark.parametrize(
    "text",
    [
        "x_train = x_train / 255\nx_test = x_test / 255\nmodel.fit(x_train, y_train)\nmodel.evaluate(x_test, y_test)",
        "model.fit(x_train, y_train)\nmodel.evaluate(x_test, y_test)",
        # Trained on both, evaluated on either.
        "model.fit(x_train / 255, y_train)\nmodel.fit(x_train, y_train)\nmodel.evaluate(x_test, y_test)",
        # Not trained here.
        "x_train = x_train / 255\nmodel.load_weights('best.weights.h5')\nmodel.evaluate(x_test, y_test)",
    ],
)
def test_data_on_the_scale_of_the_training_data(text: str) -> None:
    assert found(DATA + text, "FIT717") == []


def test_a_second_fit_of_one_encoder_becomes_transform() -> None:
    text = """
import keras, numpy as np
from sklearn.preprocessing import StandardScaler
model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(1)])
model.compile('adam', 'mse')
scaler = StandardScaler()
x, y = np.random.rand(60, 3), np.random.rand(60)
model.fit(scaler.fit_transform(x), y)
newer = np.random.rand(40, 3)
{}
"""
    (finding,) = found(text.format("model.predict(scaler.fit_transform(newer))"), "FIT717")
    assert [edit.replacement for edit in finding.fixes[0].edits] == ["scaler.transform(newer)"]
    trained_again = "model.fit(scaler.fit_transform(newer), y[:40])\nmodel.predict(scaler.transform(x))"
    assert found(text.format(trained_again), "FIT717") == []

"""The lines of a traced step that block a gradient."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

from fitdoctor.collect.gradient_cuts import gradient_cuts

tf = pytest.importorskip("tensorflow")
keras = pytest.importorskip("keras")
np = pytest.importorskip("numpy")


def hard(z: Any) -> Any:
    scale = tf.cast(tf.shape(z)[-1], tf.float32)
    return tf.cast(z > 0.5, tf.float32) * scale


def chosen(z: Any) -> Any:
    return tf.one_hot(tf.argmax(z, -1), 3)


def smooth(z: Any) -> Any:
    return tf.square(z)


class Coder(keras.Model):  # type: ignore[misc,name-defined]
    def __init__(self, middle: Any) -> None:
        super().__init__()
        self.encoder, self.decoder = keras.layers.Dense(3), keras.layers.Dense(2)
        self.middle = middle

    def call(self, x: Any) -> Any:
        return self.decoder(self.middle(self.encoder(x)))


@pytest.mark.filterwarnings("ignore:Gradients do not exist")
@pytest.mark.parametrize(("middle", "line"), [(hard, 2), (chosen, 1), (smooth, None)])
def test_the_line_between_a_part_and_the_loss_is_found(middle: Any, line: int | None) -> None:
    model = Coder(middle)
    model.compile("sgd", "mse", metrics=["accuracy"])
    x = np.ones((8, 2), "float32")
    model.fit(x, x, verbose=0)
    found = [frame.line for frame in gradient_cuts(model, [model.encoder])]
    assert found == ([] if line is None else [inspect.getsourcelines(middle)[1] + line])

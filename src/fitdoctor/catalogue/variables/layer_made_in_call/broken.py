"""A custom model with two layers."""

import numpy as np
import tensorflow as tf


class Regressor(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.out = tf.keras.layers.Dense(1)

    def call(self, inputs):
        hidden = tf.keras.layers.Dense(8, activation="relu")(inputs)  # <- FIT502
        return self.out(hidden)


rng = np.random.default_rng(14)
x = rng.normal(size=(64, 3)).astype("float32")
y = x[:, :1] ** 2

model = Regressor()
model.compile(optimizer="adam", loss="mse")
model.fit(x, y, epochs=1, verbose=0)

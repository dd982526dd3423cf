"""A layer with a learnable scale."""

import numpy as np
import tensorflow as tf


class Scale(tf.keras.layers.Layer):
    def __init__(self):
        super().__init__()
        self.factor = tf.Variable(1.0, name="factor")  # <- FIT503

    def call(self, inputs):
        return inputs * self.factor


rng = np.random.default_rng(18)
x = rng.normal(size=(96, 4)).astype("float32")
y = 5.0 * x[:, :1]

model = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(1), Scale()])
model.compile(optimizer="adam", loss="mse")
model.fit(x, y, epochs=2, verbose=0)

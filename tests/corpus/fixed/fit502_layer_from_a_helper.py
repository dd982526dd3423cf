"""A function of the file makes the layer, once, in `__init__`."""

import numpy as np
import tensorflow as tf
from tensorflow import keras


def projection(width):
    return keras.layers.Dense(width, use_bias=False)


class Gate(keras.layers.Layer):
    def __init__(self, width, **kwargs):
        super().__init__(**kwargs)
        self.gate = projection(width)

    def call(self, x):
        return tf.sigmoid(self.gate(x)) * x


x = np.random.default_rng(1).normal(size=(96, 12)).astype("float32")
y = (x[:, 0] > 0).astype("float32")
model = keras.Sequential([Gate(12), keras.layers.Dense(1, activation="sigmoid")])
model.compile("adam", "binary_crossentropy")
model.fit(x, y, epochs=1, verbose=0)

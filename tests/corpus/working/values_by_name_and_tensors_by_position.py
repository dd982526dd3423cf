"""Layers that get tensors by position and values by name; a class with a `__call__` of its own takes what it likes."""

import keras
import numpy as np
from keras import ops


class Gate(keras.layers.Layer):
    def call(self, x, other, strength=1.0):
        return x + strength * other


class Scale:
    def __call__(self, x, factor):
        return x * factor


class Model(keras.Model):
    def __init__(self):
        super().__init__()
        self.first = keras.layers.Dense(4)
        self.drop = keras.layers.Dropout(0.1)
        self.gate = Gate()
        self.scale = Scale()
        self.last = keras.layers.Dense(1)

    def call(self, x, training=None):
        hidden = self.drop(self.first(x), training=training)
        hidden = self.gate(hidden, ops.ones_like(hidden), strength=0.5)
        return self.last(self.scale(hidden, 2.0))


model = Model()
model.compile(optimizer="adam", loss="mse")
x = np.random.default_rng(0).random((16, 3)).astype("float32")
model.fit(x, x.sum(axis=1, keepdims=True), epochs=1, verbose=0)

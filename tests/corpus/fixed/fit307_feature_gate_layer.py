import numpy as np
import tensorflow as tf
from tensorflow import keras


class FirstFeatureGate(keras.layers.Layer):
    """Gates all the features by a small network on the first one."""

    def __init__(self, units):
        super().__init__()
        self.hidden = keras.layers.Dense(units, activation="relu")
        self.gate = keras.layers.Dense(1, activation="sigmoid")

    def call(self, inputs):
        first = inputs[:, 0:1]
        g = self.gate(self.hidden(first))
        return inputs * g


rng = np.random.default_rng(0)
x = rng.normal(size=(200, 5)).astype("float32")
y = np.where(x[:, 0] > 0, x[:, 1:].sum(axis=1), 0.0).astype("float32")

model = keras.Sequential([
    keras.Input((5,)),
    FirstFeatureGate(8),
    keras.layers.Dense(16, activation="relu"),
    keras.layers.Dense(1),
])
model.compile(optimizer="adam", loss="mse")
model.fit(x, y, epochs=2, verbose=2)

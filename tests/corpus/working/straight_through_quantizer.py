import keras
import numpy as np
from keras import layers, ops


class StraightThrough(layers.Layer):
    """round() forward, identity backward."""

    def __init__(self, levels=4, **kwargs):
        super().__init__(**kwargs)
        self.levels = levels

    def call(self, z):
        q = ops.round(z * self.levels) / self.levels
        return z + ops.stop_gradient(q - z)


inputs = keras.Input((8,))
z = layers.Dense(4, activation="tanh")(layers.Dense(16, activation="relu")(inputs))
outputs = layers.Dense(8)(layers.Dense(16, activation="relu")(StraightThrough()(z)))
model = keras.Model(inputs, outputs)
model.compile("adam", "mse")
rng = np.random.default_rng(0)
x = (rng.normal(size=(160, 3)) @ rng.normal(size=(3, 8))).astype("float32")
model.fit(x, x, epochs=2, batch_size=16, verbose=2)

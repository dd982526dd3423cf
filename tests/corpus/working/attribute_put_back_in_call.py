"""A layer that replaces its scale for one forward pass and restores it before it returns."""

import keras
import numpy as np
from keras import ops


class AutoScale(keras.layers.Layer):
    def __init__(self, scale=1.0, offset=0.0, **kwargs):
        super().__init__(**kwargs)
        self.scale = scale
        self.offset = offset

    def _apply(self, x):
        return x * self.scale + self.offset

    def call(self, inputs, training=None):
        if not training:
            return self._apply(inputs)
        before = self.scale
        self.scale = 1.0 / (ops.std(inputs) + 1e-3)
        offset = self.offset
        try:
            self.offset = ops.mean(inputs)
            result = self._apply(inputs)
        finally:
            self.offset = offset
        self.scale = before
        return result

    def get_config(self):
        return {**super().get_config(), "scale": self.scale, "offset": self.offset}


x = np.random.default_rng(0).random((64, 4)).astype("float32")
y = x.sum(axis=1, keepdims=True)

model = keras.Sequential([keras.Input((4,)), AutoScale(2.0), keras.layers.Dense(1)])
model.compile("adam", "mse")
model.fit(x, y, epochs=2, validation_split=0.25, verbose=0)
print(model.layers[0].scale * 2)

"""A feature pyramid passes its levels between layers as a dict that a layer extends."""

import keras
import numpy as np


class Extend(keras.layers.Layer):
    def __init__(self, last_level, max_level, **kwargs):
        super().__init__(**kwargs)
        self.last_level, self.max_level = last_level, max_level
        self.down = keras.layers.MaxPooling2D()

    def call(self, features, training=None):
        outputs = features
        for level in range(self.last_level + 1, self.max_level + 1):
            outputs[str(level)] = self.down(outputs[str(level - 1)])
        return outputs


inputs = keras.Input((32, 32, 3))
three = keras.layers.Conv2D(4, 3, strides=2, padding="same")(inputs)
levels = Extend(3, 5)({"3": three})
merged = keras.layers.GlobalAveragePooling2D()(levels["5"])
model = keras.Model(inputs, keras.layers.Dense(1)(merged))
model.compile("adam", "mse")
x = np.random.default_rng(0).random((16, 32, 32, 3)).astype("float32")
model.fit(x, x.mean(axis=(1, 2, 3)).reshape(-1, 1), epochs=1, verbose=0)

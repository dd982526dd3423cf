"""A custom layer that splits the features into heads."""

import keras
import numpy as np
import tensorflow as tf

BATCH = 16


class Heads(keras.layers.Layer):
    """Splits the features into heads."""

    def call(self, inputs):
        return tf.reshape(inputs, (-1, 4, 3))


rng = np.random.default_rng(8)
readings = rng.normal(size=(100, 12)).astype("float32")
levels = rng.normal(size=(100, 1)).astype("float32")

inputs = keras.Input((12,))
split = Heads()(inputs)
model = keras.Model(inputs, keras.layers.Dense(1)(keras.layers.Flatten()(split)))
model.compile(optimizer="adam", loss="mse")
model.fit(readings, levels, batch_size=BATCH, epochs=1, verbose=0)

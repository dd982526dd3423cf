"""A subclass of `Sequential` that knows its input and is built without a shape; a spec is computed in a graph."""

import keras
import numpy as np
import tensorflow as tf


class Embedder(keras.Sequential):
    def __init__(self, features, units):
        super().__init__(name="embedder")
        self.features = features
        self.add(keras.Input((None, features)))
        self.add(keras.layers.GRU(units, return_sequences=True))
        self.add(keras.layers.Dense(1))

    def build(self, sequence_length=None):
        super().build()


def spec_after(function, shape):
    with tf.Graph().as_default():
        placeholder = tf.compat.v1.placeholder(tf.float32, (None, *shape))
        out = function(placeholder)
        return keras.layers.InputSpec(dtype=out.dtype.name, shape=tuple(out.shape))


x = np.random.default_rng(0).random((16, 5, 3)).astype("float32")
print(spec_after(tf.square, (5, 3)))
model = Embedder(3, 4)
model.build()
model.compile("adam", "mse")
model.fit(x, x.mean(axis=-1, keepdims=True), epochs=1, verbose=0)

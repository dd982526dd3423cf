"""A layer whose input is a list of feature maps, which a method of the layer takes apart."""

import keras
import numpy as np
import tensorflow as tf


class Levels(keras.layers.Layer):
    def __init__(self, size, **kwargs):
        super().__init__(**kwargs)
        self.size = size

    def _stacked(self, features, scale):
        padded = [tf.image.resize(feature, (self.size, self.size)) for feature in features]
        for feature in features:
            scale = scale + float(feature.shape[1])
        return tf.stack(padded, axis=1) / scale

    def call(self, inputs, scale=1.0):
        return self._stacked(inputs, scale)


large, small = keras.Input((8, 8, 2)), keras.Input((4, 4, 2))
x = Levels(8)([large, small])
model = keras.Model([large, small], keras.layers.Dense(1)(keras.layers.Flatten()(x)))
model.compile("adam", "mse")
rng = np.random.default_rng(0)
model.fit([rng.random((8, 8, 8, 2)), rng.random((8, 4, 4, 2))], rng.random((8, 1)), verbose=0)

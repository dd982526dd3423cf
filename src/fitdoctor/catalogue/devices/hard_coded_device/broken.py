"""A model with a custom dense layer."""

import numpy as np
import tensorflow as tf


class Pinned(tf.keras.layers.Layer):
    def __init__(self, units):
        super().__init__()
        self.dense = tf.keras.layers.Dense(units, activation="relu")

    def call(self, inputs):
        with tf.device("/GPU:0"):  # <- FIT603
            return self.dense(inputs)


rng = np.random.default_rng(23)
x = rng.normal(size=(64, 3)).astype("float32")
model = tf.keras.Sequential([tf.keras.Input((3,)), Pinned(8), tf.keras.layers.Dense(1)])
model.compile("adam", "mse")
model.fit(x, x[:, :1], epochs=1, verbose=0)

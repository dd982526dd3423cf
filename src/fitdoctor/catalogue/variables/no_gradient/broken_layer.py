"""A custom output layer for ratings."""

import keras
import numpy as np
import tensorflow as tf


class Stars(keras.layers.Layer):
    """Whole stars from 0 to 5."""

    def call(self, scores):
        return tf.round(5.0 * tf.sigmoid(scores))  # <- FIT505


rng = np.random.default_rng(3)
reviews = rng.normal(size=(96, 6)).astype("float32")
stars = rng.integers(0, 6, size=(96, 1)).astype("float32")

inputs = keras.Input((6,))
hidden = keras.layers.Dense(8, activation="tanh")(inputs)
model = keras.Model(inputs, Stars()(keras.layers.Dense(1)(hidden)))
model.compile(optimizer="adam", loss="mse")
model.fit(reviews, stars, epochs=1, verbose=0)

"""An autoencoder of plain rows, with the error summed over each row."""

import keras
import numpy as np
import tensorflow as tf


def summed_error(truth, guess):
    gap = tf.square(tf.cast(truth, guess.dtype) - guess)
    return tf.reduce_sum(gap, axis=1)


rng = np.random.default_rng(3)
sensors = rng.random((64, 10)).astype("float32")
encoder = keras.Sequential([keras.Input((10,)), keras.layers.Dense(4, activation="relu")])
decoder = keras.Sequential([keras.Input((4,)), keras.layers.Dense(10)])
rows = keras.Input((10,))
autoencoder = keras.Model(rows, decoder(encoder(rows)))
autoencoder.compile(optimizer="adam", loss=summed_error)
autoencoder.fit(sensors, sensors, epochs=1, verbose=0)

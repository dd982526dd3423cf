import keras
import numpy as np
import tensorflow as tf


class Binarize(keras.layers.Layer):
    """A code of zeros and ones."""

    def call(self, inputs):
        return tf.cast(inputs > 0.5, tf.float32)  # <- FIT506


rng = np.random.default_rng(0)
x = rng.random((200, 12)).astype("float32")

model = keras.Sequential(
    [
        keras.Input((12,)),
        keras.layers.Dense(6, activation="sigmoid", name="encoder"),
        Binarize(),
        keras.layers.Dense(12, activation="sigmoid", name="decoder"),
    ]
)
model.compile(optimizer="adam", loss="mse")
model.fit(x, x, epochs=2, verbose=0)

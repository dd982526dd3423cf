import keras
import numpy as np
import tensorflow as tf


class Quantizer(keras.layers.Layer):
    """Rounds the code to a grid (as a simple VQ layer)."""

    def __init__(self, levels=8):
        super().__init__()
        self.levels = levels

    def call(self, z):
        q = tf.round(z * self.levels) / self.levels
        return z + tf.stop_gradient(q - z)


def build(dim):
    inputs = keras.Input((dim,))
    h = keras.layers.Dense(16, activation="relu")(inputs)
    z = keras.layers.Dense(4, activation="tanh", name="code")(h)
    q = Quantizer()(z)
    h = keras.layers.Dense(16, activation="relu")(q)
    return keras.Model(inputs, keras.layers.Dense(dim)(h))


if __name__ == "__main__":
    rng = np.random.default_rng(4)
    x = (rng.normal(size=(224, 4)) @ rng.normal(size=(4, 10))).astype("float32")
    model = build(10)
    model.compile(optimizer="adam", loss="mse")
    model.fit(x, x, epochs=2, batch_size=32, verbose=2)

"""Code for eager calls behind questions that are false in every trace, and a failure that is passed over."""

import keras
import numpy as np
import tensorflow as tf
from keras import layers


class Shifted(layers.Layer):
    def build(self, input_shape):
        self._make_branch()
        super().build(input_shape)

    def _make_branch(self):
        self.dense = layers.Dense(4, activation="relu")

    def call(self, inputs):
        if not self.built:
            self.build(inputs.shape)
        flat = tf.reshape(inputs, [-1])
        if hasattr(inputs, "numpy"):
            print("first values", tf.reduce_min(flat).numpy(), flat.numpy()[:3])
        try:
            print("largest value", tf.reduce_max(inputs).numpy())
        except Exception:
            print("shape", inputs.shape)
        return self.dense(inputs)


class Nearest(keras.Model):
    """A model with its own `fit` and `predict`, which `call` repeats for eager callers."""

    def __init__(self, encoder):
        super().__init__()
        self.encoder = encoder
        self.centres = tf.random.normal((3, 4), seed=1)

    def predict(self, x):
        encoded = self.encoder.predict(x, verbose=0)
        distances = tf.norm(encoded[:, None] - self.centres[None], axis=-1)
        return tf.argmin(distances, axis=1).numpy()

    def call(self, x):
        return self.predict(x)


x = np.random.default_rng(0).normal(size=(64, 4)).astype("float32")
encoder = keras.Sequential([keras.Input((4,)), Shifted(), layers.Dense(4)])
encoder.compile(optimizer="adam", loss="mse")
encoder.fit(x, x, epochs=1, verbose=0)
print(Nearest(encoder).predict(x)[:5])

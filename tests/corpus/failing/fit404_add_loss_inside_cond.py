import numpy as np
import tensorflow as tf
from tensorflow.keras import layers


class ActivityPenalty(layers.Layer):
    """Penalises activations, but only when they are large."""

    def __init__(self, limit=1.0, strength=0.01):
        super().__init__()
        self.limit, self.strength = limit, strength

    def call(self, x):
        size = tf.reduce_mean(tf.square(x))

        def penalise():
            self.add_loss(self.strength * size * 2.0)  # <- FIT404
            return size

        tf.cond(size > self.limit, penalise, lambda: tf.zeros_like(size))  # <~ FIT404
        return x


rng = np.random.default_rng(0)
x = rng.normal(size=(160, 6)).astype("float32")
y = (x[:, 0] > 0).astype("float32")

model = tf.keras.Sequential([
    tf.keras.Input((6,)),
    layers.Dense(16, activation="relu"),
    ActivityPenalty(),
    layers.Dense(1, activation="sigmoid"),
])
model.compile("adam", "binary_crossentropy", metrics=["accuracy"])
model.fit(x, y, epochs=2, batch_size=20, verbose=2)

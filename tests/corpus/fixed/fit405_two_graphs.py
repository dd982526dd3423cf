import tensorflow as tf
import numpy as np


class Standardizer:
    """Keeps the statistics of the training rows."""

    def __init__(self, x):
        self.mean = tf.constant(x.mean(axis=0), name="mean")
        self.std = tf.constant(x.std(axis=0), name="std")

    def apply(self, x):
        raw = tf.constant(x, name="raw")
        return (raw - self.mean) / self.std


features = np.random.default_rng(1).normal(3.0, 2.0, size=(150, 3)).astype("float32")
targets = features @ np.array([[1.0], [2.0], [-1.0]], dtype="float32")
scaled = Standardizer(features).apply(features)

model = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(16, activation="relu"), tf.keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(scaled, targets, epochs=2, batch_size=15, verbose=2)

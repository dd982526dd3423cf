"""Training on a generator of windows of 12 steps."""

import numpy as np
import tensorflow as tf


def windows():
    rng = np.random.default_rng(12)
    for _ in range(40):
        window = rng.normal(size=(12, 2)).astype("float32")
        yield window, window[-1, 0]


signature = (
    tf.TensorSpec(shape=(12, 2), dtype=tf.float32),
    tf.TensorSpec(shape=(), dtype=tf.float32),
)
data = tf.data.Dataset.from_generator(windows, output_signature=signature).batch(8)
model = tf.keras.Sequential([tf.keras.Input((None, 2)), tf.keras.layers.GRU(4), tf.keras.layers.Dense(1)])
model.compile("adam", "mse")
model.fit(data, epochs=1, verbose=0)

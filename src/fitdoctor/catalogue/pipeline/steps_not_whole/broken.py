"""Training on a generator with a computed number of steps per epoch."""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(5)
weather = rng.normal(size=(96, 6)).astype("float32")
harvest = weather.sum(axis=1)
BATCH = 16


def batches():
    while True:
        rows = rng.integers(0, len(weather), BATCH)
        yield weather[rows], harvest[rows]


model = tf.keras.Sequential([tf.keras.Input((6,)), tf.keras.layers.Dense(1)])
model.compile("adam", "mse")
model.fit(batches(), steps_per_epoch=len(weather) / BATCH, epochs=2, verbose=0)  # <- FIT715

"""Training on a generator of inputs and labels."""

import numpy as np
import tensorflow as tf


def batches(waves, alarms, size):
    while True:
        for start in range(0, len(waves), size):
            yield [waves[start : start + size], alarms[start : start + size]]  # <- FIT707


rng = np.random.default_rng(3)
waves = rng.normal(size=(96, 12)).astype("float32")
alarms = (waves[:, :1] > 0).astype("float32")

model = tf.keras.Sequential(
    [tf.keras.Input((12,)), tf.keras.layers.Dense(8, "relu"), tf.keras.layers.Dense(1, "sigmoid")]
)
model.compile("adam", "binary_crossentropy")
model.fit(batches(waves, alarms, 16), steps_per_epoch=6, epochs=2, verbose=0)

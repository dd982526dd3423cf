"""A loss that NumPy computes inside of `tf.py_function`: the pass back fails in words about an unrelated shape."""

import numpy as np
import tensorflow as tf


def distance(a, b):
    first, second = a.numpy(), b.numpy()
    return np.float32(np.abs(first[:, :, None] - second[:, None, :]).mean())


def warped_distance(y_true, y_pred):
    loss = tf.py_function(distance, [tf.cast(y_true, tf.float32), y_pred], tf.float32)  # <- FIT505
    loss.set_shape(())
    return loss


model = tf.keras.Sequential([tf.keras.Input((6,)), tf.keras.layers.Dense(8, activation="relu"), tf.keras.layers.Dense(4)])
model.compile(optimizer="adam", loss=warped_distance)
rng = np.random.default_rng(2)
model.fit(rng.random((24, 6)), rng.random((24, 4)), epochs=1, batch_size=8, verbose=0)

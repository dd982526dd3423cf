"""A global is set again to the value that it has."""

import numpy as np
import tensorflow as tf

weight = 1.0
x = np.random.rand(16, 3).astype("float32")
y = np.random.rand(16, 1).astype("float32")


def weighted(a, b):
    return weight * tf.reduce_mean((a - b) ** 2)


first = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(1)])
first.compile("adam", "mse")
first.fit(x, y, verbose=0)
first.evaluate(x, y, verbose=0)

weight = 0.5
second = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(1)])
second.compile("adam", weighted)
second.fit(x, y, verbose=0)
weight = 0.5
second.fit(x, y, verbose=0)

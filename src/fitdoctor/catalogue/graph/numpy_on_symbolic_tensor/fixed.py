"""A custom loss that compares logarithms."""

import numpy as np
import tensorflow as tf


def log_error(y_true, y_pred):
    return tf.reduce_mean(tf.abs(tf.math.log1p(y_true) - tf.math.log1p(y_pred)))


rng = np.random.default_rng(9)
x = rng.random((80, 3)).astype("float32")
y = x.sum(axis=1, keepdims=True)

model = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(1, activation="softplus")])
model.compile(optimizer="adam", loss=log_error)
model.fit(x, y, epochs=2, verbose=0)

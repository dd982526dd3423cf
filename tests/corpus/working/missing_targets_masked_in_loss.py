"""Targets that are missing, which the loss leaves out."""

import numpy as np
import tensorflow as tf
def masked_mse(y_true, y_pred):
    mask = tf.math.is_finite(y_true)
    y_true = tf.where(mask, y_true, tf.zeros_like(y_true))
    sq = tf.square(y_true - y_pred) * tf.cast(mask, y_pred.dtype)
    return tf.reduce_sum(sq) / (tf.reduce_sum(tf.cast(mask, y_pred.dtype)) + 1e-6)
x = np.random.rand(100, 5)
y = np.random.rand(100, 4)
y[np.random.rand(100, 4) < 0.3] = np.nan
model = tf.keras.Sequential([tf.keras.layers.Dense(8, activation='relu'), tf.keras.layers.Dense(4)])
model.compile(optimizer='adam', loss=masked_mse)
h = model.fit(x, y, epochs=2, verbose=0)
print(h.history)

"""A TensorFlow 1 script, ported to TensorFlow 2."""

import numpy as np
import tensorflow as tf

tf.set_random_seed(1)  # <- FIT406


def log_loss(y_true, y_pred):
    return -tf.reduce_mean(y_true * tf.log(y_pred + 1e-6), axis=-1)


rng = np.random.default_rng(8)
x = rng.normal(size=(64, 4)).astype("float32")
y = np.eye(3, dtype="float32")[rng.integers(0, 3, 64)]

model = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(3, activation="softmax")])
model.compile(optimizer="adam", loss=log_loss)
model.fit(x, y, epochs=2, verbose=0)

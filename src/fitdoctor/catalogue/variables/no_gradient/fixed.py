"""A custom loss for grades."""

import numpy as np
import tensorflow as tf


def distance(y_true, y_pred):
    chosen = tf.reduce_sum(y_pred * tf.range(3, dtype=tf.float32), axis=-1)
    return tf.abs(tf.squeeze(tf.cast(y_true, tf.float32), -1) - chosen)


rng = np.random.default_rng(16)
x = rng.normal(size=(90, 4)).astype("float32")
grade = rng.integers(0, 3, size=(90, 1))

model = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(3, activation="softmax")])
model.compile(optimizer="adam", loss=distance)
model.fit(x, grade, epochs=1, verbose=0)

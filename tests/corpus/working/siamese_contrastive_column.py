import numpy as np
import tensorflow as tf
from tensorflow.keras import layers


def contrastive_loss(y_true, distance, margin=1.0):
    y_true = tf.cast(y_true, distance.dtype)
    return tf.reduce_mean(y_true * tf.square(distance) + (1 - y_true) * tf.square(tf.maximum(margin - distance, 0)))


class Distance(layers.Layer):
    def call(self, pair):
        a, b = pair
        return tf.sqrt(tf.reduce_sum(tf.square(a - b), axis=1, keepdims=True) + 1e-9)


def pairs(n=200):
    rng = np.random.default_rng(5)
    same = rng.integers(0, 2, (n, 1))
    left = rng.normal(size=(n, 6))
    right = np.where(same == 1, left + rng.normal(0, 0.1, (n, 6)), rng.normal(size=(n, 6)))
    return left.astype("float32"), right.astype("float32"), same


tower = tf.keras.Sequential([layers.Input((6,)), layers.Dense(12, activation="relu"), layers.Dense(4)])
a, b = layers.Input((6,)), layers.Input((6,))
model = tf.keras.Model([a, b], Distance()([tower(a), tower(b)]))
model.compile(optimizer="adam", loss=contrastive_loss)

left, right, same = pairs()
model.fit([left, right], same, epochs=2, batch_size=20, verbose=2)

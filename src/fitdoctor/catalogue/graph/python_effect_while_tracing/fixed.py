"""A map function that scales each sample by a random number."""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(9)
x = rng.normal(size=(96, 6)).astype("float32")
y = x.sum(axis=1, keepdims=True)


def augment(features, target):
    scale = tf.random.uniform((), 0.5, 1.5)
    return features * scale, target


dataset = tf.data.Dataset.from_tensor_slices((x, y)).map(augment).batch(16)
model = tf.keras.Sequential([tf.keras.Input((6,)), tf.keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(dataset, epochs=2, verbose=0)

"""Batched read, vectorised map, unbatch, cache, shuffle, batch: odd but right."""
import numpy as np
import tensorflow as tf
from tensorflow.keras import layers


def raw(n=200):
    rng = np.random.default_rng(8)
    y = rng.integers(0, 2, n)
    x = rng.integers(0, 110, (n, 10, 10, 1)).astype("uint8")
    x[y == 1, :5] += 100
    return x, y


def scale(x, y):
    return tf.cast(x, tf.float32) / 255.0, y


ds = (
    tf.data.Dataset.from_tensor_slices(raw())
    .batch(50)
    .map(scale, num_parallel_calls=2)
    .unbatch()
    .cache()
    .shuffle(200)
    .batch(20, drop_remainder=True)
    .prefetch(tf.data.AUTOTUNE)
)

inp = layers.Input((10, 10, 1))
h = layers.Flatten()(layers.Conv2D(4, 3, activation="relu")(inp))
model = tf.keras.Model(inp, layers.Dense(1, activation="sigmoid")(h))
model.compile("adam", "binary_crossentropy", metrics=["accuracy"])
model.fit(ds, epochs=2, verbose=2)

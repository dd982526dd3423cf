"""Zip two datasets that are shuffled separately (silent)."""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(8)
depths = rng.normal(size=(96, 4)).astype("float32")
is_wet = (depths.sum(axis=1) > 0).astype("float32")

inputs = tf.data.Dataset.from_tensor_slices(depths).shuffle(96)
labels = tf.data.Dataset.from_tensor_slices(is_wet).shuffle(96)  # <- FIT219
pairs = tf.data.Dataset.zip((inputs, labels)).batch(16)

model = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(1, activation="sigmoid")])
model.compile(optimizer="adam", loss="binary_crossentropy")
model.fit(pairs, epochs=2, verbose=0)

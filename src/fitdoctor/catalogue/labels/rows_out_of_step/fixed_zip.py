"""Zip two datasets and shuffle the pairs."""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(8)
depths = rng.normal(size=(96, 4)).astype("float32")
is_wet = (depths.sum(axis=1) > 0).astype("float32")

inputs = tf.data.Dataset.from_tensor_slices(depths)
labels = tf.data.Dataset.from_tensor_slices(is_wet)
pairs = tf.data.Dataset.zip((inputs, labels)).shuffle(96).batch(16)

model = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(1, activation="sigmoid")])
model.compile(optimizer="adam", loss="binary_crossentropy")
model.fit(pairs, epochs=2, verbose=0)

"""Classify texts by topic with a linear output layer."""

import numpy as np
import tensorflow as tf
from tensorflow import keras

rng = np.random.default_rng(6)
topics = rng.integers(0, 4, size=160)
texts = (rng.normal(size=(160, 10)) + topics[:, None]).astype("float32")

inputs = tf.keras.Input((10,))
hidden = tf.keras.layers.Dense(16, activation="relu")(inputs)
outputs = tf.keras.layers.Dense(4)(hidden)
model = tf.keras.Model(inputs, outputs)
model.compile(
    optimizer="adam",
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
model.fit(texts, topics, epochs=2, verbose=0)

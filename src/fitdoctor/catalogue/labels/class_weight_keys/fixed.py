"""Classify log messages by severity with a weight per class."""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(7)
grades = rng.choice(3, size=200, p=[0.7, 0.2, 0.1])
messages = (rng.normal(size=(200, 5)) + grades[:, None]).astype("float32")
dataset = tf.data.Dataset.from_tensor_slices((messages, grades)).batch(20)

model = tf.keras.Sequential(
    [
        tf.keras.layers.Input((5,)),
        tf.keras.layers.Dense(12, activation="relu"),
        tf.keras.layers.Dense(3, activation="softmax"),
    ]
)
model.compile(optimizer="adam", loss="sparse_categorical_crossentropy", metrics=["accuracy"])
weights = {0: 0.5, 1: 1.5, 2: 3.0}
model.fit(dataset, epochs=2, class_weight=weights, verbose=0)

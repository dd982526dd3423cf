"""Classify large images."""

import numpy as np
import tensorflow as tf

model = tf.keras.Sequential(
    [
        tf.keras.Input((512, 512, 3)),
        tf.keras.layers.Conv2D(8, 3, padding="same", activation="relu"),
        tf.keras.layers.Flatten(),  # <- FIT805
        tf.keras.layers.Dense(64, activation="relu"),
        tf.keras.layers.Dense(1, activation="sigmoid"),
    ]
)
model.compile(optimizer="sgd", loss="binary_crossentropy")
x = np.random.default_rng(31).random((2, 512, 512, 3), dtype="float32")
model.fit(x, np.array([[0.0], [1.0]]), batch_size=1, epochs=1, verbose=0)

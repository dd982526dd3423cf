"""The wind's push along the rail, positive and negative; the last layer cannot go below zero."""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(8)
wind = rng.normal(size=(200, 3)).astype("float32")
push = 2.0 * wind[:, 0] - wind[:, 1]

model = tf.keras.Sequential(
    [
        tf.keras.layers.Input((3,)),
        tf.keras.layers.Dense(16, activation="relu"),
        tf.keras.layers.Dense(1, activation="relu"),  # <- FIT211
    ]
)
model.compile(optimizer="adam", loss="mean_squared_error")
model.fit(wind, push, epochs=2, verbose=0)

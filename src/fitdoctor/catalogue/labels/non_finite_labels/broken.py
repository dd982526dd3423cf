"""Predict tomorrow's river level from today's."""

import numpy as np
import pandas as pd
import tensorflow as tf

rng = np.random.default_rng(0)
river = pd.DataFrame({"level": rng.normal(2.0, 0.4, 200), "rain": rng.gamma(2.0, 1.0, 200)})
river["tomorrow"] = river["level"] + 0.1 * river["rain"]

x = river[["level", "rain"]].to_numpy("float32")
y = river["tomorrow"].shift(-1).to_numpy("float32")  # <- FIT206

model = tf.keras.Sequential(
    [tf.keras.layers.Input((2,)), tf.keras.layers.Dense(8, activation="relu"), tf.keras.layers.Dense(1)]
)
model.compile(optimizer="adam", loss="mse")
model.fit(x, y, epochs=2, verbose=0)

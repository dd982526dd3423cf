"""A model that is trained, validated and then tested."""

import numpy as np
import keras

rng = np.random.default_rng(5)
x = rng.normal(size=(120, 6)).astype("float32")
y = x @ rng.normal(size=6).astype("float32")

model = keras.Sequential([keras.Input((6,)), keras.layers.Dense(8, activation="relu"), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse", metrics=["mae"])
column = y[:100].reshape(-1, 1)
model.fit(x[:100], column, validation_split=0.2, epochs=2, verbose=0)
model.evaluate(x[100:], y[100:].reshape(-1, 1), verbose=0)

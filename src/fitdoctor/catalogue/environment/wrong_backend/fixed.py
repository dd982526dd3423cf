"""A small regression model."""

import keras
import numpy as np

rng = np.random.default_rng(4)
x = rng.normal(size=(64, 6)).astype("float32")
model = keras.Sequential([keras.Input((6,)), keras.layers.Dense(1)])
model.compile("adam", "mse")
model.fit(x, x.sum(axis=1), epochs=1, verbose=0)

"""Train a logistic regression with Adam."""

import numpy as np
from tensorflow import keras

rng = np.random.default_rng(41)
x = rng.normal(size=(250, 6)).astype("float32")
y = (x[:, 0] > 0).astype("float32")

model = keras.Sequential([keras.Input((6,)), keras.layers.Dense(1, activation="sigmoid")])
model.compile(optimizer=keras.optimizers.Adam(1e-8), loss="binary_crossentropy")  # <- FIT002
model.fit(x, y, epochs=5, verbose=0)

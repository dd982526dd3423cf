"""Train on shuffled features with the labels in their old order (silent)."""

import numpy as np
from tensorflow import keras

rng = np.random.default_rng(5)
ripe = rng.integers(0, 2, size=200)
weights = rng.normal(ripe[:, None] * 2.0, 1.0, size=(200, 6)).astype("float32")

order = rng.permutation(len(weights))
weights = weights[order]  # <- FIT219

model = keras.Sequential([keras.Input((6,)), keras.layers.Dense(1, activation="sigmoid")])
model.compile(optimizer="adam", loss="binary_crossentropy", metrics=["accuracy"])
model.fit(weights, ripe, epochs=2, validation_split=0.2, verbose=0)

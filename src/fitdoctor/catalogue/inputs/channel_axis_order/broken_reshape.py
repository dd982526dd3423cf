"""Reshape images that have their channels first (silent)."""

import keras
import numpy as np

rng = np.random.default_rng(2)
tiles = rng.random((40, 3, 16, 16)).astype("float32")
is_red = (tiles[:, 0].mean(axis=(1, 2)) > 0.5).astype("float32")

tiles = tiles.reshape(-1, 16, 16, 3)  # <- FIT104

model = keras.Sequential(
    [keras.Input((16, 16, 3)), keras.layers.Flatten(), keras.layers.Dense(1, activation="sigmoid")]
)
model.compile(optimizer="adam", loss="binary_crossentropy")
model.fit(tiles, is_red, epochs=1, verbose=0)

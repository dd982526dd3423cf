"""Layers given to Sequential one by one."""

import numpy as np
from tensorflow.keras.layers import Dense, Flatten
from tensorflow.keras.models import Sequential

tiles = np.random.default_rng(2).random((64, 4, 4)).astype("float32")
bright = (tiles.mean(axis=(1, 2)) > 0.5).astype("float32")

model = Sequential(
    [
        Flatten(input_shape=(4, 4)),
        Dense(8, activation="relu"),
        Dense(1, activation="sigmoid"),
    ]
)
model.compile(loss="binary_crossentropy", optimizer="adam", metrics=["accuracy"])
model.fit(tiles, bright, epochs=2, verbose=0)

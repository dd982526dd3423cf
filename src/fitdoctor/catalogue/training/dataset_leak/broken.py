"""Train a model and validate it on a held-out part of the data."""

import keras
import numpy as np

rng = np.random.default_rng(13)
leaves = rng.normal(size=(150, 9)).astype("float32")
diseased = rng.integers(0, 2, size=(150, 1)).astype("float32")

rows = rng.permutation(150)
held_out = rows[:30]
kept = rows[30:]

model = keras.Sequential([keras.Input((9,)), keras.layers.Dense(16, "relu"), keras.layers.Dense(1, "sigmoid")])
model.compile("adam", "binary_crossentropy")
model.fit(
    leaves,  # <- FIT003
    diseased,
    validation_data=(leaves[held_out], diseased[held_out]),
    epochs=2,
    verbose=0,
)

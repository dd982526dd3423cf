"""Load the weights of a trained model into a model for the next task."""

import tempfile
from pathlib import Path

import keras
import numpy as np

saved = Path(tempfile.mkdtemp()) / "trained.weights.h5"


def build(units):
    return keras.Sequential(
        [keras.Input((8,)), keras.layers.Dense(16, activation="relu"), keras.layers.Dense(units)]
    )


x = np.random.default_rng(0).normal(size=(64, 8)).astype("float32")
model = build(4)
model.compile("adam", "mse")
model.fit(x, x[:, :4], verbose=0)
model.save_weights(saved)

model = build(3)
model.load_weights(saved)  # <- FIT909
model.compile("adam", "mse")
model.fit(x, x[:, :3], verbose=0)

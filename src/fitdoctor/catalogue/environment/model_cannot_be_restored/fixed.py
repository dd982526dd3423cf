"""A model with a custom loss, saved and loaded again."""

import os
import tempfile

import keras
import numpy as np
from keras import ops

rng = np.random.default_rng(7)
pictures = rng.random((48, 16), dtype="float32")
masks = (pictures > 0.5).astype("float32")


def overlap_loss(y_true, y_pred):
    common = ops.sum(y_true * y_pred, axis=-1)
    return 1 - 2 * common / (ops.sum(y_true + y_pred, axis=-1) + 1e-6)


model = keras.Sequential([keras.Input((16,)), keras.layers.Dense(16, activation="sigmoid")])
model.compile(optimizer="adam", loss=overlap_loss)
model.fit(pictures, masks, epochs=1, verbose=0)

with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "cells.keras")
    model.save(path)
    model = keras.models.load_model(path, custom_objects={"overlap_loss": overlap_loss})
model.fit(pictures, masks, epochs=1, verbose=0)

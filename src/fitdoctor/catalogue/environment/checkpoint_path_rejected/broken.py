"""Training with a checkpoint of the best model."""

import tempfile

import numpy as np
from tensorflow import keras

rng = np.random.default_rng(12)
x = rng.normal(size=(96, 5)).astype("float32")
y = x[:, :1] - x[:, 1:2]

folder = tempfile.mkdtemp()
model = keras.Sequential([keras.Input((5,)), keras.layers.Dense(1)])
model.compile("adam", "mse")
saving = keras.callbacks.ModelCheckpoint(folder + "/best.hdf5", save_best_only=True)  # <- FIT905
model.fit(x, y, validation_split=0.25, epochs=2, verbose=0, callbacks=[saving])

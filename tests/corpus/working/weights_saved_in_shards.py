"""Weights may be saved in several files, with a list of them in `.weights.json`."""

import os
import tempfile

import keras
import numpy as np

model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(16), keras.layers.Dense(1)])
model.compile("adam", "mse")
model.fit(np.zeros((64, 8), "float32"), np.zeros((64, 1), "float32"), verbose=0)
path = os.path.join(tempfile.mkdtemp(), "model.weights.json")
model.save_weights(path, max_shard_size=0.001)
print(sorted(os.listdir(os.path.dirname(path))))

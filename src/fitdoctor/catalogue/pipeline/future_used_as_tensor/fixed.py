"""Training on features that a thread loads."""

from concurrent.futures import ThreadPoolExecutor

import keras
import numpy as np


def load_features():
    return np.random.default_rng(1).normal(size=(80, 6)).astype("float32")


pool = ThreadPoolExecutor(1)
features = pool.submit(load_features).result()
target = np.linspace(0, 1, 80).astype("float32")

model = keras.Sequential([keras.Input((6,)), keras.layers.Dense(8, "relu"), keras.layers.Dense(1)])
model.compile("adam", "mse")
model.fit(features, target, epochs=2, verbose=0)

import math

import keras
import numpy as np


class Batches(keras.utils.PyDataset):
    """Index based, so several workers are fine; returns [x, y]."""

    def __init__(self, x, y, size, **kw):
        super().__init__(**kw)
        self.x, self.y, self.size = x, y, size

    def __len__(self):
        return math.ceil(len(self.x) / self.size)

    def __getitem__(self, i):
        rows = slice(i * self.size, (i + 1) * self.size)
        return [self.x[rows], self.y[rows]]


rng = np.random.default_rng(0)
x = rng.normal(size=(170, 4)).astype("float32")
y = (x @ np.array([1, 0, -1, 0.5])).astype("float32")
model = keras.Sequential([keras.layers.Dense(8, activation="relu"), keras.layers.Dense(1)])
model.compile("adam", "mse")
model.fit(Batches(x, y, 16, workers=2), epochs=2, verbose=2)

"""Train several epochs on a generator method that ends after one pass (silent)."""

import keras
import numpy as np


class Batches:
    def __init__(self, x, y, size):
        self.x, self.y, self.size = x, y, size

    @property
    def steps(self):
        return len(self.x) // self.size

    def shuffled(self):
        order = np.random.permutation(len(self.x))
        for start in range(0, self.steps * self.size, self.size):  # <- FIT703
            rows = order[start : start + self.size]
            yield self.x[rows], self.y[rows]


x = np.random.default_rng(1).normal(size=(96, 5)).astype("float32")
batches = Batches(x, x[:, :1], 16)
model = keras.Sequential([keras.layers.Dense(8, activation="relu"), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(batches.shuffled(), steps_per_epoch=batches.steps, epochs=4, verbose=0)

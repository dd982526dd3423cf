"""An endless iterator of a class of the user's own."""

import numpy as np
from tensorflow import keras


class BatchMaker:
    def __init__(self, x, y, size):
        self.x, self.y, self.size = x, y, size

    def __iter__(self):
        while True:
            idx = np.random.choice(len(self.x), self.size)
            yield self.x[idx], self.y[idx]


x, y = np.random.rand(50, 4), np.random.rand(50, 1)
maker = BatchMaker(x, y, 10)
model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1)])
model.compile("adam", "mse")
model.fit(iter(maker), epochs=2, steps_per_epoch=5)

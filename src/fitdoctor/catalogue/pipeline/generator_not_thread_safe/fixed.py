"""Training on a PyDataset that reads its batches from a generator."""

import time

import keras
import numpy as np


class Stream(keras.utils.PyDataset):
    def __init__(self, count, **kwargs):
        super().__init__(**kwargs)
        self.count = count
        self.batches = self.read()

    def read(self):
        rng = np.random.default_rng(8)
        while True:
            flow = rng.normal(size=(16, 6)).astype("float32")
            time.sleep(0.01)
            yield flow, flow[:, :1] - flow[:, 2:3]

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        return next(self.batches)


model = keras.Sequential([keras.Input((6,)), keras.layers.Dense(8, "relu"), keras.layers.Dense(1)])
model.compile("adam", "mse")
stream = Stream(30, workers=1, max_queue_size=6)
model.fit(stream, epochs=2, verbose=0)

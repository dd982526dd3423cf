import time

import keras
import numpy as np


class Progress(keras.callbacks.Callback):
    """Python counters, lists, the clock and prints: all fine in a callback."""

    def __init__(self, every=5):
        super().__init__()
        self.every = every
        self.batches = 0
        self.losses = []

    def on_train_begin(self, logs=None):
        self.started = time.time()

    def on_train_batch_end(self, batch, logs=None):
        self.batches += 1
        self.losses.append(logs["loss"])
        if self.batches % self.every == 0:
            print(f"{self.batches} batches, median loss {np.median(self.losses):.4f}")

    def on_epoch_end(self, epoch, logs=None):
        weights = self.model.layers[0].kernel.numpy()
        print("epoch", epoch, "|w|", np.linalg.norm(weights), "t", round(time.time() - self.started, 1))


x = np.random.default_rng(0).normal(size=(160, 3)).astype("float32")
model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(8, activation="relu"), keras.layers.Dense(1)])
model.compile("adam", "mse")
model.fit(x, x.sum(axis=1), epochs=2, batch_size=16, callbacks=[Progress()], verbose=0)

"""An attribute of a callback that is only annotated, and ids whose shape, not values, is divided."""

import keras
import numpy as np


class StopAt(keras.callbacks.Callback):
    def __init__(self, limit):
        super().__init__()
        self.limit = limit
        self.model: keras.Model

    def on_epoch_end(self, epoch, logs=None):
        if logs["loss"] < self.limit:
            self.model.stop_training = True


length, window = 640, 10
words = "the cat sat on the mat and the dog sat on the cat".split() * 80
codes = {word: code for code, word in enumerate(sorted(set(words)))}
ids = np.array([codes[word] for word in words][0:length])
ids = ids.reshape(int(length / window), window)
model = keras.Sequential(
    [keras.layers.Embedding(12, 4), keras.layers.Flatten(), keras.layers.Dense(1)],
)
model.compile("adam", "mse")
model.fit(ids, np.ones((64, 1)), callbacks=[StopAt(0.01)], verbose=0)

"""Keras calls it once `fit` is running, so it sees neither what fails before that nor the exception that ends training."""

import keras
import numpy as np


class Seen(keras.callbacks.Callback):
    def __init__(self):
        super().__init__()
        self.calls = []

    def on_train_begin(self, logs=None):
        self.calls.append("begin")

    def on_train_end(self, logs=None):
        self.calls.append("end")


def train(x, y):
    model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(2, activation="softmax")])
    model.compile("adam", "sparse_categorical_crossentropy")
    seen = Seen()
    try:
        model.fit(x, y, verbose=0, callbacks=[seen])
    except Exception as error:
        return seen.calls, type(error).__name__
    return seen.calls, ""


assert train(np.ones((8, 3)), np.zeros(8, int)) == (["begin", "end"], "")
assert train(np.ones((8, 3)), np.zeros(7, int)) == ([], "ValueError")  # before fit runs
assert train(np.ones((8, 3)), np.full(8, 2)) == (["begin"], "InvalidArgumentError")  # while it trains

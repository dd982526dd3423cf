"""A subclassed model gives an urgency and a department; each output has its own loss and metric."""

import keras
import numpy as np

rng = np.random.default_rng(5)
words = rng.integers(0, 2, size=(64, 12)).astype("float32")
urgency = rng.random((64, 1)).astype("float32")
department = rng.integers(0, 4, size=(64, 1))


class Desk(keras.Model):
    def __init__(self):
        super().__init__()
        self.hidden = keras.layers.Dense(8, activation="relu")
        self.urgency = keras.layers.Dense(1, activation="sigmoid")
        self.department = keras.layers.Dense(4, activation="softmax")

    def call(self, inputs):
        hidden = self.hidden(inputs)
        return self.urgency(hidden), self.department(hidden)


losses = ["mean_squared_error", "sparse_categorical_crossentropy"]
desk = Desk()
desk.compile("adam", loss=losses, metrics=[["mean_absolute_error"], ["accuracy"]])
desk.fit(words, [urgency, department], epochs=1, verbose=0)

inputs = keras.Input((12,))
drawn = keras.Model(inputs, Desk()(inputs))
drawn.compile("adam", loss=losses, metrics=["mae", "accuracy"])
drawn.fit(words, [urgency, department], epochs=1, verbose=0)

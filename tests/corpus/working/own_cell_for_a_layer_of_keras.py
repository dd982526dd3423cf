"""A recurrent layer with a cell of its own: it skips `SimpleRNN.__init__`, which would create the cell."""

import keras
import numpy as np
from keras.layers import SimpleRNN, SimpleRNNCell


class ClippedCell(SimpleRNNCell):
    def call(self, inputs, states, training=False):
        outputs, states = super().call(inputs, states, training=training)
        return keras.ops.clip(outputs, -0.5, 0.5), states


class ClippedRNN(SimpleRNN):
    def __init__(self, units, return_sequences=False, **kwargs):
        cell = ClippedCell(units, dtype=kwargs.get("dtype"))
        super(SimpleRNN, self).__init__(cell, return_sequences=return_sequences, **kwargs)
        self.input_spec = [keras.layers.InputSpec(ndim=3)]


model = keras.Sequential([keras.Input((6, 3)), ClippedRNN(4), keras.layers.Dense(1)])
model.compile("adam", "mse")
x = np.random.default_rng(0).random((16, 6, 3))
model.fit(x, x.sum(axis=(1, 2))[:, None], verbose=0)

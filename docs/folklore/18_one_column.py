"""A layer that works on one column needs data with a single feature.

The data may have any number of columns. What fails is the index: `inputs[:, 0]` drops the axis, and the next layer
gets data of one axis. `inputs[:, 0:1]` keeps it (FIT307).
"""

import keras
import numpy as np


class Column(keras.layers.Layer):
    def __init__(self, keep_axis):
        super().__init__()
        self.keep_axis = keep_axis
        self.dense = keras.layers.Dense(1)

    def call(self, inputs):
        return self.dense(inputs[:, 0:1] if self.keep_axis else inputs[:, 0])


def raised(keep_axis):
    model = keras.Sequential([Column(keep_axis)])
    model.compile(optimizer="sgd", loss="mse")
    try:
        model.fit(np.random.rand(32, 5), np.random.rand(32, 1), verbose=0)
    except ValueError as error:
        return str(error)
    return ""


assert "found ndim=1" in raised(keep_axis=False)
assert raised(keep_axis=True) == ""

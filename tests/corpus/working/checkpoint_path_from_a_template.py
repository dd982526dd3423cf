"""A path that a template takes from elsewhere: its extension is not in the template."""

import os
import tempfile

import numpy as np
from tensorflow import keras

rng = np.random.default_rng(4)
x = rng.normal(size=(64, 3)).astype("float32")
y = x.sum(axis=1, keepdims=True)


def train(target):
    model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(1)])
    model.compile("adam", "mse")
    model.fit(x, y, verbose=0)
    model.save("{}".format(target))
    model.save_weights("{0}/{1}".format(os.path.dirname(target), "last.weights.h5"))


train(os.path.join(tempfile.mkdtemp(), "best.keras"))

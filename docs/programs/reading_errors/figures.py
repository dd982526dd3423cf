"""`expected shape=(None, 8), found shape=(5, 9)`

`(None, 28, 28)` against `(None, 784)` | the same number of values: reshape, or change the `Input`

`(None, 28, 28)` against `(28, 28)` | the batch axis is missing: one sample was passed instead of a batch

`expected min_ndim=2, found ndim=1` | an axis was dropped, for example by `x[:, 0]`
"""

import keras
import numpy as np


def raised(model, x):
    try:
        model(x)
    except ValueError as error:
        return str(error)
    return ""


def functional(shape):
    inputs = keras.Input(shape)
    return keras.Model(inputs, keras.layers.Dense(1)(keras.layers.Flatten()(inputs)))


assert "expected shape=(None, 8), found shape=(5, 9)" in raised(functional((8,)), np.zeros((5, 9)))
assert "expected shape=(None, 28, 28), found shape=(5, 784)" in raised(
    functional((28, 28)), np.zeros((5, 784))
)
assert not raised(functional((28, 28)), np.zeros((5, 784)).reshape(-1, 28, 28))
image = np.zeros((28, 28))
message = raised(functional((28, 28)), image)
assert "Expected shape (None, 28, 28), but input has incompatible shape (28, 28)" in message
assert not raised(functional((28, 28)), image[None])
column = np.zeros((5, 3))
assert "expected min_ndim=2, found ndim=1" in raised(keras.layers.Dense(1), column[:, 0])
assert not raised(keras.layers.Dense(1), column[:, 0:1])

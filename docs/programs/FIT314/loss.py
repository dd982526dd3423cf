"""`mape() missing 1 required positional argument`"""

import keras
import numpy as np


def mape(y_true, y_pred, smallest):
    return keras.ops.mean(keras.ops.abs(y_true - y_pred) / keras.ops.maximum(y_true, smallest))


model = keras.Sequential([keras.layers.Dense(1)])
model.compile("sgd", mape)
try:
    model.fit(np.ones((4, 3)), np.ones((4, 1)), verbose=0)
except TypeError as error:
    assert "mape() missing 1 required positional argument: 'smallest'" in str(error)
else:
    raise AssertionError("it must raise")

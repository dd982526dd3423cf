"""float64 data fails in `fit` and must be converted to float32.

Keras casts floating-point data to the dtype of the model. NumPy's float64 trains, and gives the same loss as float32.
It only takes twice the memory until it is cast.
"""

import keras
import numpy as np


def loss_with(dtype):
    keras.utils.set_random_seed(0)
    x = np.random.rand(64, 4).astype(dtype)
    y = x.sum(axis=1, keepdims=True)
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1)])
    model.compile(optimizer="sgd", loss="mse")
    return model.fit(x, y, epochs=2, verbose=0).history["loss"]


assert np.allclose(loss_with("float64"), loss_with("float32"), rtol=1e-4)

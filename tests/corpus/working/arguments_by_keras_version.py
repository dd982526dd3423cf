"""A layer made for whichever Keras there is, each with the arguments of its time."""

import keras
import numpy as np

keras_1 = int(keras.__version__.split(".")[0]) < 2


def dense(units, regularizer=None):
    if keras_1:
        return keras.layers.Dense(units, W_regularizer=regularizer, kernel_initialiser="he_normal")
    else:
        return keras.layers.Dense(units, kernel_regularizer=regularizer, kernel_initializer="he_normal")


model = keras.Sequential([keras.Input((3,)), dense(1, "l2")])
model.compile("adam", "mse")
model.fit(np.ones((8, 3), "float32"), np.ones((8, 1), "float32"), verbose=0)

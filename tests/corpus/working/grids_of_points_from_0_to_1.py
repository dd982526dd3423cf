"""A curve is learned on a grid of points and validated on a coarser one: both run from 0 to 1 by design."""

import keras
import numpy as np


def curve(t):
    return np.sin(6 * t) + t**2


t_train = np.linspace(0, 1, 200)[:, None]
t_val = np.linspace(0, 1, 60)[:, None]
model = keras.Sequential(
    [keras.Input((1,)), keras.layers.Dense(32, activation="tanh"), keras.layers.Dense(1)]
)
model.compile(keras.optimizers.Adam(0.01), "mse")
model.fit(t_train, curve(t_train), validation_data=(t_val, curve(t_val)), epochs=2, verbose=0)

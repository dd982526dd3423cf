"""Unfreeze layers in a method that compiles again."""

import keras
import numpy as np


class Tuner:
    def __init__(self, rate=1e-3):
        self.base = keras.Sequential([keras.layers.Dense(16, activation="relu")])
        self.base.trainable = False
        self.model = keras.Sequential([keras.Input((6,)), self.base, keras.layers.Dense(1)])
        self.compile(rate)

    def compile(self, rate):
        self.model.compile(
            optimizer=keras.optimizers.Adam(rate),
            loss="mse",
        )

    def unfreeze(self, rate):
        self.base.trainable = True
        self.compile(rate)


x, y = np.random.default_rng(2).normal(size=(64, 6)), np.zeros((64, 1))
tuner = Tuner()
tuner.model.fit(x, y, epochs=1, verbose=0)
tuner.unfreeze(1e-5)
tuner.model.fit(x, y, epochs=1, verbose=0)

"""Schedules per epoch that do not compound, and layers and stages whose result is not needed."""

import math

import numpy as np
from tensorflow import keras

x = np.random.default_rng(7).normal(size=(64, 4)).astype("float32")
y = x.sum(axis=1)
FIRST = 0.02


def from_the_first(epoch, lr):
    return FIRST * 0.8**epoch


def by_the_same_factor(epoch, lr):
    return lr * math.exp(-0.1) if epoch > 1 else lr


def halved_at_times(epoch, lr):
    return lr * 0.5 if epoch % 2 == 0 and epoch else lr


for schedule in (from_the_first, by_the_same_factor, halved_at_times, lambda epoch: FIRST / (1 + epoch)):
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(8, "relu"), keras.layers.Dense(1)])
    model.compile(keras.optimizers.SGD(FIRST), "mse")
    model.fit(x, y, epochs=4, verbose=0, callbacks=[keras.callbacks.LearningRateScheduler(schedule)])

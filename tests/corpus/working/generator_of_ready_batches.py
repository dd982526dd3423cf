"""Generators that hand out batches which were made before."""

import numpy as np
import tensorflow as tf

batches_x = [np.random.rand(8, 4) for _ in range(5)]
batches_y = [np.random.rand(8, 1) for _ in range(5)]


def gen():
    while True:
        for i in range(5):
            yield batches_x[i], batches_y[i]


def gen2():
    for xb, yb in zip(batches_x, batches_y):
        yield xb, yb


model = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(1)])
model.compile("sgd", "mse")
model.fit(gen(), steps_per_epoch=5, epochs=2, verbose=0)
model.fit(gen2(), epochs=1, verbose=0)

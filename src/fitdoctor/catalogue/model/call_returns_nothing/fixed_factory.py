"""Signature pairs with a margin loss from a factory function."""

import keras
import numpy as np
from keras import ops


def margin_loss(margin=1.0):
    def compare(same, distance):
        near = same * ops.square(distance)
        far = (1 - same) * ops.square(ops.maximum(margin - distance, 0))
        return ops.mean(near + far)

    return compare


rng = np.random.default_rng(3)
left, right = (rng.normal(size=(40, 6)).astype("float32") for _side in range(2))
same = rng.integers(0, 2, size=(40, 1)).astype("float32")
a, b = keras.Input((6,)), keras.Input((6,))
tower = keras.layers.Dense(4, activation="tanh")
gap = keras.layers.Subtract()([tower(a), tower(b)])
pairs = keras.Model([a, b], keras.layers.Dense(1)(gap))
pairs.compile(optimizer="adam", loss=margin_loss(0.5))
pairs.fit([left, right], same, epochs=1, verbose=0)

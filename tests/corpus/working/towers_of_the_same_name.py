"""Two functional models of one name inside a subclassed model."""

import keras
import numpy as np
from keras import layers


def make_tower(units):
    inputs = keras.Input((4,))
    return keras.Model(inputs, layers.Dense(units, name="out")(inputs), name="tower")


class TwoTowers(keras.Model):
    def __init__(self):
        super().__init__()
        self.user = make_tower(8)
        self.item = make_tower(8)
        self.blocks = [layers.Dense(8, name="b") for _ in range(3)]

    def call(self, inputs):
        u, i = inputs
        u = self.user(u)
        for b in self.blocks:
            u = b(u)
        return keras.ops.sum(u * self.item(i), axis=-1, keepdims=True)


m = TwoTowers()
m.compile("adam", "mse")
m.fit([np.random.rand(16, 4), np.random.rand(16, 4)], np.random.rand(16, 1), verbose=0)

import random

import keras
import numpy as np
from keras import layers


class StochasticBlock(layers.Layer):
    """Residual block that is skipped with probability p while training."""

    def __init__(self, units, p=0.5):
        super().__init__()
        self.p = p
        self.dense = layers.Dense(units, activation="relu")

    def call(self, x, training=False):
        y = self.dense(x)
        if training and random.random() < self.p:  # <- FIT409
            return x
        return x + y


def main():
    data = np.random.default_rng(0).normal(size=(240, 8)).astype("float32")
    target = np.maximum(data, 0).sum(axis=1)
    inputs = keras.Input((8,))
    h = inputs
    for _ in range(3):
        h = StochasticBlock(8)(h)
    model = keras.Model(inputs, layers.Dense(1)(h))
    model.compile("adam", "mse")
    model.fit(data, target, epochs=2, batch_size=24, verbose=2)


if __name__ == "__main__":
    main()

"""Rows of two classes are put into two random orders, and only then joined and labelled."""

import numpy as np
from tensorflow import keras

rng = np.random.default_rng(31)


def balanced(count):
    healthy, ill = rng.normal(0.0, 1.0, (200, 4)), rng.normal(2.0, 1.0, (60, 4))
    healthy = healthy[rng.permutation(len(healthy))]
    ill = ill[rng.permutation(len(ill))]
    return healthy[:count], ill[:count]


healthy, ill = balanced(50)
x = np.concatenate([healthy, ill]).astype("float32")
y = np.concatenate([np.zeros(len(healthy)), np.ones(len(ill))])
order = rng.permutation(len(x))
model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1, activation="sigmoid")])
model.compile("adam", "binary_crossentropy")
model.fit(x[order], y[order], epochs=1, verbose=0)

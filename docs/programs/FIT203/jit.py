"""Compiled with `jit_compile=True`, the same labels raise nothing and the loss becomes NaN."""

import keras
import numpy as np

model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(2, activation="softmax")])
model.compile("sgd", "sparse_categorical_crossentropy", jit_compile=True)
losses = model.fit(np.ones((4, 3)), np.array([0, 1, 1, 2]), verbose=0).history["loss"]
assert np.isnan(losses).all()

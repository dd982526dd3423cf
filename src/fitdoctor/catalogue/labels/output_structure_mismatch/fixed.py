"""Predict what is in a box and where it is."""

import keras
import numpy as np
from keras import layers

rng = np.random.default_rng(13)
features = rng.normal(size=(96, 10)).astype("float32")
kind = rng.integers(0, 3, size=96)
corners = rng.random((96, 4)).astype("float32")

inputs = keras.Input((10,))
hidden = layers.Dense(16, activation="relu")(inputs)
kinds = layers.Dense(3, activation="softmax", name="kind")(hidden)
boxes = layers.Dense(4, name="box")(hidden)
model = keras.Model(inputs, [kinds, boxes])
model.compile(optimizer="adam", loss={"kind": "sparse_categorical_crossentropy", "box": "mse"})
targets = {"kind": kind, "box": corners}
model.fit(features, targets, epochs=2, verbose=0)

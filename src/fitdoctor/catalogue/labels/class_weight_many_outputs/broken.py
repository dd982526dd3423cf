"""Classify a plant and its health, with more weight on the rare kinds."""

import numpy as np
from tensorflow import keras
from tensorflow.keras import layers

rng = np.random.default_rng(9)
leaves = rng.random((90, 10)).astype("float32")
kind = rng.integers(0, 3, size=90)
healthy = rng.integers(0, 2, size=90).astype("float32")

inputs = keras.Input((10,))
hidden = layers.Dense(16, activation="relu")(inputs)
kind_output = layers.Dense(3, activation="softmax", name="kind")(hidden)
health_output = layers.Dense(1, activation="sigmoid", name="health")(hidden)
model = keras.Model(inputs, [kind_output, health_output])
model.compile(optimizer="adam", loss=["sparse_categorical_crossentropy", "binary_crossentropy"])
model.fit(leaves, [kind, healthy], epochs=2, verbose=0, class_weight={0: 1.0, 1: 2.0, 2: 4.0})  # <- FIT213

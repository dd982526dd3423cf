"""Classify iris-like flowers by species."""

import numpy as np
from tensorflow.keras import Sequential
from tensorflow.keras.layers import Dense, Input

rng = np.random.default_rng(1)
measurements = rng.normal(size=(150, 4)).astype("float32")
species = rng.integers(0, 3, size=150)

model = Sequential([Input((4,)), Dense(16, activation="relu"), Dense(3, activation="softmax")])
model.compile(optimizer="adam", loss="sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(measurements, species, epochs=3, verbose=0)

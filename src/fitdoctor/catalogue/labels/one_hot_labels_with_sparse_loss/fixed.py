"""Classify handwritten letters."""

import numpy as np
from tensorflow import keras

rng = np.random.default_rng(3)
letters = rng.random((120, 8, 8)).astype("float32")
codes = rng.integers(0, 4, size=120)
y = keras.utils.to_categorical(codes, num_classes=4)

model = keras.Sequential(
    [
        keras.Input((8, 8)),
        keras.layers.Flatten(),
        keras.layers.Dense(16, activation="relu"),
        keras.layers.Dense(4, activation="softmax"),
    ]
)
model.compile(optimizer="adam", loss="categorical_crossentropy", metrics=["accuracy"])
model.fit(letters, y, epochs=2, verbose=0)

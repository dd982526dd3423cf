"""Classify six dance steps."""

import numpy as np
from tensorflow import keras
from tensorflow.keras import layers

STEPS = ["chassé", "glissade", "jeté", "plié", "relevé", "tendu"]
rng = np.random.default_rng(5)
poses = rng.normal(size=(180, 12)).astype("float32")
y = keras.utils.to_categorical(rng.integers(0, len(STEPS), size=180), num_classes=len(STEPS))

inputs = keras.Input((12,))
hidden = layers.Dense(24, activation="relu")(inputs)
outputs = layers.Dense(5, activation="softmax")(hidden)  # <- FIT205
model = keras.Model(inputs, outputs)
model.compile(optimizer="adam", loss="categorical_crossentropy", metrics=["accuracy"])
model.fit(poses, y, epochs=2, verbose=0)

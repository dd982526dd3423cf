"""Train a Keras model on images stored channels first, as in PyTorch."""

import keras
import numpy as np

rng = np.random.default_rng(4)
labels = rng.integers(0, 2, size=64)
pictures = rng.random((64, 3, 16, 20)).astype("float32")  # <- FIT104

inputs = keras.Input(shape=(16, 20, 3))
hidden = keras.layers.Conv2D(4, 3, activation="relu")(inputs)
hidden = keras.layers.GlobalAveragePooling2D()(hidden)
outputs = keras.layers.Dense(2, activation="softmax")(hidden)
model = keras.Model(inputs, outputs)
model.compile(optimizer="adam", loss="sparse_categorical_crossentropy")
model.fit(pictures, labels, epochs=1, verbose=0)

"""Training on images with pixel values from 0 to 255."""

import keras
import numpy as np
from keras import layers

rng = np.random.default_rng(17)
species = rng.integers(0, 3, size=120)
leaves = (rng.integers(0, 60, (120, 8, 8, 1)) + 60 * species[:, None, None, None]).astype("float32")

x_train, y_train = leaves[:90] / 255.0, species[:90]
x_val = leaves[90:]  # <- FIT717
y_val = species[90:]

model = keras.Sequential(
    [keras.Input((8, 8, 1)), layers.Flatten(), layers.Dense(3, activation="softmax")]
)
model.compile(optimizer="adam", loss="sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(x_train, y_train, validation_data=(x_val, y_val), epochs=2, verbose=0)

"""A functional autoencoder with an activity penalty."""

import keras
import numpy as np
from keras import layers, ops

inputs = keras.Input((8,))
code = layers.Dense(3, activation="relu")(inputs)
model = keras.Model(inputs, layers.Dense(8)(code))
model.add_loss(0.01 * ops.mean(ops.abs(code)))  # <- FIT410
model.compile(optimizer="adam", loss="mse")

x = np.random.default_rng(10).normal(size=(64, 8)).astype("float32")
model.fit(x, x, epochs=2, verbose=0)

"""A tide model with named layers."""

import keras
import numpy as np
from keras import layers

rng = np.random.default_rng(27)
moon = rng.normal(size=(100, 5)).astype("float32")
tide = moon.sum(axis=1, keepdims=True)

inputs = keras.Input((5,))
x = layers.Dense(16, activation="relu", name="swell")(inputs)
x = layers.Dense(8, activation="relu", name="swell_2")(x)
model = keras.Model(inputs, layers.Dense(1)(x))
model.compile(optimizer="adam", loss="mse")
model.fit(moon, tide, epochs=2, verbose=0)

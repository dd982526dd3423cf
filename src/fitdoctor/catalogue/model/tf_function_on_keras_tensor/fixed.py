import numpy as np
from tensorflow import keras

rng = np.random.default_rng(9)
steps = rng.normal(size=(150, 20, 3)).astype("float32")
energy = (steps**2).sum(axis=(1, 2)).astype("float32") / 60

inputs = keras.Input((20, 3))
h = keras.layers.Dense(16, activation="relu")(inputs)
pooled = keras.ops.concatenate([keras.ops.mean(h, axis=1), keras.ops.max(h, axis=1)], axis=-1)
model = keras.Model(inputs, keras.layers.Dense(1)(pooled))
model.compile(optimizer="adam", loss="mse")
model.fit(steps, energy, epochs=2, verbose=0)

"""Training with a cosine schedule."""

import numpy as np
from tensorflow import keras

EPOCHS, BATCH = 10, 16

rng = np.random.default_rng(0)
x = rng.normal(size=(320, 8)).astype("float32")
y = (x @ rng.normal(size=(8, 1))).astype("float32")

model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(16, activation="relu"), keras.layers.Dense(1)])
rate = keras.optimizers.schedules.CosineDecay(0.01, decay_steps=EPOCHS)  # <- FIT330
model.compile(keras.optimizers.Adam(rate), "mse")
model.fit(x, y, batch_size=BATCH, epochs=EPOCHS, verbose=0)

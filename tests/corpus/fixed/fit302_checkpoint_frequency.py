"""Training with a checkpoint after every epoch."""

import keras
import numpy as np

x = np.random.default_rng(0).random((32, 4)).astype("float32")
y = x.sum(axis=1, keepdims=True)
model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(8, activation="relu"), keras.layers.Dense(1)])
model.compile("adam", "mse")
checkpoint = keras.callbacks.ModelCheckpoint("best.keras")
model.fit(x, y, epochs=2, callbacks=[checkpoint], verbose=0)

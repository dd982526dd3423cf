"""Split windows that overlap at random (silent)."""

import keras
import numpy as np
from sklearn.model_selection import train_test_split

HISTORY = 12
level = np.cumsum(np.random.default_rng(5).normal(size=500)).astype("float32")
windows = np.stack([level[at : at + HISTORY] for at in range(len(level) - HISTORY)])
following = level[HISTORY:]
x_train, x_val, y_train, y_val = train_test_split(windows, following, test_size=0.2)  # <- FIT003

model = keras.Sequential([keras.layers.Dense(8, activation="relu"), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(x_train, y_train, validation_data=(x_val, y_val), epochs=2, verbose=0)

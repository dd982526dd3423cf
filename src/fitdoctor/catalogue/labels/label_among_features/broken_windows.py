"""Pair every window of a series with its own first value (silent)."""

import keras
import numpy as np

HISTORY = 12
rng = np.random.default_rng(5)
level = np.cumsum(rng.normal(size=500)).astype("float32")
series = np.stack([level, np.roll(level, 3)], axis=1)

windows = keras.utils.timeseries_dataset_from_array(
    series,
    series[:, 0],  # <- FIT220
    sequence_length=HISTORY,
    shuffle=True,
)
model = keras.Sequential([keras.layers.LSTM(8), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(windows, epochs=2, verbose=0)

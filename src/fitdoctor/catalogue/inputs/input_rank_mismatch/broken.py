"""Train a recurrent model on a univariate series."""

import keras
import numpy as np

prices = np.cumsum(np.random.default_rng(7).normal(size=140))
windows = np.stack([prices[start : start + 12] for start in range(120)])  # <- FIT102
following = prices[12:132]

model = keras.Sequential()
model.add(keras.layers.GRU(8))
model.add(keras.layers.Dense(1))
model.compile(optimizer="adam", loss="mse")
model.fit(windows, following, epochs=1, batch_size=24, verbose=0)

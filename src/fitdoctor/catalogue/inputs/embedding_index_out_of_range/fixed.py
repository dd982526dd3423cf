"""Train an Embedding on the months 1 to 12."""

import keras
import numpy as np

rng = np.random.default_rng(2)
months = rng.integers(1, 13, size=(96, 1))
sales = np.sin(months / 2).astype("float32")

inputs = keras.Input((1,), dtype="int32")
vectors = keras.layers.Embedding(13, 4)(inputs)
outputs = keras.layers.Dense(1)(keras.layers.Flatten()(vectors))
model = keras.Model(inputs, outputs)
model.compile(optimizer="adam", loss="mse")
model.fit(months, sales, epochs=1, verbose=0)

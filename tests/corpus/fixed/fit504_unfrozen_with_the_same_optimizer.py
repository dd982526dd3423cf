"""Fine-tuning with an optimizer of its own."""

import numpy as np
from tensorflow import keras

body = keras.Sequential([keras.Input((10,)), keras.layers.Dense(16, activation="relu"), keras.layers.Dense(8)])
body.trainable = False
model = keras.Sequential([body, keras.layers.Dense(1, activation="sigmoid")])
adam = keras.optimizers.Adam(1e-3)
model.compile(adam, "binary_crossentropy")
rng = np.random.default_rng(3)
x, y = rng.random((32, 10)), rng.integers(0, 2, 32)
model.fit(x, y, epochs=1, verbose=0)

body.trainable = True
model.compile(keras.optimizers.Adam(1e-5), "binary_crossentropy")
model.fit(x, y, epochs=1, verbose=0)

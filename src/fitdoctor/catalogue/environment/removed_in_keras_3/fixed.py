"""Training with SGD and momentum."""

import numpy as np
from tensorflow import keras

rng = np.random.default_rng(11)
x = rng.normal(size=(128, 4)).astype("float32")
y = x @ np.array([[1.0], [-2.0], [0.5], [0.0]], dtype="float32")

model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1)])
sgd = keras.optimizers.SGD(learning_rate=0.01, momentum=0.9)
model.compile(optimizer=sgd, loss="mse")
model.fit(x, y, epochs=2, verbose=0)

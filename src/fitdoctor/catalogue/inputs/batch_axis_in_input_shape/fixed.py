"""Train a recurrent model on sequences."""

import numpy as np
from tensorflow import keras

rng = np.random.default_rng(3)
readings = rng.normal(size=(96, 10, 4)).astype("float32")
alarms = (readings[:, -1, 0] > 0).astype("float32")

model = keras.Sequential([
    keras.Input(shape=readings.shape[1:]),
    keras.layers.Flatten(),
    keras.layers.Dense(8, activation="relu"),
    keras.layers.Dense(1, activation="sigmoid"),
])
model.compile(optimizer="adam", loss="binary_crossentropy")
model.fit(readings, alarms, epochs=1, verbose=0)

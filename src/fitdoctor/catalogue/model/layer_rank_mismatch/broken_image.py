import keras
import numpy as np
from keras import layers

rng = np.random.default_rng(8)
scans = rng.random((120, 14, 14, 1)).astype("float32")
density = (scans.mean(axis=(1, 2, 3)) + rng.normal(0, 0.01, 120)).astype("float32")

model = keras.Sequential(
    [
        keras.Input((14, 14, 1)),
        layers.Conv2D(8, 3, activation="relu"),
        layers.MaxPooling2D(),
        layers.Dense(16, activation="relu"),  # <- FIT304
        layers.Dense(1),
    ]
)
model.compile(optimizer="adam", loss="mse")
model.fit(scans, density, epochs=2, verbose=0)

"""Detect which instruments play; often several at once."""

import numpy as np
from tensorflow import keras
from tensorflow.keras import layers

rng = np.random.default_rng(2)
plays = (rng.random((160, 4)) < 0.5).astype("float32")
spectra = np.concatenate([plays, plays], axis=1) + rng.normal(0, 0.1, (160, 8))

model = keras.Sequential(
    [
        layers.Input((8,)),
        layers.Dense(16, activation="relu"),
        layers.Dense(4, activation="softmax"),
    ]
)
model.compile(optimizer="adam", loss="categorical_crossentropy")  # <- FIT207
model.fit(spectra.astype("float32"), plays, epochs=2, verbose=0)

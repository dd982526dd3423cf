"""A wine model that drops a quarter of its units."""

import keras
import numpy as np
from keras import layers

rng = np.random.default_rng(26)
acids = rng.normal(size=(120, 7)).astype("float32")
quality = (acids @ rng.normal(size=7) > 0).astype("float32")

model = keras.Sequential(
    [
        keras.Input((7,)),
        layers.Dense(16, activation="relu"),
        layers.Dropout(0.25),
        layers.Dense(1, activation="sigmoid"),
    ]
)
model.compile(optimizer="adam", loss="binary_crossentropy")
model.fit(acids, quality, epochs=2, verbose=0)

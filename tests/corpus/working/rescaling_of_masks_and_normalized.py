"""A `Rescaling` for bytes is in place: the masks hold 0 and 1 in bytes, and a normalization follows the fractions."""

import numpy as np
import keras
from keras import layers

rng = np.random.default_rng(0)
masks = (rng.random((64, 8, 8, 1)) < 0.1).astype("uint8")
photos = rng.random((64, 8, 8, 1)).astype("float32")
found = masks.any(axis=(1, 2, 3)).astype("float32")
for pictures, then in ((masks, layers.Flatten()), (photos, layers.BatchNormalization())):
    model = keras.Sequential(
        [
            keras.Input((8, 8, 1)),
            layers.Rescaling(1.0 / 255),
            then,
            layers.Flatten(),
            layers.Dense(1, activation="sigmoid"),
        ]
    )
    model.compile(optimizer="adam", loss="binary_crossentropy")
    model.fit(pictures, found, epochs=1, verbose=0)

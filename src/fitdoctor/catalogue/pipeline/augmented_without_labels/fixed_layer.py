"""Train on images as they are."""

import numpy as np
from tensorflow import keras

rng = np.random.default_rng(0)
masks = np.zeros((64, 16, 16, 1), "float32")
for mask, row, column in zip(masks, rng.integers(0, 6, 64), rng.integers(0, 6, 64), strict=True):
    mask[row : row + 5, column : column + 5] = 1
images = masks + rng.normal(0, 0.2, masks.shape).astype("float32")


model = keras.Sequential(
    [
        keras.Input((16, 16, 1)),
        keras.layers.Conv2D(8, 3, padding="same", activation="relu"),
        keras.layers.Conv2D(1, 1),
    ]
)
model.compile(optimizer="adam", loss=keras.losses.BinaryCrossentropy(from_logits=True))
model.fit(images, masks, epochs=2, verbose=0)

"""A classifier for images of any size."""

import numpy as np
import keras

images = np.random.default_rng(3).random((24, 20, 20, 3), dtype="float32")
labels = np.arange(24) % 2

model = keras.Sequential(
    [
        keras.Input((None, None, 3)),
        keras.layers.Conv2D(4, 3, activation="relu"),
        keras.layers.Flatten(),  # <- FIT324
        keras.layers.Dense(1, activation="sigmoid"),
    ]
)
model.compile(optimizer="adam", loss="binary_crossentropy")
model.fit(images, labels, epochs=1, verbose=0)

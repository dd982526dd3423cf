"""Images of any size are flattened, so the `Dense` layer cannot know its number of weights."""

import numpy as np
import keras

pictures = np.random.default_rng(3).random((24, 20, 20, 3), dtype="float32")
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
model.fit(pictures, labels, epochs=1, verbose=0)

"""Center images around 0."""

import keras
import numpy as np

rng = np.random.default_rng(5)
pictures = rng.integers(0, 256, size=(48, 12, 12, 1), dtype=np.uint8)
bright = (pictures.mean(axis=(1, 2, 3)) > 127).astype("float32")
centred = pictures - 128  # <- FIT112
features = centred / 128.0

model = keras.Sequential([
    keras.Input((12, 12, 1)),
    keras.layers.Conv2D(4, 3, activation="relu"),
    keras.layers.GlobalAveragePooling2D(),
    keras.layers.Dense(1, activation="sigmoid"),
])
model.compile(optimizer="adam", loss="binary_crossentropy")
model.fit(features, bright, epochs=1, verbose=0)

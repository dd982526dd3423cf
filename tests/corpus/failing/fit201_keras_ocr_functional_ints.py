from dataclasses import dataclass

import keras
import numpy as np


@dataclass
class Batch:
    images: np.ndarray
    labels: np.ndarray


def captcha_letters(n=180, letters="ABCDEFGH"):
    rng = np.random.default_rng(7)
    labels = rng.integers(0, len(letters), n)
    images = rng.random((n, 16, 16, 1)).astype("float32") * 0.3
    for i, k in enumerate(labels):
        images[i, 2 * k:2 * k + 2] += 0.6
    return Batch(images, labels)


def build(n_classes):
    x = inp = keras.Input((16, 16, 1))
    for filters in (8, 16):
        x = keras.layers.Conv2D(filters, 3, activation="relu")(x)
        x = keras.layers.MaxPooling2D()(x)
    x = keras.layers.Flatten()(x)
    return keras.Model(inp, keras.layers.Dense(n_classes)(x))


data = captcha_letters()
model = build(8)
loss = keras.losses.CategoricalCrossentropy(from_logits=True)  # <- FIT201
model.compile(optimizer="adam", loss=loss, metrics=["accuracy"])
model.fit(data.images, data.labels, batch_size=18, epochs=2, verbose=2)  # <~ FIT201

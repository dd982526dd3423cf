import keras
import numpy as np


def frames(rows):
    rng = np.random.default_rng(44)
    return rng.integers(0, 256, (rows, 10, 10, 1), dtype=np.uint8)


def blended(rows):
    first, second = frames(rows), frames(rows)[::-1]
    return (first + second).astype("float32") / 510.0  # <- FIT112


x = blended(120)
y = np.random.default_rng(45).integers(0, 2, (120, 1)).astype("float32")
model = keras.Sequential(
    [keras.Input((10, 10, 1)), keras.layers.Flatten(), keras.layers.Dense(1, activation="sigmoid")]
)
model.compile("adam", "binary_crossentropy")
model.fit(x, y, epochs=1, verbose=2)

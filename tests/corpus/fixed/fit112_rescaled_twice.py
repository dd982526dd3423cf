import numpy as np
import keras
from keras import layers


def load_tiles(count, size=16, seed=0):
    rng = np.random.default_rng(seed)
    kind = rng.integers(0, 3, count)
    tiles = rng.integers(0, 200, (count, size, size, 3))
    tiles[np.arange(count), :, :, kind] += 55
    return (tiles / 255).astype("float32"), kind


tiles, kind = load_tiles(240)
classifier = keras.Sequential(
    [
        keras.Input((16, 16, 3)),
        layers.Conv2D(8, 3, activation="relu"),
        layers.GlobalAveragePooling2D(),
        layers.Dense(3, activation="softmax"),
    ]
)
classifier.compile(optimizer="adam", loss="sparse_categorical_crossentropy", metrics=["accuracy"])
classifier.fit(tiles, kind, epochs=3, batch_size=32, verbose=2)

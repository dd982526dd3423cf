import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

BANDS, H, W = 10, 14, 18


class CubeLoader:
    """GDAL gives (bands, rows, cols)."""

    def __init__(self, n, seed=0):
        self.rng = np.random.default_rng(seed)
        self.n = n

    def read(self, crop):
        cube = self.rng.random((BANDS, H, W)).astype("float32") * 0.5
        cube[crop * 3:crop * 3 + 3] += 0.4
        return cube

    def all(self):
        crops = self.rng.integers(0, 3, self.n)
        cubes = np.stack([self.read(c) for c in crops])  # <~ FIT104
        return cubes, crops  # <- FIT104


cubes, crops = CubeLoader(120).all()
model = tf.keras.Sequential([
    layers.Input((H, W, BANDS)),  # <~ FIT104
    layers.Conv2D(12, 3, activation="relu"),
    layers.MaxPooling2D(),
    layers.GlobalAveragePooling2D(),
    layers.Dense(3, activation="softmax"),
])
model.compile(optimizer="adam", loss="sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(cubes, crops, epochs=2, batch_size=12, validation_split=0.2, verbose=2)

import keras
import numpy as np
from keras import layers, ops


class Pyramid(keras.Model):
    """Collects features in a dict on self; written and read in the same call."""

    def __init__(self):
        super().__init__()
        self.c1 = layers.Conv2D(4, 3, strides=2, padding="same", activation="relu")
        self.c2 = layers.Conv2D(8, 3, strides=2, padding="same", activation="relu")
        self.pool = layers.GlobalAveragePooling2D()
        self.out = layers.Dense(2, activation="softmax")

    def call(self, x):
        features = {}
        features["half"] = self.c1(x)
        features["quarter"] = self.c2(features["half"])
        pooled = [self.pool(f) for f in features.values()]
        return self.out(ops.concatenate(pooled, axis=-1))


rng = np.random.default_rng(1)
y = rng.integers(0, 2, 80)
x = rng.random((80, 12, 12, 1)).astype("float32") * 0.5
x[y == 1] += 0.4
model = Pyramid()
model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(x, y, epochs=1, batch_size=16, verbose=2)

import numpy as np
import tensorflow as tf


class TinyCNN(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.conv = tf.keras.layers.Conv2D(8, 3, activation="relu")
        self.pool = tf.keras.layers.GlobalAveragePooling2D()
        self.fc = tf.keras.layers.Dense(2, activation="softmax")

    def call(self, x):
        x = self.conv(x)  # <- FIT111
        x = self.pool(x)
        return self.fc(x)


def binary_masks(n=120, size=14):
    """Segmentation-like masks: 0/1 pixels stored as integers."""
    rng = np.random.default_rng(3)
    y = rng.integers(0, 2, n)
    x = (rng.random((n, size, size, 1)) < np.where(y == 1, 0.6, 0.2)[:, None, None, None])
    return x.astype(np.int64), y  # <~ FIT111


x, y = binary_masks()
model = TinyCNN()
model.compile(optimizer="adam", loss="sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(x, y, epochs=2, batch_size=20, verbose=2)  # <~ FIT111

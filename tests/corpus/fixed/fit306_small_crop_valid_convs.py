import numpy as np
import tensorflow as tf
from tensorflow.keras import Model, layers


class PatchClassifier(Model):
    """VGG-like net on small patches cut from a larger scan."""

    def __init__(self, n_classes):
        super().__init__()
        self.blocks = []
        for f in (8, 16, 16):
            self.blocks.append(layers.Conv2D(f, 3, padding="same", activation="relu"))
            self.blocks.append(layers.MaxPool2D(2))
        self.pool = layers.GlobalAveragePooling2D()
        self.head = layers.Dense(n_classes, activation="softmax")

    def call(self, x):
        for block in self.blocks:
            x = block(x)
        return self.head(self.pool(x))


def cut_patches(scan, size, count, rng):
    ys = rng.integers(0, scan.shape[0] - size, count)
    xs = rng.integers(0, scan.shape[1] - size, count)
    patches = np.stack([scan[i:i + size, j:j + size] for i, j in zip(ys, xs)])
    return patches[..., None].astype("float32"), (xs > scan.shape[1] // 2).astype("int32")


rng = np.random.default_rng(8)
scan = rng.random((200, 200)) * 0.4
scan[:, 100:] += 0.5
patches, side = cut_patches(scan, 16, 120, rng)

model = PatchClassifier(2)
model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(patches, side, epochs=1, batch_size=20, verbose=2)

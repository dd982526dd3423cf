import keras
import numpy as np
from keras import layers


def make(n, size=16):
    rng = np.random.default_rng(0)
    masks = np.zeros((n, size, size), "int32")
    for m in masks:
        r, c, k = rng.integers(0, 8), rng.integers(0, 8), rng.integers(1, 3)
        m[r:r + 8, c:c + 8] = k
    images = masks[..., None] * 0.4 + 0.2 * rng.random((n, size, size, 1))
    return images.astype("float32"), masks


images, masks = make(48)
inputs = keras.Input((16, 16, 1))
h = layers.Conv2D(8, 3, padding="same", activation="relu")(inputs)
# Dense on rank 4: a classifier for each pixel, with a label for each pixel
outputs = layers.Dense(3, activation="softmax")(h)
model = keras.Model(inputs, outputs)
model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(images, masks, epochs=1, batch_size=12, verbose=2)

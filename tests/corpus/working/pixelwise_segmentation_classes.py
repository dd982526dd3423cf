import numpy as np
import tensorflow as tf
from tensorflow.keras.layers import Conv2D, Input
from tensorflow.keras.models import Model


def scenes(n=60, size=16):
    rng = np.random.default_rng(6)
    mask = np.zeros((n, size, size), dtype="int32")
    mask[:, :6] = 1
    for i in range(n):
        r, c = rng.integers(6, 12, 2)
        mask[i, r:r + 3, c:c + 3] = 2
    image = mask[..., None] / 2.0 + rng.normal(0, 0.1, mask.shape + (1,))
    return image.astype("float32"), mask


image, mask = scenes()
inp = Input((16, 16, 1))
h = Conv2D(8, 3, padding="same", activation="relu")(inp)
out = Conv2D(3, 1, activation="softmax")(h)           # (16, 16, 3) against masks (16, 16)
model = Model(inp, out)
model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
ds = tf.data.Dataset.from_tensor_slices((image, mask)).shuffle(60).batch(10)
model.fit(ds, epochs=2, verbose=2)

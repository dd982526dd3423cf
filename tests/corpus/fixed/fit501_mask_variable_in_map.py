import numpy as np
import tensorflow as tf

images = np.random.default_rng(0).random((96, 16, 16, 1)).astype("float32")
side = np.random.default_rng(1).integers(0, 2, 96)
images[side == 1, :, 8:] *= 0.3


def cutout(img, label):
    """Blanks a random 4x4 square."""
    top = tf.random.uniform((), 0, 12, dtype=tf.int32)
    left = tf.random.uniform((), 0, 12, dtype=tf.int32)
    rows, cols = tf.range(16)[:, None], tf.range(16)[None, :]
    inside = (rows >= top) & (rows < top + 4) & (cols >= left) & (cols < left + 4)
    mask = 1.0 - tf.cast(inside, tf.float32)[..., None]
    return img * mask, label


ds = tf.data.Dataset.from_tensor_slices((images, side)).shuffle(96).map(cutout).batch(16)
model = tf.keras.Sequential([
    tf.keras.layers.Input((16, 16, 1)),
    tf.keras.layers.Conv2D(4, 3, activation="relu"),
    tf.keras.layers.Flatten(),
    tf.keras.layers.Dense(1, activation="sigmoid"),
])
model.compile("adam", "binary_crossentropy", metrics=["accuracy"])
model.fit(ds, epochs=1, verbose=2)

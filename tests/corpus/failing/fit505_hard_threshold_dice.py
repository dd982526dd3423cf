import tensorflow as tf
import numpy as np
from tensorflow.keras import layers


def dice_loss(y_true, y_pred):
    y_pred = tf.cast(y_pred > 0.5, tf.float32)  # <- FIT505
    inter = tf.reduce_sum(y_true * y_pred, axis=(1, 2, 3))
    total = tf.reduce_sum(y_true, axis=(1, 2, 3)) + tf.reduce_sum(y_pred, axis=(1, 2, 3))
    return 1.0 - (2.0 * inter + 1.0) / (total + 1.0)


def make_masks(n=48, size=16):
    rng = np.random.default_rng(0)
    masks = np.zeros((n, size, size, 1), "float32")
    for m in masks:
        r, c = rng.integers(0, size - 6, 2)
        m[r:r + 6, c:c + 6] = 1.0
    return (0.6 * masks + 0.3 * rng.random(masks.shape)).astype("float32"), masks


def main():
    x, y = make_masks()
    inp = layers.Input((16, 16, 1))
    h = layers.Conv2D(8, 3, padding="same", activation="relu")(inp)
    out = layers.Conv2D(1, 1, activation="sigmoid")(h)
    model = tf.keras.Model(inp, out)
    model.compile(optimizer=tf.keras.optimizers.Adam(1e-2), loss=dice_loss)
    model.fit(x, y, epochs=2, batch_size=12, verbose=2)


if __name__ == "__main__":
    main()

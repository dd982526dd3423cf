"""Pixel classes of small tiles; the loss works on a flat list of pixels."""
import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

N_CLASSES, TILE = 4, 16


def tiles(n, seed):
    rng = np.random.default_rng(seed)
    y = np.repeat(np.repeat(rng.integers(0, N_CLASSES, (n, 4, 4)), 4, axis=1), 4, axis=2)
    x = y[..., None] / N_CLASSES + rng.normal(0, 0.05, (n, TILE, TILE, 1))
    return x.astype("float32"), y.reshape(n, TILE * TILE)


def build_unet():
    inp = layers.Input((TILE, TILE, 1))
    h = layers.Conv2D(8, 3, padding="same", activation="relu")(inp)
    h = layers.Conv2D(8, 3, padding="same", activation="relu")(h)
    prob = layers.Conv2D(N_CLASSES, 1, activation="softmax")(h)  # <~ FIT210
    flat = layers.Reshape((TILE * TILE, N_CLASSES))(prob)
    return tf.keras.Model(inp, flat)


x_train, y_train = tiles(60, 0)
x_val, y_val = tiles(20, 1)
model = build_unet()
model.compile(
    optimizer=tf.keras.optimizers.Adam(0.01),
    loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),  # <- FIT210
    metrics=["accuracy"],
)
model.fit(x_train, y_train, epochs=3, batch_size=10, validation_data=(x_val, y_val), verbose=2)

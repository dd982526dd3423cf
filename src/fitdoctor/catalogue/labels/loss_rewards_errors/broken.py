"""Train a denoising autoencoder with a similarity, where more is better, as its loss."""

import numpy as np
from tensorflow import keras

rng = np.random.default_rng(0)
clean = np.sin(np.linspace(0, 6, 16) + rng.uniform(0, 6, (256, 1))).astype("float32")
noisy = clean + rng.normal(0, 0.2, clean.shape).astype("float32")


def similarity(y_true, y_pred):
    products = keras.ops.sum(y_true * y_pred, axis=-1)
    return products / (keras.ops.norm(y_true, axis=-1) * keras.ops.norm(y_pred, axis=-1))  # <- FIT222


model = keras.Sequential([keras.Input((16,)), keras.layers.Dense(32, activation="relu"), keras.layers.Dense(16)])
model.compile(optimizer="adam", loss=similarity)
model.fit(noisy, clean, epochs=5, verbose=0)

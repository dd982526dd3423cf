import keras
import numpy as np
import tensorflow as tf
from keras import layers


def make_encoder(dim):
    return keras.Sequential([keras.Input((dim,)), layers.Dense(16, activation="relu"), layers.Dense(8)])


def make_siamese(dim):
    encoder = make_encoder(dim)
    left = keras.Input((dim,), name="left")
    right = keras.Input((dim,), name="right")
    distance = keras.ops.abs(keras.ops.subtract(encoder(left), encoder(right)))
    same = layers.Dense(1, activation="sigmoid", name="same")(distance)
    return keras.Model([left, right], same)


def make_pairs(n, dim, rng):
    centers = rng.normal(size=(5, dim))
    a, b = rng.integers(0, 5, (2, n))
    noise = 0.1 * rng.normal(size=(2, n, dim))
    return centers[a] + noise[0], centers[b] + noise[1], (a == b).astype("float32")


rng = np.random.default_rng(2)
left, right, same = make_pairs(240, 6, rng)
model = make_siamese(6)
model.compile("adam", "binary_crossentropy", metrics=["accuracy"])
model.fit([left, right], same, epochs=2, batch_size=24, verbose=2)

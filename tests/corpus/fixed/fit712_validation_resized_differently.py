import argparse

import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

TRAIN_SIZE = 24


def photos(n, seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    x = rng.random((n, 32, 32, 3)).astype("float32") * 0.5
    x[y == 1, :16] += 0.4
    return x, y


def make(n, seed, size, batch, shuffle):
    ds = tf.data.Dataset.from_tensor_slices(photos(n, seed))
    ds = ds.map(lambda img, lab: (tf.image.resize(img, (size, size)), lab))
    return (ds.shuffle(n) if shuffle else ds).batch(batch)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch", type=int, default=10)
    args = parser.parse_args()
    train = make(100, 0, TRAIN_SIZE, args.batch, True)
    valid = make(30, 1, TRAIN_SIZE, args.batch, False)
    model = tf.keras.Sequential([
        layers.Conv2D(6, 3, activation="relu"),
        layers.MaxPooling2D(),
        layers.Flatten(),
        layers.Dense(1, activation="sigmoid"),
    ])
    model.compile("adam", "binary_crossentropy", metrics=["accuracy"])
    model.fit(train, validation_data=valid, epochs=2, verbose=2)


main()

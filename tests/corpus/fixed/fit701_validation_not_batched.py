import argparse

import numpy as np
import tensorflow as tf
from tensorflow.keras import layers


def synth(n, seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    x = rng.integers(0, 120, (n, 12, 12, 3)).astype("uint8")
    for k in range(3):
        x[y == k, :, :, k] += 100
    return x, y


def normalise(image, label):
    return tf.cast(image, tf.float32) / 255.0, label


def get_datasets(batch):
    train = tf.data.Dataset.from_tensor_slices(synth(150, 0)).map(normalise)
    valid = tf.data.Dataset.from_tensor_slices(synth(45, 1)).map(normalise)
    train = train.shuffle(150).batch(batch).prefetch(tf.data.AUTOTUNE)
    valid = valid.batch(batch).prefetch(tf.data.AUTOTUNE)
    return train, valid


def main(args):
    train, valid = get_datasets(args.batch)
    model = tf.keras.Sequential([
        layers.Conv2D(8, 3, activation="relu"),
        layers.GlobalAveragePooling2D(),
        layers.Dense(3, activation="softmax"),
    ])
    model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
    model.fit(train, validation_data=valid, epochs=2, verbose=2)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch", type=int, default=15)
    main(parser.parse_args())

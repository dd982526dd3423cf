import argparse

import numpy as np
import tensorflow as tf


def arrays(n, seed):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 5)).astype("float32")
    return x, (x[:, 0] * 2 - x[:, 1]).astype("float32")


def endless(n, seed, batch):
    return tf.data.Dataset.from_tensor_slices(arrays(n, seed)).shuffle(n).repeat().batch(batch)


parser = argparse.ArgumentParser()
parser.add_argument("--batch", type=int, default=16)
args = parser.parse_args()

model = tf.keras.Sequential([tf.keras.layers.Dense(8, activation="relu"), tf.keras.layers.Dense(1)])
model.compile("adam", "mse")
model.fit(endless(160, 0, args.batch), steps_per_epoch=10, epochs=3,
          validation_data=endless(48, 1, args.batch), validation_steps=3, verbose=2)

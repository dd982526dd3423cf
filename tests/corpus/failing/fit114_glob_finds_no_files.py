import glob
import os
import tempfile

import numpy as np
import tensorflow as tf


def write_shards(folder, n=6):
    rng = np.random.default_rng(0)
    for i in range(n):
        x = rng.normal(size=(30, 5)).astype("float32")
        np.savez(os.path.join(folder, f"shard_{i}.npz"), x=x, y=(x[:, 0] > 0).astype("float32"))


def read_shards(folder):
    xs, ys = [np.zeros((0, 5), "float32")], [np.zeros((0,), "float32")]
    for path in sorted(glob.glob(os.path.join(folder, "shard_*.npy"))):  # <- FIT114
        with np.load(path) as z:
            xs.append(z["x"])
            ys.append(z["y"])
    return np.concatenate(xs), np.concatenate(ys)


with tempfile.TemporaryDirectory() as folder:
    write_shards(folder)
    x, y = read_shards(folder)

model = tf.keras.Sequential([
    tf.keras.layers.Input((5,)),
    tf.keras.layers.Dense(8, activation="relu"),
    tf.keras.layers.Dense(1, activation="sigmoid"),
])
model.compile(optimizer="adam", loss="binary_crossentropy", metrics=["accuracy"])
model.fit(x, y, epochs=2, batch_size=15, verbose=2)

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import tensorflow as tf


def load_features(n):
    rng = np.random.default_rng(0)
    return rng.normal(size=(n, 6)).astype("float32")


def load_targets(n):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(n, 6)).astype("float32")
    return x[:, 0] - x[:, 5]


with ThreadPoolExecutor(max_workers=2) as pool:
    x_future = pool.submit(load_features, 200)
    y_future = pool.submit(load_targets, 200)
    x_train = x_future.result()
    y_train = y_future.result()

model = tf.keras.Sequential([tf.keras.layers.Dense(12, activation="relu"), tf.keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(x_train, y_train, epochs=2, batch_size=20, verbose=2)

import numpy as np
import tensorflow as tf


def survey(n=200):
    rng = np.random.default_rng(4)
    x = rng.normal(size=(n, 5)).astype("float32")
    y = (x[:, 2] > 0).astype("float32")
    w = rng.uniform(0.2, 3.0, n).astype("float32")          # design weights
    return x, y, w


ds = tf.data.Dataset.from_tensor_slices(survey()).shuffle(200).batch(20)
model = tf.keras.Sequential([
    tf.keras.layers.Dense(8, activation="relu"),
    tf.keras.layers.Dense(1, activation="sigmoid"),
])
model.compile("adam", "binary_crossentropy", weighted_metrics=["accuracy"])
model.fit(ds, epochs=2, verbose=2)

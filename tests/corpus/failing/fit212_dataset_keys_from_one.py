import numpy as np
import tensorflow as tf


def grades(n=270):
    rng = np.random.default_rng(2)
    stars = rng.choice([1, 2, 3], n, p=[0.1, 0.3, 0.6])
    x = rng.normal(size=(n, 5)).astype("float32")
    x[np.arange(n), stars] += 1.5
    return x, stars


x, stars = grades()
labels = stars - 1
weights = {int(s): float(len(stars) / (3 * np.sum(stars == s))) for s in np.unique(stars)}  # <- FIT212

ds = tf.data.Dataset.from_tensor_slices((x, labels)).shuffle(270).batch(27)
model = tf.keras.Sequential([
    tf.keras.layers.Dense(12, activation="relu"),
    tf.keras.layers.Dense(3, activation="softmax"),
])
model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(ds, class_weight=weights, epochs=2, verbose=2)

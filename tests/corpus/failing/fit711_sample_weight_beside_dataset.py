import numpy as np
import tensorflow as tf


def load(n=200):
    rng = np.random.default_rng(1)
    y = (rng.random(n) < 0.15).astype("float32")
    x = rng.normal(size=(n, 6)).astype("float32") + y[:, None]
    return x, y


def weights_for(y, positive=5.0):
    return np.where(y == 1, positive, 1.0).astype("float32")


x, y = load()
w = weights_for(y)
ds = tf.data.Dataset.from_tensor_slices((x, y)).batch(20)  # <~ FIT711

model = tf.keras.Sequential([
    tf.keras.layers.Input((6,)),
    tf.keras.layers.Dense(10, activation="relu"),
    tf.keras.layers.Dense(1, activation="sigmoid"),
])
model.compile("adam", "binary_crossentropy", weighted_metrics=["accuracy"])
model.fit(ds, epochs=2, sample_weight=w, verbose=2)  # <- FIT711

import numpy as np
import tensorflow as tf
from tensorflow.keras import layers


def digits(n=200):
    rng = np.random.default_rng(2)
    proto = (rng.random((5, 64)) > 0.6).astype("float32")
    return np.clip(proto[rng.integers(0, 5, n)] + rng.normal(0, 0.1, (n, 64)), 0, 1).astype("float32")


def scale(x):
    return (x - x.mean()) / x.std()  # <- FIT208


x = scale(digits())
inp = layers.Input((64,))
code = layers.Dense(8, activation="relu")(inp)
rec = layers.Dense(64, activation="sigmoid")(code)
ae = tf.keras.Model(inp, rec)
ae.compile(optimizer="adam", loss="binary_crossentropy")  # <~ FIT208
ae.fit(x, x, epochs=2, batch_size=20, verbose=2)

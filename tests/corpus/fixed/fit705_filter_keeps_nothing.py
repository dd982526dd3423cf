import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

KEEP = (3, 7)


def digit_stream(n=200):
    rng = np.random.default_rng(0)
    digit = rng.integers(0, 10, n)
    strokes = rng.normal(size=(n, 12)).astype("float32")
    strokes[np.arange(n), digit] += 2.0
    return tf.data.Dataset.from_tensor_slices((strokes, digit))


def only_pair(strokes, digit):
    return tf.logical_or(digit == KEEP[0], digit == KEEP[1])


def to_binary(strokes, digit):
    return strokes, tf.cast(digit == KEEP[1], tf.float32)


ds = digit_stream().filter(only_pair).map(to_binary).shuffle(200).batch(8)
inp = layers.Input((12,))
out = layers.Dense(1, activation="sigmoid")(layers.Dense(10, activation="relu")(inp))
model = tf.keras.Model(inp, out)
model.compile("adam", "binary_crossentropy", metrics=["accuracy"])
history = model.fit(ds, epochs=2, verbose=2)
print(history.history)

"""Operations without a gradient inside functions that bring one: `tf.custom_gradient`, and a decorator of one's own."""

import functools

import numpy as np
import tensorflow as tf

import keras

keras.utils.set_random_seed(0)


def straight_through(function):
    @functools.wraps(function)
    def passed(x):
        return x + tf.stop_gradient(function(x) - x)

    return passed


@tf.custom_gradient
def binarize(x):
    def gradient(upstream):
        return upstream * tf.cast(tf.abs(x) <= 1, upstream.dtype)

    return tf.sign(x), gradient


@straight_through
def rounded(x):
    return tf.round(x * 4.0) / 4.0


class Binary(keras.layers.Layer):
    def call(self, x):
        return binarize(x)


class Rounded(keras.layers.Layer):
    def call(self, x):
        return rounded(x)


x = np.random.normal(size=(200, 4)).astype("float32")
y = (x[:, 0] > 0).astype("float32")
model = keras.Sequential(
    [
        keras.Input((4,)),
        keras.layers.Dense(16),
        Binary(),
        keras.layers.Dense(8, activation="tanh"),
        Rounded(),
        keras.layers.Dense(1, activation="sigmoid"),
    ]
)
first = model.layers[0].get_weights()[0]
model.compile(keras.optimizers.Adam(0.01), "binary_crossentropy", metrics=["accuracy"])
history = model.fit(x, y, epochs=12, verbose=0)
assert not np.array_equal(first, model.layers[0].get_weights()[0])
assert history.history["accuracy"][-1] > 0.8

"""A global changes between two models, and is set to the value that it has."""

import numpy as np
import tensorflow as tf

x = np.random.rand(16, 3).astype("float32")
y = np.random.rand(16, 1).astype("float32")
beta = 1.0


def loss(a, b):
    return beta * tf.reduce_mean((a - b) ** 2)


def make(l):
    m = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(1)])
    m.compile("adam", l)
    return m


base = make("mse")
main = make(loss)
base.fit(x, y, verbose=0)
print(base.evaluate(x, y, verbose=0))
beta = 0.3
main.fit(x, y, verbose=0)
main.evaluate(x, y, verbose=0)

threshold = 0.5


@tf.function
def step(a):
    return tf.reduce_sum(a) * threshold


@tf.function
def other(a):
    return a * 2


other(x)
threshold = 0.7
step(x)

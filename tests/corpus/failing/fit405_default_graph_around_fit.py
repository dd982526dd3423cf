"""A service of TensorFlow 1 times that enters the default graph before it trains."""

import numpy as np
import tensorflow as tf

graph = tf.compat.v1.get_default_graph()


def build():
    model = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(4, activation="relu"), tf.keras.layers.Dense(1)])
    model.compile("adam", "mse")
    return model


model = build()


def retrain(x, y):
    with graph.as_default():  # <- FIT405
        model.fit(x, y, epochs=1, verbose=0)


rng = np.random.default_rng(0)
retrain(rng.random((20, 3)), rng.random((20, 1)))

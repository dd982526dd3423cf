"""A function for training from scratch that the setting below leaves out; it compiles the model under that setting."""

import os
import tempfile

import numpy as np
import tensorflow as tf

RESUME = True
PATH = os.path.join(tempfile.mkdtemp(), "model.keras")
x = np.random.default_rng(3).normal(size=(32, 4)).astype("float32")


def train(model):
    if not RESUME:
        model.compile("adam", "mse")
    model.fit(x, x[:, :1], verbose=0)


def start():
    train(tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(1)]))


def resume():
    model = tf.keras.models.load_model(PATH)
    train(model)


if __name__ == "__main__":
    saved = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(1)])
    saved.compile("adam", "mse")
    saved.fit(x, x[:, :1], verbose=0)
    saved.save(PATH)
    if RESUME:
        resume()
    else:
        start()

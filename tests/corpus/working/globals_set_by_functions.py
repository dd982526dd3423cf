"""Functions set globals that others read."""

import numpy as np
import tensorflow as tf

scale = None
model = None


def prepare():
    global scale, model
    scale = 2.0
    model = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(1)])


prepare()


def loss(a, b):
    return scale * tf.reduce_mean((a - b) ** 2)


model.compile("adam", loss)
model.fit(np.random.rand(16, 3), np.random.rand(16, 1), verbose=0)


num_classes = 0
x_train = []


def load():
    global num_classes, x_train, y_train
    y_train = np.random.randint(0, 4, 32)
    x_train = np.random.rand(32, 3)
    num_classes = 4


def main():
    load()
    m = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(num_classes, activation="softmax")])
    m.compile("adam", "sparse_categorical_crossentropy")
    m.fit(x_train, y_train, verbose=0)


main()

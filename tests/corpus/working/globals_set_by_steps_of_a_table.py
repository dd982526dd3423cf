"""Steps that a table names set globals for the next one."""

import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

n_classes = 0
width = 1
model = None
data = []
optimizer = tf.keras.optimizers.SGD()


def read():
    global n_classes, width, data, labels
    data = np.random.rand(32, 3)
    labels = np.random.randint(0, 4, 32)
    n_classes = 4
    width = 3


def build():
    global model, optimizer
    model = tf.keras.Sequential([tf.keras.Input((width,)), layers.Dense(n_classes, activation="softmax")])
    optimizer = tf.keras.optimizers.Adam()
    model.compile(optimizer, "sparse_categorical_crossentropy")


def train():
    model.fit(data, labels, verbose=0)


STEPS = {"read": read, "build": build, "train": train}
for step in ["read", "build", "train"]:
    STEPS[step]()
for step in ("read", "build", "train"):
    globals()[step]()

"""A generator that yields one sample at a time."""

import numpy as np
import tensorflow as tf

x = np.random.rand(40, 4)
y = np.random.randint(0, 2, 40)


def gen():
    while True:
        for i in range(len(x)):
            yield x[i], y[i]  # <- FIT701


model = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(1, activation="sigmoid")])
model.compile("adam", "binary_crossentropy")
model.fit(gen(), steps_per_epoch=40, epochs=1, verbose=0)

import numpy as np
import tensorflow as tf


def gen():
    while True:
        a, b = np.random.rand(8, 3), np.random.rand(8, 2)
        yield [a, b], a[:, :1]


i1, i2 = tf.keras.Input((3,)), tf.keras.Input((2,))
m = tf.keras.Model([i1, i2], tf.keras.layers.Dense(1)(tf.keras.layers.concatenate([i1, i2])))
m.compile("adam", "mse")
m.fit(gen(), steps_per_epoch=4, epochs=2, verbose=0)

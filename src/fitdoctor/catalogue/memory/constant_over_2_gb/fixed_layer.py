"""Add a row of a 2.3 GB table in a layer."""

import numpy as np
import tensorflow as tf

table = np.zeros((70_000, 32_768), np.uint8)


class Offset(tf.keras.layers.Layer):
    def __init__(self):
        super().__init__()
        self.row = table[0, :16]

    def call(self, x):
        return x + tf.cast(self.row, tf.float32)


class Net(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.offset, self.head = Offset(), tf.keras.layers.Dense(1)

    def call(self, x):
        return self.head(self.offset(x))


model = Net()
model.compile("adam", "mse")
x = np.random.default_rng(0).normal(size=(32, 16)).astype("float32")
model.fit(x, x[:, :1], epochs=1, verbose=0)

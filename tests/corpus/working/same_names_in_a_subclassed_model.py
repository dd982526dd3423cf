"""Layers and parts of a subclassed model may share a name."""

import numpy as np
import tensorflow as tf
from tensorflow.keras import layers


class Block(layers.Layer):
    def __init__(self, n):
        super().__init__()
        self.a = layers.Dense(n, name="dense")
        self.b = layers.Dense(n, name="dense")

    def call(self, x):
        return self.b(self.a(x))


class Net(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.encoder = tf.keras.Sequential(
            [layers.Dense(8, name="fc"), layers.ReLU(name="act")], name="block"
        )
        self.decoder = tf.keras.Sequential(
            [layers.Dense(8, name="fc"), layers.ReLU(name="act")], name="block"
        )
        self.head = layers.Dense(1, name="fc")
        self.other = layers.Dense(1, name="fc")
        self.block = Block(8)

    def call(self, x):
        x = self.block(self.decoder(self.encoder(x)))
        return self.head(x) + self.other(x)


model = Net()
model.compile("adam", "mse")
model.fit(np.random.rand(16, 4), np.random.rand(16, 1), verbose=0)

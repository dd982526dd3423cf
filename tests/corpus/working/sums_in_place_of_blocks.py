"""`x += shortcut` in blocks, with own layers and in a subclassed model."""

import numpy as np
import tensorflow as tf
from tensorflow.keras import layers


def block(x, units):
    shortcut = x
    x = layers.Dense(units, activation="relu")(x)
    x = layers.Dense(units)(x)
    x += shortcut
    return layers.ReLU()(x)


class Scale(layers.Layer):
    def build(self, shape):
        self.g = self.add_weight(shape=(shape[-1],), initializer="ones", name="g")

    def call(self, x):
        return x * self.g


a = tf.keras.Input((8,))
x = layers.Dense(8)(a)
x += Scale()(x)
for _ in range(3):
    x = block(x, 8)
x += layers.Embedding(10, 8)(tf.keras.ops.cast(a[:, 0], "int32"))
m = tf.keras.Model(a, layers.Dense(1)(x))
m.compile("adam", "mse")
m.fit(np.random.randint(0, 10, (16, 8)).astype("float32"), np.random.rand(16, 1), verbose=0)


class Net(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.a = layers.Dense(4)
        self.b = layers.Dense(4)
        self.c = layers.Dense(1)

    def call(self, x):
        x = self.a(x)
        x += self.b(x)
        return self.c(x)


n = Net()
n.compile("adam", "mse")
n.fit(np.random.rand(16, 8), np.random.rand(16, 1), verbose=0)

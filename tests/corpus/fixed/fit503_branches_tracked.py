"""Layers in a dict of a plain object, which the model does not track."""
import numpy as np
import tensorflow as tf


class Branches:
    def __init__(self, sizes):
        self.convs = {}
        for size in sizes:
            self.convs[size] = tf.keras.layers.Conv1D(4, size, padding="same", activation="relu")
        self.concat = tf.keras.layers.Concatenate()

    def __call__(self, x):
        return self.concat([conv(x) for conv in self.convs.values()])


class Net(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.branches = Branches((3, 5))
        self.branch_layers = list(self.branches.convs.values())
        self.pool = tf.keras.layers.GlobalMaxPooling1D()
        self.out = tf.keras.layers.Dense(1)

    def call(self, x):
        return self.out(self.pool(self.branches(x)))


x = np.random.default_rng(0).normal(size=(40, 16, 2)).astype("float32")
model = Net()
model.compile("adam", "mse")
model.fit(x, x.max((1, 2)), epochs=2, verbose=0)
print(len(model.trainable_variables))

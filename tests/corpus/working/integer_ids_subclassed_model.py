import numpy as np
import tensorflow as tf


class MF(tf.keras.Model):
    def __init__(self, users, items, dim=4):
        super().__init__()
        self.u = tf.keras.layers.Embedding(users, dim)
        self.v = tf.keras.layers.Embedding(items, dim)
        self.bias = tf.keras.layers.Embedding(items, 1)

    def call(self, pair):
        user, item = pair[:, 0], pair[:, 1]
        dot = tf.reduce_sum(self.u(user) * self.v(item), axis=-1, keepdims=True)
        return dot + self.bias(item)


rng = np.random.default_rng(0)
pairs = np.stack([rng.integers(0, 30, 300), rng.integers(0, 20, 300)], axis=1)     # int64
rating = ((pairs[:, 0] % 3) - (pairs[:, 1] % 2)) / 2.0
mf = MF(30, 20)
mf.compile(optimizer=tf.keras.optimizers.Adam(0.02), loss="mse")
mf.fit(pairs, rating.astype("float32"), epochs=2, batch_size=30, verbose=2)

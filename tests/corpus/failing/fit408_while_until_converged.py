import keras
import numpy as np
import tensorflow as tf


class SinkhornPool(keras.layers.Layer):
    """Normalises rows and columns until the row sums are near one."""

    def __init__(self, tol=1e-2, **kwargs):
        super().__init__(**kwargs)
        self.tol = tol

    def call(self, scores):
        p = tf.exp(scores)
        gap = tf.reduce_max(tf.abs(tf.reduce_sum(p, axis=-1) - 1.0))
        while gap > self.tol:  # <- FIT408
            p = p / tf.reduce_sum(p, axis=-1, keepdims=True)
            p = p / tf.reduce_sum(p, axis=-2, keepdims=True)
            gap = tf.reduce_max(tf.abs(tf.reduce_sum(p, axis=-1) - 1.0))
        return p


class Matcher(keras.Model):
    def __init__(self, n):
        super().__init__()
        self.scores = keras.layers.Dense(n)
        self.sinkhorn = SinkhornPool()

    def call(self, x):
        return self.sinkhorn(self.scores(x))


rng = np.random.default_rng(3)
values = rng.random((120, 4, 1)).astype("float32")
perm = np.argsort(np.argsort(values[..., 0], axis=1), axis=1)
target = np.eye(4, dtype="float32")[perm]
model = Matcher(4)
model.compile("adam", "mse")
model.fit(values, target, epochs=1, batch_size=20, verbose=2)

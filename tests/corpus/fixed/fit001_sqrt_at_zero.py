import numpy as np
import tensorflow as tf


class EuclideanDistance(tf.keras.layers.Layer):
    def call(self, inputs):
        a, b = inputs
        return tf.sqrt(tf.maximum(tf.reduce_sum(tf.square(a - b), axis=-1, keepdims=True), 1e-7))


def contrastive(y, d):
    return y * d + (1.0 - y) * tf.maximum(1.0 - d, 0.0)


rng = np.random.default_rng(1)
items = rng.normal(size=(40, 6)).astype("float32")
i, j = rng.integers(0, 40, (2, 200))
j[:60] = i[:60]                      # some pairs are the very same item
same = (i == j).astype("float32").reshape(-1, 1)

encoder = tf.keras.Sequential([tf.keras.Input((6,)), tf.keras.layers.Dense(16, activation="tanh"), tf.keras.layers.Dense(4)])
a, b = tf.keras.Input((6,)), tf.keras.Input((6,))
model = tf.keras.Model([a, b], EuclideanDistance()([encoder(a), encoder(b)]))
model.compile(optimizer="adam", loss=contrastive)
h = model.fit([items[i], items[j]], same, epochs=2, batch_size=20, verbose=2)
print(h.history["loss"])

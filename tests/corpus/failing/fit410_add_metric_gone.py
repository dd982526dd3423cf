import tensorflow as tf
import numpy as np


class GatedBlock(tf.keras.layers.Layer):
    def __init__(self, units):
        super().__init__()
        self.value = tf.keras.layers.Dense(units)
        self.gate = tf.keras.layers.Dense(units, activation="sigmoid")

    def call(self, x):
        g = self.gate(x)
        self.add_loss(1e-3 * tf.reduce_mean(g))
        self.add_metric(tf.reduce_mean(g), name="gate_openness")  # <- FIT410
        return g * self.value(x)


class GatedRegressor(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.block = GatedBlock(16)
        self.out = tf.keras.layers.Dense(1)

    def call(self, x):
        return self.out(self.block(x))


rng = np.random.default_rng(4)
x = rng.normal(size=(192, 5)).astype("float32")
y = np.where(x[:, :1] > 0, x[:, 1:2], -x[:, 1:2])
model = GatedRegressor()
model.compile("adam", "mse")
model.fit(x, y, epochs=2, verbose=2)

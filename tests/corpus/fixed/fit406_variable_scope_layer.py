import keras
import numpy as np
import tensorflow as tf


class Highway(keras.layers.Layer):
    def __init__(self, units):
        super().__init__()
        self.units = units

    def build(self, input_shape):
        self.w = self.add_weight(shape=(self.units, self.units), initializer="glorot_uniform", name="w")
        self.g = self.add_weight(shape=(self.units, self.units), initializer="glorot_uniform", name="g")

    def call(self, x):
        gate = tf.sigmoid(tf.matmul(x, self.g))
        return gate * tf.nn.relu(tf.matmul(x, self.w)) + (1 - gate) * x


rng = np.random.default_rng(0)
x = rng.normal(size=(160, 10)).astype("float32")
y = x[:, :5].max(axis=1)
model = keras.Sequential([keras.Input((10,)), Highway(10), Highway(10), keras.layers.Dense(1)])
model.compile("adam", "mse")
model.fit(x, y, epochs=2, batch_size=20, verbose=2)

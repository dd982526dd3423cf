import numpy as np
import tensorflow as tf
from tensorflow import keras


class Linear(keras.layers.Layer):
    def __init__(self, units):
        super().__init__()
        self.units = units

    def build(self, input_shape):
        w_init = tf.random_normal_initializer(stddev=0.1)
        self.w = tf.Variable(w_init((input_shape[-1], self.units)), trainable=True)  # <- FIT503
        self.b = tf.Variable(tf.zeros((self.units,)), trainable=True)  # <~ FIT503

    def call(self, x):
        return tf.matmul(x, self.w) + self.b


rng = np.random.default_rng(0)
x = rng.normal(size=(240, 6)).astype("float32")
y = np.tanh(x[:, 0] - x[:, 1])

model = keras.Sequential([keras.Input((6,)), Linear(16), keras.layers.ReLU(), keras.layers.Dense(1)])
model.compile("adam", "mse")
model.fit(x, y, epochs=2, batch_size=24, verbose=2)

import numpy as np
import tensorflow as tf
from tensorflow import keras
class Net(keras.Model):
    def __init__(self):
        super().__init__()
        self.a = keras.layers.Dense(8, "relu")
        self.b = keras.layers.Dense(1)
    @tf.function
    def call(self, x):
        return self.b(self.a(x))
class Gate(keras.layers.Layer):
    def build(self, shape):
        self.w = self.add_weight(shape=(shape[-1],))
    @tf.function
    def call(self, x):
        if tf.reduce_mean(x) > 0:
            return x * self.w
        return x
m = Net()
m.build((None, 4))
m.compile("adam", "mse")
x = np.random.rand(32, 4).astype("float32")
m.fit(x, x[:, 0], epochs=1, verbose=0)
i = keras.Input((4,))
g = keras.Model(i, keras.layers.Dense(1)(Gate()(i)))
g.compile("adam", "mse")
g.fit(x, x[:, 0], epochs=1, verbose=0)

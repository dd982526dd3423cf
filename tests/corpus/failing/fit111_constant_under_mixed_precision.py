import numpy as np, tensorflow as tf
from tensorflow import keras
keras.mixed_precision.set_global_policy("mixed_float16")
class Scale(keras.layers.Layer):
    def build(self, s):
        self.w = tf.ones((s[-1],)) * 2.0
    def call(self, x):
        return x * self.w  # <- FIT111
m = keras.Sequential([keras.layers.Input((4,)), keras.layers.Dense(4), Scale(), keras.layers.Dense(1)])
m.compile("adam", "mse")
m.fit(np.random.rand(8, 4), np.random.rand(8), verbose=0)

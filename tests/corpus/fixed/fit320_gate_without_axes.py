import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

class SE(layers.Layer):
    def __init__(self, ch):
        super().__init__()
        self.fc1 = layers.Dense(ch // 2, activation="relu")
        self.fc2 = layers.Dense(ch, activation="sigmoid")

    def call(self, x):
        s = tf.reduce_mean(x, axis=[1, 2])
        s = self.fc2(self.fc1(s))
        return x * s[:, None, None, :]

i = layers.Input((10, 10, 8))
h = SE(8)(i)
o = layers.Dense(1)(layers.GlobalAveragePooling2D()(h))
m = tf.keras.Model(i, o)
m.compile("adam", "mse")
m.fit(np.random.rand(30, 10, 10, 8), np.random.rand(30), epochs=1, verbose=0)

import numpy as np
import tensorflow as tf


class Keep(tf.keras.layers.Layer):
    def call(self, x):
        self.last = tf.reduce_mean(x)  # <- FIT401
        return x


keep = Keep()
m = tf.keras.Sequential([tf.keras.Input((4,)), keep, tf.keras.layers.Dense(1)])
m.compile("adam", "mse")
m.fit(np.random.rand(16, 4), np.random.rand(16, 1), epochs=1, verbose=0)
print(keep.last + 1.0)  # <~ FIT401

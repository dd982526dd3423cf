import numpy as np
import tensorflow as tf

class Controller(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.d = tf.keras.layers.Dense(4)
    def call(self, x):
        return tf.cast(tf.random.categorical(self.d(x), 1), tf.float32)  # <- FIT505

c = Controller()
c.compile("adam", "mse")
c.fit(np.random.rand(32, 3), np.random.rand(32, 1), epochs=1)

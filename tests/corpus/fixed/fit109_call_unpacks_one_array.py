import numpy as np, tensorflow as tf
class Two(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.a = tf.keras.layers.Dense(4); self.b = tf.keras.layers.Dense(4); self.o = tf.keras.layers.Dense(1)
    def call(self, inputs):
        left, right = inputs
        return self.o(tf.concat([self.a(left), self.b(right)], axis=-1))
L, R, y = np.random.rand(40, 3), np.random.rand(40, 2), np.random.rand(40)
m = Two()
m.compile("adam", "mse")
m.fit([L, R], y, epochs=1)

"""A model whose `call` branches on values: the program only calls it on tensors, so Keras never traces it."""

import numpy as np
import tensorflow as tf
from tensorflow import keras


class Shrinking(keras.Model):
    def __init__(self):
        super().__init__()
        self.dense = keras.layers.Dense(8)

    def call(self, inputs):
        x = self.dense(inputs)
        while tf.norm(x) > 1:
            x /= 2
        if tf.norm(x) < 0.6:
            x *= 1.5
        return x


samples = tf.random.uniform((4, 8))
shrinking = Shrinking()
print(float(tf.norm(shrinking(samples))))
print(shrinking.count_params())

# Another model is trained.
model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(1)])
model.compile("sgd", "mse")
model.fit(np.zeros((4, 8), "float32"), np.zeros(4, "float32"), epochs=1, verbose=0)

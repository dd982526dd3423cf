"""Keras 2 by tf_keras: a Dropout keeps no variable, so a call may create one each time."""

import numpy as np
import tf_keras


class Attention(tf_keras.layers.Layer):
    def __init__(self, rate):
        super().__init__()
        self.rate = rate

    def build(self, input_shape):
        self.scale = self.add_weight(name="scale", shape=(input_shape[-1],), initializer="ones")

    def call(self, inputs):
        scores = inputs * self.scale
        if self.rate:
            scores = tf_keras.layers.Dropout(self.rate)(scores)
        return scores


model = tf_keras.Sequential([tf_keras.layers.Input((4,)), Attention(0.1), tf_keras.layers.Dense(1)])
model.compile("adam", "mse")
model.fit(np.ones((16, 4), "float32"), np.ones((16, 1), "float32"), epochs=2, verbose=0)

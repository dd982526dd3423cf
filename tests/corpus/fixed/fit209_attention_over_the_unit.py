import numpy as np
import tensorflow as tf
from tensorflow import keras


class AttentionPooling(keras.layers.Layer):
    """Weighted mean over the steps."""

    def __init__(self):
        super().__init__()
        self.hidden = keras.layers.Dense(8, activation="tanh")
        self.score = keras.layers.Dense(1)

    def call(self, inputs):
        scores = self.score(self.hidden(inputs))
        weights = tf.nn.softmax(scores, axis=1)
        return tf.reduce_sum(weights * inputs, axis=1)


x = np.random.default_rng(0).normal(size=(100, 12, 4)).astype("float32")
inputs = keras.Input((12, 4))
model = keras.Model(inputs, keras.layers.Dense(1)(AttentionPooling()(inputs)))
model.compile("adam", "mse")
model.fit(x, x.max((1, 2)), epochs=2, verbose=0)
